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
use super::raw::{Match, Reader, Tally};
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::{Unplaced, Watches, WatchesOne};
use super::way::{Errors, Failed, Unanswered, Way, made_by};
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::reference::WeakKey;

/// What a lookup has found instead of a value: a reservation, or nothing, or an entry of no use.
/// Without a reservation, the visit of the lookup goes on.
pub(crate) struct Absent<'t, S: Schema<Watch: Watches>> {
    reservation: Option<Arc<Reservation>>,
    visit: Option<Reader<'t, Node<S>>>,
}

impl<S: Schema<Watch: Watches>> Absent<'_, S> {
    /// Ends the visit.
    pub(crate) fn leave(self) -> Option<Arc<Reservation>> {
        self.reservation
    }
}

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
    pub(crate) fn value_or_make<'t, E, Es: Errors<E>>(
        &'t self,
        (hash, by): (HashValue, &S::Probe),
        key: &'t KeyOf<S>,
        way: Way<Es>,
        make: impl FnOnce(&<KeyOf<S> as WeakKey>::Weak) -> Result<S::Value, E>,
    ) -> Result<S::Value, E> {
        let made = self.get_or_make(
            (hash, by),
            way,
            |_, value| Some(value.clone()),
            || with_weak(key, make),
            |value, _| (S::Watch::new(key), value.clone()),
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
        match self.ask((hash, key), &way, &read)? {
            Claimed::There(made) => {
                // T5
                drop(make);
                Ok(made)
            }
            Claimed::Yours(leads) => {
                let entry = |made: &V| {
                    let (watch, value) = entry(made, self.core());
                    (S::key(key), watch, value)
                };
                Leader::make_apart::<_, _, Es>(leads, read, make, entry)
            }
        }
    }

    /// Returns the present value, or a leader that makes the value.
    #[inline(never)]
    fn ask<R, E, Es: Errors<E>>(
        &self,
        (hash, key): (HashValue, &S::Probe),
        way: &Way<Es>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
    ) -> Result<Claimed<R, Leads<'_, S>>, Failed<E>>
    where
        S::Probe: Clone,
    {
        let is_it = |node: &_| S::is_of(key, node) == Match::Yes;
        match self.find_where(hash, is_it, &read) {
            Ok(found) => Ok(Claimed::There(found)),
            Err(absent) => self.lead_apart(hash, key, read, absent, way),
        }
    }

    /// As a lookup, for a task.
    #[inline(never)]
    pub(super) fn look<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl FnOnce(&S::Watch, &S::Value) -> Option<R>,
    ) -> Result<R, Option<Arc<Reservation>>> {
        let is_it = |node: &_| S::is_of(key, node) == Match::Yes;
        self.find_where(hash, is_it, read).map_err(Absent::leave)
    }

    /// The present value.
    // Always: a hit is one call.
    #[inline(always)]
    pub(crate) fn find_where<R>(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> bool,
        read: impl FnOnce(&S::Watch, &S::Value) -> Option<R>,
    ) -> Result<R, Absent<'_, S>> {
        let reader = self.nodes.read();
        let sweeps = S::Watch::SWEPT != Some(false) && reader.is_nth();
        let found = match reader.get(hash.bits(), sought) {
            None => None,
            Some(Node::Reserved { reservation, .. }) => {
                return Err(Absent {
                    reservation: Some(Arc::clone(reservation)),
                    visit: None,
                });
            }
            Some(node @ Node::Ready { watch, value, .. }) => {
                read(watch, value).map(|found| (found, self.admission_of(node)))
            }
        };
        // A thread that goes on to make the value sweeps in the end.
        let Some((found, admission)) = found else {
            return Err(Absent {
                reservation: None,
                visit: Some(reader),
            });
        };
        if S::Watch::COUNTED {
            reader.tally(Tally::Hit);
        }
        match admission {
            Some(admission) => {
                let eviction = self.hit(admission);
                drop(reader);
                eviction.end();
            }
            None => {
                drop(reader);
                if sweeps {
                    self.sweep_some();
                }
            }
        }
        Ok(found)
    }

    /// Goes on from the outcome of the lookup until the value is there, or the calling thread is to
    /// make the value, or the time is up.
    ///
    /// Computations may nest tens of thousands deep, so each byte on the stack during a computation
    /// counts. Hence all code before and after a computation is in functions that are never
    /// inlined, `lead` among them: nothing of their frames is left while user code runs.
    #[cold]
    #[inline(never)]
    pub(crate) fn lead<'t, R, E, Es: Errors<E>>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Option<Arc<Reservation>>,
        way: &Way<Es>,
    ) -> Result<Claimed<R, Leader<'t, S>>, Failed<E>>
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

    /// As [`reserve`](Self::reserve), in the visit of a lookup that has found nothing. The error
    /// is for [`lead`](Self::lead), where an entry has the hash, or the table is unusual.
    #[inline(always)]
    pub(crate) fn reserve_first<'t>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        absent: Absent<'t, S>,
        races: bool,
    ) -> Result<Leader<'t, S>, Option<Arc<Reservation>>>
    where
        S::Probe: Clone,
    {
        let Some(visit) = absent.visit else {
            return Err(absent.reservation);
        };
        let [own, spare, reservation] = Reservation::handles(races);
        let make = || Node::Reserved {
            hash,
            key: key.clone(),
            reservation,
        };
        match self.nodes.reserve(visit, make) {
            Ok(()) => Ok(Leader::first(self, hash, (own, Some(spare)), races)),
            Err(_) => Err(None),
        }
    }

    /// As [`lead`](Self::lead), with the frame of the computation.
    #[inline(never)]
    fn lead_apart<'t, R, E, Es: Errors<E>>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        absent: Absent<'t, S>,
        way: &Way<Es>,
    ) -> Result<Claimed<R, Leads<'t, S>>, Failed<E>>
    where
        S::Probe: Clone,
    {
        let mut leader = match self.reserve_first(hash, key, absent, way.races) {
            Ok(leader) => leader,
            Err(absent) => match self.lead(hash, key, read, absent, way)? {
                Claimed::There(made) => return Ok(Claimed::There(made)),
                Claimed::Yours(leader) => leader,
            },
        };
        let frame = leader.frame_of_thread();
        Ok(Claimed::Yours(Box::new((leader, frame))))
    }

    /// As [`lead`](Self::lead), for a task. `left` returns the result that an owner has left to the
    /// task.
    pub(crate) async fn lead_in_task<R, E, Es: Errors<E>>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        left: impl Fn(&Reservation) -> Option<R>,
        mut absent: Option<Arc<Reservation>>,
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
    /// its end. `absent` is the reservation that a lookup has found.
    // Always: as a call, `reserve` would copy the leader once more.
    #[inline(always)]
    pub(super) fn reserve<'t, R>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Option<Arc<Reservation>>,
        races: bool,
    ) -> Result<Claimed<R, Leader<'t, S>>, Arc<Reservation>>
    where
        S::Probe: Clone,
    {
        loop {
            if let Some(reservation) = absent {
                match Reservation::claim(&reservation, races) {
                    Claim::Yours(part) => {
                        let leader = Leader::new(self, hash, (reservation, None), part);
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
        let reservation = Arc::as_ptr(reservation);
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
    fn put_reservation<'t, R>(
        &'t self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        races: bool,
    ) -> Result<Claimed<R, Leader<'t, S>>, Option<Arc<Reservation>>>
    where
        S::Probe: Clone,
    {
        let [own, spare, reservation] = Reservation::handles(races);
        let mut lead = Some(|| Leader::first(self, hash, (own, Some(spare)), races));
        let mut leader = None;
        let found = self.change(Upkeep::Reserving, |change, found| {
            let mut node = self.nodes.entry(|| Node::Reserved {
                hash,
                key: key.clone(),
                reservation,
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
                |_| {
                    change.pin.leave_quietly();
                    leader = lead.take().map(|lead| lead());
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

/// The parts of a made entry.
type Entry<'a, S> = (
    <S as Schema>::Key,
    Unplaced<'a, <S as Schema>::Watch>,
    <S as Schema>::Value,
);

/// A maker of the value of a key, a thread or a task: the owner of a reservation, or a racer. The
/// end of the leader, also by a panic or by a drop of the task, leaves the reservation; if the
/// leader is the last maker, and there is no value, the end unlinks the node of the reservation.
/// The first waiter that is polled, or wakes, or another caller that arrives makes the value then.
pub(crate) struct Leader<'a, S: Compare> {
    pub(super) table: &'a Table<S>,
    pub(super) hash: HashValue,
    /// None once the value has taken the place of the node.
    reservation: Option<Arc<Reservation>>,
    /// J4: the handle of the frame, until the frame is set.
    spare: Option<Arc<Reservation>>,
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
    /// Another leader has the reservation.
    HandedOver,
}

impl<'a, S: Compare> Leader<'a, S> {
    #[inline]
    pub(super) fn new(
        table: &'a Table<S>,
        hash: HashValue,
        (reservation, spare): (Arc<Reservation>, Option<Arc<Reservation>>),
        part: Part,
    ) -> Self {
        Leader {
            table,
            hash,
            reservation: Some(reservation),
            spare,
            part,
            stage: Stage::Begun,
            edge: None,
        }
    }

    /// The first maker of a reservation, with two of its handles.
    #[inline]
    fn first(
        table: &'a Table<S>,
        hash: HashValue,
        handles: (Arc<Reservation>, Option<Arc<Reservation>>),
        races: bool,
    ) -> Self {
        let part = if races { Part::Racer } else { Part::Owner };
        Leader::new(table, hash, handles, part)
    }

    #[inline]
    pub(super) fn begun(mut self) -> Self {
        self.edge = self.own().and_then(Edge::of_leader);
        self
    }

    pub(super) fn reservation(&self) -> &Arc<Reservation> {
        match &self.reservation {
            Some(reservation) => reservation,
            None => unreachable!("its value has taken the place of its node"),
        }
    }

    /// The reservation for which callers wait.
    pub(super) fn own(&self) -> Option<&Arc<Reservation>> {
        self.part.own(self.reservation())
    }

    /// Sets a frame around user code for which callers wait.
    pub(crate) fn frame(&self) -> Option<Frame> {
        self.own().map(Reservation::frame)
    }

    /// As [`frame`](Self::frame), for a thread, whose frame lasts until the leader ends. The leader
    /// may not have [begun](Self::begun).
    #[inline(always)]
    pub(crate) fn frame_of_thread(&mut self) -> Option<Frame> {
        let spare = self.spare.take_if(|_| matches!(self.part, Part::Owner));
        let frame = spare.map_or_else(|| self.frame(), |spare| Some(Frame::of(spare)));
        if self.edge.is_none() {
            let ends = frame.as_ref().zip(self.own());
            self.edge = ends.and_then(|(frame, own)| Edge::into_frame(frame, own));
        }
        frame
    }

    /// Runs the computation of a task. A load `pauses` in its first poll, before the first poll of
    /// the computation.
    pub(crate) async fn run<F: Future>(
        &mut self,
        mut pauses: bool,
        compute: impl FnOnce() -> F,
    ) -> F::Output {
        let reservation = self.reservation.as_ref();
        let own = reservation.and_then(|reservation| self.part.own(reservation));
        let edge = &mut self.edge;
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

    /// Ends with the outcome of the computation.
    pub(crate) fn end<V, E, Es: Errors<E>>(
        self,
        _: Way<Es>,
        outcome: Result<V, E>,
        finish: impl FnOnce(Self, V) -> V,
    ) -> Result<V, E> {
        let _frame = self.frame();
        match outcome {
            Ok(value) => Ok(finish(self, value)),
            Err(error) => {
                self.fail::<E, Es>(&error);
                Err(error)
            }
        }
    }

    /// Runs the computation of a task, and ends with its outcome. `split` tells the value from the
    /// error.
    pub(crate) async fn make<F: Future, V, E, Es: Errors<E>>(
        self,
        way: Way<Es>,
        pauses: bool,
        compute: impl FnOnce() -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
        finish: impl FnOnce(Self, V) -> V,
    ) -> Result<V, E> {
        // Dropped before `finish`, which has the parts of the entry: their drop may run user code.
        let mut leader = self;
        let computed = leader.run(pauses, compute).await;
        leader.end(way, split(computed), finish)
    }

    /// Leaves without a value, and leaves the error to the callers that wait.
    pub(crate) fn fail<E, Es: Errors<E>>(self, error: &E) {
        if let Some(own) = self.own() {
            Es::leave(error, own);
        }
    }

    /// Publishes the value, and returns the result that comes with the value; or, if another maker
    /// of the same reservation was faster, what `read` returns for that maker's value. The table
    /// does not keep the value either if the node of the reservation was removed or replaced
    /// meanwhile, nor if an object has died that the caller did not keep alive. `frame` is the
    /// frame of a [thread](Self::frame_of_thread).
    pub(crate) fn finish<R>(
        self,
        frame: Option<Frame>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> (Entry<'a, S>, R),
    ) -> R {
        self.finish_and_leave(frame, read, made, |_, _| ())
    }

    /// As `finish`. If the table keeps the value, `leave` may leave the result to the callers that
    /// wait.
    pub(crate) fn finish_and_leave<R>(
        mut self,
        mut frame: Option<Frame>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> (Entry<'a, S>, R),
        leave: impl FnOnce(&Reservation, &R),
    ) -> R {
        // Until the destructors have run that the end of the visit runs.
        let _edge = self.edge.take();
        let (table, hash, mut leader) = (self.table, self.hash, self);
        let ((key, watch, value), made) = made();
        let mut leave = Some(leave);
        let mut leave = |own: &Reservation, made: &R| {
            if let Some(leave) = leave.take() {
                leave(own, made);
            }
        };
        let node = if watch.is_swept() || table.is_swept() {
            table.ready(hash, key, watch, value)
        } else {
            let make = || Node::new(hash, key, value, watch.into_inner());
            let own = Arc::as_ptr(leader.reservation());
            let is_own = |node: &Node<_>| node.is_reserved_by(own);
            let land = |old| leader.land(frame.take(), old, |own| leave(own, &made));
            match table.nodes.publish(make, is_own, land) {
                Ok(due) => {
                    table.reap(due);
                    return made;
                }
                Err(node) => node,
            }
        };
        let ended = leader.finish_unusual(read, (node, made), leave);
        table.tidy();
        ended
    }

    /// As [`finish_and_leave`](Self::finish_and_leave), for any table.
    #[cold]
    #[inline(never)]
    fn finish_unusual<R>(
        self,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        (node_made, made): (NewNode<'a, S>, R),
        leave: impl FnOnce(&Reservation, &R),
    ) -> R {
        let table = self.table;
        let ended = table.change(Upkeep::Nothing, |change, ended| {
            // The drop of a value that the table does not keep may run user code: so the value is
            // dropped last, when the leader has left (T4).
            let (mut node, _unused);
            node = node_made;
            let mut leader = self;
            let there = leader.put(change, &mut node, read);
            if leader.stage == Stage::Landed {
                leader.land(None, None, |own| leave(own, &made));
            }
            (*ended, _unused) = match there {
                None => (Some(made), None),
                there => (there, Some(made)),
            };
        });
        match ended {
            Some(ended) => ended,
            None => unreachable!("it has ended"),
        }
    }

    /// A value has taken the place of the node, which is passed if no thread looks at it.
    fn land(
        &mut self,
        frame: Option<Frame>,
        old: Option<Node<S>>,
        leave: impl FnOnce(&Reservation),
    ) {
        self.stage = Stage::HandedOver;
        let Some(reservation) = self.reservation.take() else {
            unreachable!("a value takes the place of a node once");
        };
        match (old, frame, &self.part) {
            // J4
            (
                Some(Node::Reserved {
                    reservation: third,
                    key,
                    ..
                }),
                Some(frame),
                Part::Owner,
            ) if Reservation::is_unseen(&reservation) => {
                if let Some(second) = frame.end() {
                    Reservation::keep([reservation, second, third]);
                }
                drop(key);
            }
            (_old, _frame, part) => {
                if let Some(own) = part.own(&reservation) {
                    leave(own);
                }
                reservation.land();
            }
        }
    }

    /// Makes the value as a thread, and publishes the value. `entry` turns the value into an entry.
    #[cold]
    #[inline(never)]
    fn make_apart<V, E, Es: Errors<E>>(
        leads: Leads<'a, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V) -> Entry<'a, S>,
    ) -> Result<V, Failed<E>> {
        match make() {
            Ok(made) => Ok(Leader::finish_apart(leads, read, made, entry)),
            Err(error) => {
                // The end of the leader's pin may destroy entries removed by other threads, and a
                // destructor may panic.
                Leader::fail_apart::<E, Es>(leads, &error);
                Err(Failed::Error(error))
            }
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
        made: R,
        entry: impl FnOnce(&R) -> Entry<'a, S>,
    ) -> R {
        let (leader, frame) = *leads;
        leader.finish(frame, read, || (entry(&made), made))
    }

    /// As [`fail`](Self::fail), for a thread.
    #[inline(never)]
    #[allow(
        clippy::boxed_local,
        reason = "a computation has only the box on its stack"
    )]
    fn fail_apart<E, Es: Errors<E>>(leads: Leads<'a, S>, error: &E) {
        let (leader, _frame) = *leads;
        leader.fail::<E, Es>(error);
    }

    /// Puts a node in the place of the node of the reservation. If another maker was faster,
    /// returns what `read` returns for the present value.
    fn put<R>(
        &mut self,
        change: &Change<'_, '_, S>,
        node: &mut NewNode<'_, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
    ) -> Option<R> {
        let (table, mut there) = (self.table, None);
        // Whether an object has died that the caller did not keep alive. The table asks objects
        // that are not polled.
        if !(table.is_swept() && node.is_stale()) {
            let Some(reservation) = &self.reservation else {
                unreachable!("it has not landed");
            };
            let (own, stage) = (Arc::as_ptr(reservation), &mut self.stage);
            let is_own = |now: Option<&Node<_>>| {
                let live = now.and_then(Node::live).filter(|_| reservation.is_raced());
                there = live.and_then(|(watch, value)| read(watch, value));
                now.is_some_and(|now| now.is_reserved_by(own))
            };
            let is_linked = |_: Option<&_>| *stage = Stage::Landed;
            if change.put(node, is_own, is_linked).is_some() {
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
        let failed = match self.stage {
            Stage::HandedOver => return,
            Stage::Landed => return self.reservation().land(),
            Stage::Counted => false,
            Stage::Begun => true,
        };
        let (table, mut panics) = (self.table, FirstPanic::default());
        if failed {
            table.count(|counts| &counts.failures);
        }
        let (own, part) = (self.reservation(), &self.part);
        let closes = own.leave_or_close(part);
        let pin = closes.then(|| table.pin());
        if let Some(pin) = &pin {
            panics.catch(|| table.withdraw(pin, self.hash, own));
        }
        panics.catch(|| own.quit(part, closes));
        // Last: the end of the pin may run destructors that wait for threads waiting for this
        // reservation.
        panics.catch(|| drop(pin));
        if failed {
            panics.catch(|| table.tidy());
        }
        panics.resume();
    }
}
