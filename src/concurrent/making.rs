//! How a missing value is made: by one thread at a time for each key.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::{self, pin};
use core::task::Poll;
use std::sync::Arc;
use std::time::Instant;

use super::change::{Change, Upkeep};
use super::flight::{Edge, Frame, Reservation, Wait, WaitError};
use super::node::{Compare, Node};
use super::raw::Match;
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::{Unplaced, Watches, WatchesOne};
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

/// Why there is no value.
pub(crate) enum Failed<E> {
    /// The thread makes the value itself, or a thread waiting for it does; or the time is up.
    Wait(WaitError),
    /// The making has failed.
    Error(E),
}

impl<E> From<WaitError> for Failed<E> {
    fn from(error: WaitError) -> Self {
        Failed::Wait(error)
    }
}

/// The value, the error of its making, or a panic if the making asked for the value. No time was
/// set.
#[inline]
#[track_caller]
pub(crate) fn made_by<K, V, E>(made: Result<V, Failed<E>>) -> Result<V, E> {
    match made {
        Ok(made) => Ok(made),
        Err(Failed::Error(error)) => Err(error),
        Err(Failed::Wait(_)) => cycle::<K, V>(),
    }
}

/// Panics, because the making of a value asked for the same value.
#[track_caller]
#[cold]
pub(crate) fn cycle<K, V>() -> ! {
    panic!(
        "a cycle: making the value ({}) of a key ({}) requires that value itself. (If it waits for a pool of threads that \
         steals work, a thread may have got here by a stolen computation: `get_or_compute_racing` and \
         `get_or_insert_racing` do not wait, and make no cycle.)",
        core::any::type_name::<V>(),
        core::any::type_name::<K>()
    )
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
    /// The value of a key, by identity or content; `make` makes a missing value. If the threads
    /// race, see [`get_or_make`](Self::get_or_make).
    #[inline]
    #[track_caller]
    pub(crate) fn value_or_make<E>(
        &self,
        (hash, by): (HashValue, &S::Probe),
        key: &KeyOf<S>,
        races: bool,
        make: impl FnOnce(&<KeyOf<S> as WeakKey>::Weak) -> Result<S::Value, E>,
    ) -> Result<S::Value, E> {
        let made = self.get_or_make(
            (hash, by),
            races,
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
    /// At most one thread makes the value at a time, unless the threads `race`: then any number of
    /// threads do, none of them waits, no thread waits for them, and the first inserted value
    /// stays.
    #[inline]
    pub(crate) fn get_or_make<'t, V, E>(
        &'t self,
        (hash, key): (HashValue, &S::Probe),
        races: bool,
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
            Err(_) if races => self
                .race((hash, key), read, make, entry)
                .map_err(Failed::Error),
            Err(absent) => self.make((hash, key), read, absent, make, entry),
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
    fn race<'t, V, E>(
        &'t self,
        (hash, key): (HashValue, &S::Probe),
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V, CoreRef) -> (Unplaced<'t, S::Watch>, S::Value),
    ) -> Result<V, E>
    where
        S::Probe: Clone,
    {
        let made = make()?;
        let (watch, value) = entry(&made, self.core());
        let first = self.put_unless(hash, S::key(key), watch, value, read, None);
        // T5
        Ok(match first {
            Some(first) => {
                drop(made);
                first
            }
            None => made,
        })
    }

    #[cold]
    #[inline(never)]
    fn make<'t, V, E>(
        &'t self,
        (hash, key): (HashValue, &S::Probe),
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        absent: Absent,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V, CoreRef) -> (Unplaced<'t, S::Watch>, S::Value),
    ) -> Result<V, Failed<E>>
    where
        S::Probe: Clone,
    {
        match self.lead(hash, key, read, absent, None)? {
            Claimed::There(made) => {
                // T5
                drop(make);
                Ok(made)
            }
            Claimed::Yours(leader) => {
                let _frame = leader.frame();
                match make() {
                    Ok(made) => Ok(leader.finish_apart(|| {
                        let (watch, value) = entry(&made, self.core());
                        (S::key(key), watch, value, made)
                    })),
                    Err(error) => {
                        // The end of the leader's pin may destroy entries removed by other threads,
                        // and a destructor may panic.
                        drop(leader);
                        Err(Failed::Error(error))
                    }
                }
            }
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
    pub(crate) fn lead<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Absent,
        until: Option<Instant>,
    ) -> Result<Claimed<R, Leader<'_, S>>, WaitError>
    where
        S::Probe: Clone,
    {
        let mut waited = None;
        loop {
            let claimed = self.reserve(hash, key, &read, absent);
            // The end of what the leader has left may run user code (T5).
            drop(waited.take());
            match claimed {
                Ok(claimed) => return Ok(claimed),
                Err(other) => {
                    Reservation::wait(&other, until)?;
                    (absent, waited) = (None, Some(other));
                }
            }
        }
    }

    /// As [`lead`](Self::lead), for a task. `left` returns the result that a leader has
    /// [left](Leader::leave) to the task.
    pub(crate) async fn lead_in_task<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        left: impl Fn(&Reservation) -> Option<R>,
        mut absent: Absent,
    ) -> Result<Claimed<R, Leader<'_, S>>, WaitError>
    where
        S::Probe: Clone,
    {
        loop {
            match self.reserve(hash, key, &read, absent) {
                Ok(claimed) => return Ok(claimed),
                Err(other) => {
                    Wait::new(&other).await?;
                    let made = left(&other);
                    // T5
                    drop(other);
                    if let Some(made) = made {
                        return Ok(Claimed::There(made));
                    }
                    absent = None;
                }
            }
        }
    }

    /// Reserves the value of a key for the caller, unless the value is there: the caller makes the
    /// value. The error is a reservation that is in the way: the caller has to wait for its end.
    /// `absent` is the outcome of a lookup.
    // Always: as a call, `reserve` would copy the leader once more.
    #[inline(always)]
    pub(super) fn reserve<R>(
        &self,
        hash: HashValue,
        key: &S::Probe,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        mut absent: Absent,
    ) -> Result<Claimed<R, Leader<'_, S>>, Arc<Reservation>>
    where
        S::Probe: Clone,
    {
        loop {
            if let Some(reservation) = absent.filter(|there| !there.is_complete()) {
                return Err(reservation);
            }
            // No search before the insertion: with an `Eq` that changes its answers, the search may
            // find an entry, and the insertion may not, and the caller would try for ever.
            absent = match self.put_reservation(hash, key, &read) {
                Ok(claimed) => return Ok(claimed),
                Err(absent) => absent,
            };
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
    ) -> Result<Claimed<R, Leader<'_, S>>, Absent>
    where
        S::Probe: Clone,
    {
        let (reservation, mut leader) = (Reservation::new(), None);
        let found = self.change(Upkeep::Reserving, |change, found| {
            let mut node = change.pin.entry(|| Node::Reserved {
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
                |_| {
                    change.pin.leave_quietly();
                    leader = Some(Leader {
                        table: self,
                        hash,
                        reservation,
                        stage: Stage::Begun,
                        edge: None,
                    });
                },
            );
            if let Some(useless) = useless.filter(|_| put.is_none()) {
                self.unlink(change.pin, useless);
            }
        });
        let Some(mut leader) = leader else {
            return found.unwrap_or(Err(None)).map(Claimed::There);
        };
        leader.edge = Edge::of_leader(&leader.reservation);
        Ok(Claimed::Yours(leader))
    }
}

/// The parts of a made entry, and the result that comes with the entry.
type Made<'a, S, R> = (
    <S as Schema>::Key,
    Unplaced<'a, <S as Schema>::Watch>,
    <S as Schema>::Value,
    R,
);

/// The owner of a reservation: the thread or the task that makes the value. The end of the leader,
/// also by a panic or by a drop of the task, completes the reservation; if there is no value, the
/// end unlinks the node of the reservation. The first waiter that is polled, or wakes, or another
/// caller that arrives makes a reservation of its own then.
pub(crate) struct Leader<'a, S: Compare> {
    pub(super) table: &'a Table<S>,
    pub(super) hash: HashValue,
    pub(super) reservation: Arc<Reservation>,
    pub(super) stage: Stage,
    /// From the computation within which the caller leads.
    pub(super) edge: Option<Edge>,
}

