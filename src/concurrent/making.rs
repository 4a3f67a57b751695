//! How a missing value is made: by one thread at a time for each key.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::pin;
use core::task::Poll;
use std::boxed::Box;
use std::sync::Arc;

use super::change::{Change, Upkeep};
use super::flight::{Claim, Edge, Frame, Part, Reservation, Running, Wait};
use super::node::{Compare, Node};
use super::raw::{Entry, Match};
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::{Unplaced, Watches, WatchesOne};
use super::way::{Errors, Failed, Unanswered, Way, made_by};
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::reference::WeakKey;

/// What a lookup has found instead of a value: a reservation, or nothing.
pub(crate) type Absent = Option<Arc<Reservation>>;

/// The answer of a table to a caller that wants a value.
pub(crate) enum Claimed<R, L> {
    /// The value is there by now.
    There(R),
    /// The caller is to make the value.
    Yours(L),
}

/// A leader and the frame of its computation, in few bytes of the stack.
type Leads<'t, S> = Box<(Leader<'t, S>, Option<Frame>)>;

/// Calls a closure in a frame of the stack of its own: the frame below a computation stays small.
#[inline(never)]
pub(crate) fn apart<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Calls a closure with a weak handle, and drops the handle before the result is in its place (T5):
/// the destructor of a user's handle may panic.
pub(super) fn with_weak<K: WeakKey, R>(key: &K, run: impl FnOnce(&K::Weak) -> R) -> R {
    let weak = K::downgrade(key);
    let result = run(&weak);
    drop(weak);
    result
}

/// The handle to the watched object of an entry.
type KeyOf<S> = <<S as Schema>::Watch as WatchesOne>::Key;

impl<S: Schema<Watch: WatchesOne>> Table<S> {
    /// A watch for an entry that may replace an older entry. The watch takes over the registration
    /// of the older entry, unless a listener is to be told the key of the replaced entry: see
    /// [`into_weak`](WatchesOne::into_weak).
    #[inline]
    pub(super) fn watch<'k>(&self, hash: HashValue, key: &'k KeyOf<S>) -> Unplaced<'k, S::Watch> {
        if self.is_heard() {
            S::Watch::registered(key, hash, self.core())
        } else {
            S::Watch::new(key)
        }
    }
}

/// For values that the table owns.
impl<S: Compare<Probe: Clone, Watch: WatchesOne, Value: Clone>> Table<S> {
    /// The value of a key, by identity or content; `make` makes a missing value. See
    /// [`get_or_make`](Self::get_or_make).
    #[inline]
    #[track_caller]
    pub(crate) fn value_or_make<E, Es: Errors<E>>(
        &self,
        (hash, by): (HashValue, &S::Probe),
        key: &KeyOf<S>,
        way: Way<Es>,
        make: impl FnOnce(&<KeyOf<S> as WeakKey>::Weak) -> Result<S::Value, E>,
    ) -> Result<S::Value, E> {
        let made = self.get_or_make(
            (hash, by),
            way,
            |_, value| Some(value.clone()),
            || with_weak(key, make),
            |value, core| (S::Watch::registered(key, hash, core), value.clone()),
        );
        made_by::<KeyOf<S>, S::Value, E>(made)
    }

    /// Changes the value of a key, and returns a clone of the new value.
    #[track_caller]
    pub(crate) fn compute_value<H>(
        &self,
        hash: HashValue,
        by: &S::Probe,
        key: &KeyOf<S>,
        hold: impl Fn(&S::Watch, &S::Value) -> Option<H>,
        mut change: impl FnMut(Option<&S::Value>) -> Option<S::Value>,
    ) -> Option<S::Value> {
        let new = self.compute(hash, by, hold, |old| {
            let new = change(old.map(|(_, value)| value));
            let value = new.clone();
            (value.map(|value| (self.watch(hash, key), value)), new)
        });
        // T5
        drop(change);
        new
    }
}

