//! How a missing value is made: by one thread at a time for each key.

use core::mem;
use std::boxed::Box;
use std::sync::Arc;

use super::change::Upkeep;
use super::evict::Eviction;
use super::inputs::Inputs;
use super::leader::{Leader, Leads};
use super::node::{Compare, Node};
use super::schema::Schema;
use super::table::Table;
use super::watch::{Unplaced, Watches, WatchesOne};
use super::way::{Claimed, Errors, Failed, Unanswered, Way, made_by};
use crate::flight::{Claim, Reservation, Wait, WaitError};
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::raw::{Match, Reader, Tally};
use crate::reference::WeakKey;

/// The outcome of a lookup without a value: the lookup has found a reservation, or nothing, or an
/// entry of no use. Without a reservation, the visit of the lookup goes on.
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
        match self.find_or_lead((hash, key), &way, &read)? {
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

    /// Returns the present value. If the key has no value, returns a leader: then the caller makes
    /// the value. If another caller makes the value, waits for that value, or races, as `way` says.
    /// `read` is as for [`get_or_make`](Self::get_or_make).
    // Never inlined: no byte of this frame is on the stack during the computation (see `lead`).
    #[inline(never)]
    fn find_or_lead<R, E, Es: Errors<E>>(
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
            Err(absent) => self.lead_with_frame(hash, key, read, absent, way),
        }
    }

    /// Looks for the value, for a caller that does not reserve in the same visit: the visit ends
    /// before the method returns. The error is the reservation that was found, if any.
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
                read(watch, value).map(|found| (found, node))
            }
        };
        // A thread that goes on to make the value sweeps in the end.
        let Some((found, node)) = found else {
            return Err(Absent {
                reservation: None,
                visit: Some(reader),
            });
        };
        reader.tally(Tally::Hit);
        match self.needs_admission(node) {
            true => {
                let eviction = Eviction(self);
                self.admit_entry(node, None);
                drop(reader);
                drop(eviction);
            }
            false => {
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
            // While there is an heir, the value that the owner has left stays alive: look before
            // the heir is dropped. Without an heir, `reserve` finds the value itself.
            if let Some(heir) = waited.take() {
                let found = self.look(hash, key, &read);
                // Before the caller reserves the value, since a destructor may ask for the value.
                drop(heir);
                if let Ok(found) = found {
                    // The lookup has counted the hit.
                    mem::forget(unanswered);
                    return Ok(Claimed::There(found));
                }
            }
            match self.reserve(hash, key, &read, absent, way.races) {
                Ok(claimed) => return Ok(unanswered.answered(claimed)),
                Err(other) => {
                    if Inputs::is_computing(&other) {
                        return Err(Failed::from(WaitError::Cycle));
                    }
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
            Ok(()) => {
                self.nodes.tally(Tally::Load);
                Ok(Leader::first(self, hash, (own, Some(spare)), races))
            }
            Err(_) => Err(None),
        }
    }

    /// Reserves the value in the visit of the lookup, or else goes on as [`lead`](Self::lead) does;
    /// then begins the frame of the computation.
    #[inline(never)]
    fn lead_with_frame<'t, R, E, Es: Errors<E>>(
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
                    Claim::Yours(role) => {
                        let leader = Leader::new(self, hash, (reservation, None), role);
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
                |_, _| {
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