/// The stage of a reservation.
pub(super) enum Stage {
    /// The computation has begun, and its outcome is not counted yet. The node of the reservation
    /// may be in the table.
    Begun,
    /// As `Begun`, and the outcome is counted.
    Counted,
    /// The node of the reservation has left the table.
    Unlinked,
    /// Another leader has the reservation.
    HandedOver,
}

impl<'a, S: Compare> Leader<'a, S> {
    /// Sets a frame around user code that runs while the value is reserved.
    pub(crate) fn frame(&self) -> Frame {
        Reservation::frame(&self.reservation)
    }

    /// Runs the computation of a task, and ends with `finish`, or with the error. `split` tells the
    /// value from the error. A load `pauses` in its first poll, before the first poll of the
    /// computation.
    pub(crate) async fn make<F: Future, V, E>(
        self,
        pauses: bool,
        compute: impl FnOnce() -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
        finish: impl FnOnce(Self, V) -> V,
    ) -> Result<V, E> {
        // Dropped before `finish`, which has the parts of the entry: their drop may run user code.
        let mut leader = self;
        let computed = leader.run(pauses, compute).await;
        let _frame = leader.frame();
        match split(computed) {
            Ok(value) => Ok(finish(leader, value)),
            Err(error) => {
                drop(leader);
                Err(error)
            }
        }
    }