impl<S: Compare> Table<S> {
    /// Returns the present value, or else the result of `make`. `read` returns the result for an
    /// entry, `None` if the entry is of no use; `entry` turns the made value into an entry.
    ///
    /// At most one thread makes the value at a time, and racers beside the thread: see [`Way`].
    #[inline]
    pub(crate) fn get_or_make<'t, V, E, Es: Errors<E>>(
        &'t self,
        (hash, key): (HashValue, &S::Probe),
        way: Way<Es>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V, CoreRef) -> (Unplaced<'t, S::Watch>, S::Value),
    ) -> Result<V, Failed<E>>
    where
        S::Probe: Clone,
    {
        match self.look(hash, key, &read) {
            Ok(made) => {
                // T5
                drop(make);
                Ok(made)
            }
            Err(absent) => self.make((hash, key), way, read, absent, make, entry),
        }
    }

    #[inline(never)]
    pub(super) fn look<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl FnOnce(&S::Watch, &S::Value) -> Option<R>,
    ) -> Result<R, Absent> {
        self.find_where(hash, |node| S::is_of(key, node) == Match::Yes, read)
    }

    #[cold]
    #[inline(never)]
    fn make<'t, V, E, Es: Errors<E>>(
        &'t self,
        (hash, key): (HashValue, &S::Probe),
        way: Way<Es>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        absent: Absent,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V, CoreRef) -> (Unplaced<'t, S::Watch>, S::Value),
    ) -> Result<V, Failed<E>>
    where
        S::Probe: Clone,
    {
        match self.lead_apart(hash, key, &read, absent, &way)? {
            Claimed::There(made) => {
                // T5
                drop(make);
                Ok(made)
            }
            Claimed::Yours(leads) => match make() {
                Ok(made) => Ok(Leader::finish_apart(leads, read, || {
                    let (watch, value) = entry(&made, self.core());
                    (S::key(key), watch, value, made)
                })),
                Err(error) => {
                    // The end of the leader's pin may destroy entries removed by other threads, and
                    // a destructor may panic.
                    Leader::fail_apart::<E, Es>(leads, &error);
                    Err(Failed::Error(error))
                }
            },
        }
    }

    /// The present value.
    #[inline]
    pub(crate) fn find_where<R>(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> bool,
        read: impl FnOnce(&S::Watch, &S::Value) -> Option<R>,
    ) -> Result<R, Absent> {
        let reader = self.nodes.read();
        let sweeps = S::Watch::SWEPT != Some(false) && reader.is_nth();
        let mut admission = None;
        let found = match reader.get(hash.bits(), sought) {
            None => Err(None),
            Some(Node::Reserved { reservation, .. }) => Err(Some(Arc::clone(reservation))),
            Some(node @ Node::Ready { watch, value, .. }) => {
                let found = read(watch, value);
                if found.is_some() {
                    admission = self.admission_of(node);
                }
                found.ok_or(None)
            }
        };
        if let Some(admission) = admission {
            let eviction = self.hit(admission);
            drop(reader);
            eviction.end();
            return found;
        }
        drop(reader);
        // A thread that goes on to make the value changes the table, and sweeps then.
        if sweeps && found.is_ok() {
            self.sweep_some();
        }
        found
    }

    /// Goes on from the outcome of the lookup until the value is there, or the calling thread is to
    /// make the value, or the time is up.
    ///
    /// Computations may nest tens of thousands deep, so each byte on the stack during a computation
    /// counts. Hence all code before and after a computation is in functions that are never
    /// inlined, `lead` among them: nothing of their frames is left while user code runs.
    #[cold]
    #[inline(never)]
    pub(crate) fn lead<R, E, Es: Errors<E>>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Absent,
        way: &Way<Es>,
    ) -> Result<Claimed<R, Leader<'_, S>>, Failed<E>>
    where
        S::Probe: Clone,
    {
        let (unanswered, mut waited) = (Unanswered(self), None);
        loop {
            if let Some(heir) = waited.take() {
                let (is_it, stays) = (|node: &_| S::is_of(key, node), |_: &_| false);
                let hold = |_: &_, watch: &_, value: &_| read(watch, value);
                let found = self.read_where(hash, is_it, hold, stays, |found, _, _| found);
                // Before the caller reserves the value, since a destructor may ask for the value.
                drop(heir);
                if let Some(found) = found {
                    return Ok(unanswered.answered(Claimed::There(found)));
                }
            }
            match self.reserve(hash, key, &read, absent, way.races) {
                Ok(claimed) => return Ok(unanswered.answered(claimed)),
                Err(other) => {
                    let heir = Reservation::wait(&other, way.until)?;
                    if let Some(error) = Es::left(&other) {
                        drop(heir);
                        return Err(Failed::Error(error));
                    }
                    (absent, waited) = (None, heir);
                }
            }
        }
    }

    /// As [`lead`](Self::lead), with the frame of the computation.
    #[inline(never)]
    fn lead_apart<R, E, Es: Errors<E>>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        absent: Absent,
        way: &Way<Es>,
    ) -> Result<Claimed<R, Leads<'_, S>>, Failed<E>>
    where
        S::Probe: Clone,
    {
        Ok(match self.lead(hash, key, read, absent, way)? {
            Claimed::There(made) => Claimed::There(made),
            Claimed::Yours(leader) => {
                let frame = leader.frame();
                Claimed::Yours(Box::new((leader, frame)))
            }
        })
    }

    /// As [`lead`](Self::lead), for a task. `left` returns the result that an owner has left to the
    /// task.
    pub(crate) async fn lead_in_task<R, E, Es: Errors<E>>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        left: impl Fn(&Reservation) -> Option<R>,
        mut absent: Absent,
        way: &Way<Es>,
    ) -> Result<Claimed<R, Leader<'_, S>>, Failed<E>>
    where
        S::Probe: Clone,
    {
        let unanswered = Unanswered(self);
        loop {
            match apart(|| self.reserve(hash, key, &read, absent, way.races)) {
                Ok(claimed) => return Ok(unanswered.answered(claimed)),
                Err(other) => {
                    let mut wait = Wait::new(&other);
                    (&mut wait).await?;
                    let (made, error) = (left(&other), Es::left(&other));
                    // T5
                    drop(wait);
                    if let Some(made) = made {
                        return Ok(unanswered.answered(Claimed::There(made)));
                    }
                    if let Some(error) = error {
                        return Err(Failed::Error(error));
                    }
                    absent = None;
                }
            }
        }
    }

    /// Claims the value of a key for the caller, unless the value is there: the caller makes the
    /// value. The error is a reservation whose owner makes the value: the caller has to wait for
    /// its end. `absent` is the outcome of a lookup.
    // Always: as a call, `reserve` would copy the leader once more.
    #[inline(always)]
    pub(super) fn reserve<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Absent,
        races: bool,
    ) -> Result<Claimed<R, Leader<'_, S>>, Arc<Reservation>>
    where
        S::Probe: Clone,
    {
        loop {
            if let Some(reservation) = absent {
                match Reservation::claim(&reservation, races) {
                    Claim::Yours(part) => {
                        let leader = Leader::new(self, hash, reservation, part);
                        return Ok(Claimed::Yours(leader.begun()));
                    }
                    Claim::Taken(other) => return Err(other),
                    Claim::Closed => self.withdraw(&self.pin(), hash, &reservation),
                }
            }
            // No search before the insertion: with an `Eq` that changes its answers, the search may
            // find an entry, and the insertion may not, and the caller would try for ever.
            absent = match self.put_reservation(hash, key, &read, races) {
                Ok(claimed) => return Ok(claimed),
                Err(absent) => absent,
            };
        }
    }

    /// Unlinks the node of a reservation, if the node is still linked.
    #[cold]
    fn withdraw(&self, pin: &Pin<'_, S>, hash: HashValue, reservation: &Arc<Reservation>) {
        let own = |node: &Node<S>| node.is_reserved_by(reservation);
        if let Some(node) = self.unlink_if(pin, hash, own, |_| true) {
            self.end(node);
        }
    }

    /// Puts a reservation into the table: the caller makes the value of a key. If there is a value,
    /// returns the value. If there is a different reservation, or nothing any more, the error is
    /// the outcome of the search.
    ///
    /// An entry of no use is unlinked and destroyed here, before anything is reserved, since the
    /// destructor of the entry may ask for the same key (T4). When the reservation is linked, the
    /// caller leaves quietly: the computation is the first user code that runs.
    fn put_reservation<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        races: bool,
    ) -> Result<Claimed<R, Leader<'_, S>>, Absent>
    where
        S::Probe: Clone,
    {
        let (reservation, mut leader) = (Reservation::by(races), None);
        let found = self.change(Upkeep::Reserving, |change, found| {
            let mut node = self.nodes.entry(|| Node::Reserved {
                hash,
                key: key.clone(),
                reservation: Arc::clone(&reservation),
            });
            // The present entry, if the entry is of no use.
            let mut useless = None;
            let put = change.put(
                &mut node,
                |now| {
                    *found = now.map(|now| match now {
                        Node::Reserved { reservation, .. } => Err(Some(Arc::clone(reservation))),
                        Node::Ready { watch, value, .. } => read(watch, value).ok_or(None),
                    });
                    useless = now.filter(|_| matches!(found, Some(Err(None))));
                    found.is_none()
                },
                |_, _| {
                    change.pin.leave_quietly();
                    let part = if races { Part::Racer } else { Part::Owner };
                    leader = Some(Leader::new(self, hash, reservation, part));
                },
            );
            if let Some(useless) = useless.filter(|_| put.is_none()) {
                self.unlink(change.pin, useless);
            }
        });
        match leader {
            Some(leader) => Ok(Claimed::Yours(leader.begun())),
            None => found.unwrap_or(Err(None)).map(Claimed::There),
        }
    }
}

/// The parts of a made entry, and the result that comes with the entry.
type Made<'a, S, R> = (
    <S as Schema>::Key,
    Unplaced<'a, <S as Schema>::Watch>,
    <S as Schema>::Value,
    R,
);

/// A maker of the value of a key, a thread or a task: the owner of a reservation, or a racer. The
/// end of the leader, also by a panic or by a drop of the task, leaves the reservation; if the
/// leader is the last maker, and there is no value, the end unlinks the node of the reservation.
/// The first waiter that is polled, or wakes, or another caller that arrives makes the value then.
pub(crate) struct Leader<'a, S: Compare> {
    pub(super) table: &'a Table<S>,
    pub(super) hash: HashValue,
    pub(super) reservation: Arc<Reservation>,
    pub(super) part: Part,
    pub(super) stage: Stage,
    /// From the computation within which the caller leads.
    pub(super) edge: Option<Edge>,
}

/// The stage of a making.
#[derive(PartialEq)]
pub(super) enum Stage {
    /// The computation has begun, and its outcome is not counted yet. The node of the reservation
    /// may be in the table.
    Begun,
    /// As `Begun`, and the outcome is counted.
    Counted,
    /// The value has taken the place of the node.
    Landed,
    /// Another leader has the reservation, or the leader has left.
    HandedOver,
}