    async fn run<F: Future>(&mut self, mut pauses: bool, compute: impl FnOnce() -> F) -> F::Output {
        /// Drops the computation in its frame.
        struct Running<'r, F>(pin::Pin<&'r mut Option<F>>, &'r Arc<Reservation>);
        impl<F> Drop for Running<'_, F> {
            fn drop(&mut self) {
                let _frame = Reservation::frame(self.1);
                self.0.set(None);
            }
        }
        let computing = {
            let _frame = self.frame();
            Some(compute())
        };
        let (reservation, edge) = (&self.reservation, &mut self.edge);
        let mut running = Running(pin!(computing), reservation);
        let computed = poll_fn(|context| {
            if mem::take(&mut pauses) {
                return Poll::Pending;
            }
            Edge::renew_of_leader(edge, reservation);
            let _frame = Reservation::frame(reservation);
            match running.0.as_mut().as_pin_mut() {
                Some(computing) => computing.poll(context),
                None => unreachable!("it is dropped last"),
            }
        })
        .await;
        // T5
        drop(running);
        computed
    }

    /// Leaves something to the waiters: see [`Reservation::leave`].
    pub(crate) fn leave<L: Send + Sync + 'static>(&self, make: impl FnOnce() -> L) {
        self.reservation.leave(make);
    }

    /// Publishes the value. The table does not keep the value if the node of the reservation was
    /// removed or replaced meanwhile, nor if an object has died that the caller did not keep alive.
    pub(crate) fn finish<R>(mut self, made: impl FnOnce() -> Made<'a, S, R>) -> R {
        // Until the destructors have run that the end of the pin runs.
        let _edge = self.edge.take();
        let table = self.table;
        let ended = table.change(Upkeep::Nothing, |change, ended| {
            // The drop of a value that the table does not keep may run user code: so the value is
            // dropped last, when the reservation is complete (T4).
            let (mut node, mut leader) = (None, self);
            let (key, watch, value, made) = made();
            let node = node.insert(table.ready(None, leader.hash, key, watch, value));
            leader.put(change, node);
            *ended = Some(made);
        });
        match ended {
            Some(ended) => ended,
            None => unreachable!("it has ended"),
        }
    }

    /// The same, in a frame of its own.
    #[inline(never)]
    fn finish_apart<R>(self, made: impl FnOnce() -> Made<'a, S, R>) -> R {
        self.finish(made)
    }

    /// Puts a node in the place of the node of the reservation.
    fn put(&mut self, change: &Change<'_, '_, S>, node: &mut NewNode<'_, S>) {
        let table = self.table;
        // Whether an object has died that the caller did not keep alive, here and below. The table
        // asks objects that are not polled.
        let is_dead = table.is_swept() && node.is_stale();
        if !is_dead {
            let own = |now: Option<&Node<_>>| {
                now.is_some_and(|now| now.is_reserved_by(&self.reservation))
            };
            let stage = &mut self.stage;
            let is_linked = |_: Option<&_>| *stage = Stage::Unlinked;
            if change.put(node, own, is_linked).is_some() {
                return;
            }
        }
        if is_dead || node.is_expired() {
            table.count(|counts| &counts.dead);
            self.stage = Stage::Counted;
        }
    }

    /// Unlinks the node of the reservation, if the node is still linked.
    #[cold]
    fn withdraw(&self, pin: &Pin<'_, S>) {
        let own = |node: &Node<S>| node.is_reserved_by(&self.reservation);
        if let Some(node) = self.table.unlink_if(pin, self.hash, own, |_| true) {
            self.table.end(node);
        }
    }
}

impl<S: Compare> Drop for Leader<'_, S> {
    fn drop(&mut self) {
        match self.stage {
            Stage::HandedOver => return,
            Stage::Unlinked => return self.reservation.complete(),
            Stage::Counted => {}
            Stage::Begun => self.table.count(|counts| &counts.discarded),
        }
        let mut panics = FirstPanic::default();
        let pin = self.table.pin();
        panics.catch(|| self.withdraw(&pin));
        panics.catch(|| self.reservation.complete());
        // Last: the end of the pin may run destructors that wait for threads waiting for this
        // reservation.
        panics.catch(|| drop(pin));
        panics.resume();
    }
}