impl<'a, S: Compare> Leader<'a, S> {
    pub(super) fn new(
        table: &'a Table<S>,
        hash: HashValue,
        reservation: Arc<Reservation>,
        part: Part,
    ) -> Self {
        Leader {
            table,
            hash,
            reservation,
            part,
            stage: Stage::Begun,
            edge: None,
        }
    }

    pub(super) fn begun(mut self) -> Self {
        self.edge = self.own().and_then(Edge::of_leader);
        self
    }

    /// The reservation for which callers wait.
    pub(super) fn own(&self) -> Option<&Arc<Reservation>> {
        self.part.own(&self.reservation)
    }

    /// Sets a frame around user code for which callers wait.
    pub(crate) fn frame(&self) -> Option<Frame> {
        self.own().map(Reservation::frame)
    }

    /// Runs the computation of a task. A load `pauses` in its first poll, before the first poll of
    /// the computation.
    pub(crate) async fn run<F: Future>(
        &mut self,
        mut pauses: bool,
        compute: impl FnOnce() -> F,
    ) -> F::Output {
        let (own, edge) = (self.part.own(&self.reservation), &mut self.edge);
        let (mut compute, computing) = (Some(compute), pin!(None));
        let mut running = Running { computing, own };
        poll_fn(|context| {
            let _frame = own.map(|own| {
                Edge::renew_of_leader(edge, own);
                Reservation::frame(own)
            });
            if let Some(compute) = compute.take() {
                running.computing.set(Some(compute()));
                if mem::take(&mut pauses) {
                    return Poll::Pending;
                }
            }
            let polled = match running.computing.as_mut().as_pin_mut() {
                Some(computing) => computing.poll(context),
                None => unreachable!("it is dropped last"),
            };
            if polled.is_ready() {
                // T5
                running.computing.set(None);
            }
            polled
        })
        .await
    }

    /// Runs the computation of a task, and ends with its outcome. `split` tells the value from the
    /// error.
    pub(crate) async fn make<F: Future, V, R, E>(
        self,
        pauses: bool,
        compute: impl FnOnce() -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
        end: impl FnOnce(Self, Result<V, E>) -> Result<R, E>,
    ) -> Result<R, E> {
        // Dropped before `end`, which has the parts of the entry: their drop may run user code.
        let mut leader = self;
        let outcome = split(leader.run(pauses, compute).await);
        let _frame = leader.frame();
        end(leader, outcome)
    }

    /// Leaves without a value. Leaves the error to the callers that wait, if the node of the
    /// reservation is linked, and the inputs of the computation live: otherwise the error may be
    /// out of date. The inputs are asked when the node is withdrawn, and no other caller comes to
    /// wait: so a caller that begins after the end of an input does not get the error.
    pub(crate) fn fail<E, Es: Errors<E>>(mut self, error: &E, live: impl FnOnce() -> bool) {
        let shares = Es::SHARED && self.is_linked();
        self.leave(|own| {
            if let Some(own) = own.filter(|_| shares && live()) {
                Es::leave(error, own);
            }
        });
    }

    /// Whether the node of the reservation is linked.
    fn is_linked(&self) -> bool {
        let pin = self.table.pin();
        // The destructors at the end of the pin might wait for the reservation.
        pin.leave_quietly();
        let is_own = |node: &Node<S>| node.is_reserved_by(&self.reservation);
        pin.get(self.hash.bits(), is_own).is_some()
    }

    /// Publishes the value, and returns the result that comes with the value; or, if another maker
    /// of the same reservation was faster, what `read` returns for that maker's value. The table
    /// does not keep the value either if the node of the reservation was removed or replaced
    /// meanwhile, nor if an object has died that the caller did not keep alive.
    pub(crate) fn finish<R>(
        self,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> Made<'a, S, R>,
        landed: impl FnOnce(&S::Watch, &mut R),
    ) -> R {
        self.finish_and_leave(read, made, |_, watch, made| landed(watch, made))
    }

    /// As `finish`. If the table keeps the value, `landed` may leave the result to the callers that
    /// wait, which get no value from racers.
    pub(crate) fn finish_and_leave<R>(
        mut self,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> Made<'a, S, R>,
        landed: impl FnOnce(Option<&Reservation>, &S::Watch, &mut R),
    ) -> R {
        // Until the destructors have run that the end of the pin runs.
        let _edge = self.edge.take();
        let table = self.table;
        let ended = table.change(Upkeep::Nothing, |change, ended| {
            // The drop of a value that the table does not keep may run user code: so the value is
            // dropped last, when the leader has left (T4).
            let (mut node, _spare);
            let mut leader = self;
            let (key, watch, value, mut made) = made();
            node = table.ready(leader.hash, key, watch, value);
            let landed = |own: Option<&_>, watch: &_| landed(own, watch, &mut made);
            let there = leader.put(change, &mut node, read, landed);
            (*ended, _spare) = match there {
                None => (Some(made), None),
                there => (there, Some(made)),
            };
        });
        match ended {
            Some(ended) => ended,
            None => unreachable!("it has ended"),
        }
    }

    /// As [`finish`](Self::finish), for a thread.
    #[inline(never)]
    #[allow(
        clippy::boxed_local,
        reason = "a computation has only the box on its stack"
    )]
    fn finish_apart<R>(
        leads: Leads<'a, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> Made<'a, S, R>,
    ) -> R {
        let (leader, _frame) = *leads;
        leader.finish(read, made, |_, _| ())
    }

    /// As [`fail`](Self::fail), for a thread.
    #[inline(never)]
    #[allow(
        clippy::boxed_local,
        reason = "a computation has only the box on its stack"
    )]
    fn fail_apart<E, Es: Errors<E>>(leads: Leads<'a, S>, error: &E) {
        let (leader, _frame) = *leads;
        leader.fail::<E, Es>(error, || true);
    }

    /// Puts a node in the place of the node of the reservation. If another maker was faster,
    /// returns what `read` returns for the present value.
    fn put<R>(
        &mut self,
        change: &Change<'_, '_, S>,
        node: &mut NewNode<'_, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        landed: impl FnOnce(Option<&Reservation>, &S::Watch),
    ) -> Option<R> {
        let (table, mut there) = (self.table, None);
        // Whether an object has died that the caller did not keep alive. The table asks objects
        // that are not polled.
        if !(table.is_swept() && node.is_stale()) {
            let (reservation, stage) = (&self.reservation, &mut self.stage);
            let is_own = |now: Option<&Node<_>>| {
                let live = now.and_then(Node::live).filter(|_| reservation.is_raced());
                there = live.and_then(|(watch, value)| read(watch, value));
                now.is_some_and(|now| now.is_reserved_by(reservation))
            };
            let mut new = None;
            let is_linked = |_: Option<&_>, node| (*stage, new) = (Stage::Landed, Some(node));
            if change.put(node, is_own, is_linked).is_some() {
                if let Some(watch) = new.and_then(Node::watch) {
                    landed(self.own().map(|own| &**own), watch);
                }
                return None;
            }
        }
        self.stage = Stage::Counted;
        if there.is_none() {
            table.count(|counts| &counts.ended);
        }
        there
    }
}

impl<S: Compare> Drop for Leader<'_, S> {
    // Apart, as `lead` is.
    #[inline(never)]
    fn drop(&mut self) {
        self.leave(|_| ());
    }
}

impl<S: Compare> Leader<'_, S> {
    /// Ends the leader. If there is no value, `last` runs before the callers that wait go on, and
    /// when no other caller comes to wait for the leader.
    fn leave(&mut self, last: impl FnOnce(Option<&Reservation>)) {
        match mem::replace(&mut self.stage, Stage::HandedOver) {
            Stage::HandedOver => return,
            Stage::Landed => return self.reservation.land(),
            Stage::Counted => {}
            Stage::Begun => self.table.count(|counts| &counts.failures),
        }
        let (table, mut panics) = (self.table, FirstPanic::default());
        let (own, part) = (&self.reservation, &self.part);
        let closes = own.leave_or_close(part);
        let pin = closes.then(|| table.pin());
        if let Some(pin) = &pin {
            panics.catch(|| table.withdraw(pin, self.hash, own));
        }
        panics.catch(|| last(self.own().map(|own| &**own)));
        panics.catch(|| own.quit(part, closes));
        // Last: the end of the pin may run destructors that wait for threads waiting for this
        // reservation.
        panics.catch(|| drop(pin));
        panics.resume();
    }
}
