//! Entries that deaths have unlinked: an operation that changes the table takes some of the
//! entries, and destroys or retires them. Also the waker, which deaths call.
//!
//! **The bound.** A list is full if 16 entries wait there. A change takes 16 entries of a full
//! list, while there is one; without a full list, a change may take entries of its thread's own
//! list. Let t be the last moment at which no list was full (C7 of `ptr::shared`). At t, at most 15
//! entries waited in each list. Since t some list has been full at each moment, so each change that
//! has begun and ended since t has taken 16 entries. So the lists have at most 15 s + k - 16 c
//! entries, where s is the number of stripes, k the number of entries killed since t, and c the
//! number of these changes. Besides, a thread has up to 16 entries on their way from a list, and a
//! bag of 16 (D7 of `batch`); and entries at which a thread inside may look wait for that thread
//! (D2). The bound holds for any number of threads, because no step depends on which other threads
//! make changes. Only one kind of change takes no entries: a change by a destructor that runs
//! inside 16 nested drains of the same thread.
//!
//! Nor does an entry wait for a certain thread: one change of a thread in 16 also looks at the next
//! list and the next bag, and takes entries that nobody else is about to take.

use core::mem::MaybeUninit;
use core::task::Waker;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use super::bag::Bag;
use super::batch::CROWD;
use super::dead;
use super::entry::Entry;
use super::participants::Participant;
use super::retired::Retired;
use super::table::{RawTable, Writer};
use crate::panics::FirstPanic;
use crate::ptr::{CoreRef, WakerCell};
use crate::sync::Ordering::*;
use crate::thread::ThreadNumber;

/// One change of a thread in this many also looks at entries left by other threads.
const INTERVAL: usize = 16;
/// Where threads [let dead entries wait](RawTable::lets_dead_wait), a change takes the entries of
/// its thread's own list when this many wait: fewer than in a full list. So where threads take the
/// entries that they kill, no list becomes full, and the word of the full lists does not change.
const GATHERED: usize = if cfg!(weakly_loom) { 1 } else { 8 };

/// A list from which a thread [takes](RawTable::take_dead) dead entries.
#[derive(Clone, Copy)]
pub(crate) enum DeadList {
    /// A full list.
    Full,
    /// The list of a stripe.
    Stripe(usize),
}

/// The upkeep that a change does before it enters.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    /// If the change also looks at the [next](RawTable::next_due) list and the
    /// [next](RawTable::next_idle_bag) bag: their number.
    pub(crate) around: Option<usize>,
    /// The list from which the change takes up to 16 dead entries.
    pub(crate) list: Option<DeadList>,
}

impl<N: Entry> RawTable<N> {
    /// Returns how many entries deaths have unlinked so far, modulo 2^`usize::BITS`.
    pub(crate) fn unlinked(&self) -> usize {
        self.core().map_or(0, |core| core.unlinked())
    }

    /// Returns how many entries wait in the lists of the dead.
    pub(crate) fn dead(&self) -> usize {
        self.core().map_or(0, |core| core.waiting())
    }

    /// Returns how many counted entries wait in bags.
    pub(crate) fn bagged(&self) -> usize {
        self.domain.bagged()
    }

    /// Begins a change of the participant's thread. Returns whether the change does some upkeep
    /// first.
    #[inline(always)]
    pub(super) fn begin_change(&self, participant: &Participant) -> bool {
        let Some(core) = self.core() else {
            return false;
        };
        let waiting = core.own_due(participant.number).1;
        participant.count_change() % INTERVAL == 0
            || core.is_any_full()
            || waiting != 0 && (waiting >= GATHERED || !self.lets_dead_wait())
    }

    /// Returns the upkeep that the change does.
    #[inline(always)]
    fn due_now(&self, participant: &Participant) -> Option<Due> {
        let (core, nth) = (self.core()?, participant.changes());
        let list = if core.is_any_full() {
            Some(DeadList::Full)
        } else {
            let (own, waiting) = core.own_due(participant.number);
            (waiting != 0).then_some(DeadList::Stripe(own))
        };
        if list.is_some() {
            // Before the taking, since an allocation may fail.
            participant.begin_parking();
        }
        let around = (nth % INTERVAL == 0).then_some(nth / INTERVAL);
        Some(Due { around, list })
    }

    /// Begins a change of the calling thread, and returns the upkeep that the change does first.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let number = ThreadNumber::current();
        self.due_of(self.domain.participant(number.get(), Self::REST))
    }

    /// Does the same as [`due`](Self::due), for the participant's thread.
    #[inline]
    pub(super) fn due_of(&self, participant: &Participant) -> Option<Due> {
        let is_due = self.begin_change(participant);
        is_due.then(|| self.due_now(participant)).flatten()
    }

    /// Returns all lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = DeadList> + use<N> {
        let stripes = self.core().map_or(0, CoreRef::stripes);
        (0..stripes).map(DeadList::Stripe)
    }

    /// Returns a list with entries.
    pub(crate) fn any_due(&self) -> Option<DeadList> {
        self.core()?.any_due().map(DeadList::Stripe)
    }

    /// Returns the next list of other threads with entries, from list `nth` on, if its threads may
    /// have stopped taking the entries: no entry has come since the previous look at the list. If
    /// threads do not [let entries wait](Self::lets_dead_wait), any list with entries is returned.
    /// Adds stripes if there are too few for the threads.
    pub(crate) fn next_due(&self, nth: usize) -> Option<DeadList> {
        let core = self.core()?;
        core.widen_for(self.domain.participants.included());
        let at = core.next_due(nth)?;
        (core.look_if_idle(at) || !self.lets_dead_wait()).then_some(DeadList::Stripe(at))
    }

    /// Whether a thread leaves its dead entries in its list until there are enough for one look at
    /// all threads.
    #[inline]
    fn lets_dead_wait(&self) -> bool {
        self.domain.is_crowded(if N::PROMPT { CROWD } else { 2 })
    }

    /// Returns bag `nth`, if the bag is idle.
    pub(crate) fn next_idle_bag(&self, nth: usize) -> Option<&Bag> {
        self.domain.next_idle_bag(nth)
    }

    /// Destroys or defers the objects of a bag.
    pub(crate) fn empty_bag(&self, bag: &Bag, panics: &mut FirstPanic) {
        (self.domain).empty(bag, self.domain.own_number_if_inside(), panics);
    }

    /// Empties the bag of the calling thread or, with `of_all`, the bags of all threads, until
    /// `most` counted entries are taken, and destroys or defers the entries. Returns how many
    /// counted entries were taken.
    pub(crate) fn empty_bags(&self, of_all: bool, most: usize, panics: &mut FirstPanic) -> usize {
        self.domain.empty_bags(of_all, most, panics)
    }
}

impl<N: Entry> RawTable<N> {
    /// Sets or removes the waker. The next death calls the waker if no entries wait.
    pub(crate) fn set_waker(&self, waker: Option<Waker>) -> Option<Arc<WakerCell>> {
        let is_set = waker.is_some();
        if is_set {
            // D8: an object in a bag wakes no task.
            self.be_prompt();
        }
        let cell = match waker {
            Some(_) => Some(self.core_or_new().waker_or_new()),
            None => self.core().and_then(|core| core.waker()),
        };
        let old = cell?.replace(waker.map(Arc::new));
        self.arm_if_idle();
        drop(old);
        is_set.then(|| self.core_or_new().waker_share())
    }

    /// Makes `waker` the table's waker, unless it is already. Returns the cell of the waker. Does
    /// not [arm](Self::arm) the waker. The caller then looks at the bags, as `poll_pending` does.
    pub(crate) fn renew_waker(&self, waker: &Waker) -> Arc<WakerCell> {
        // D8
        self.be_prompt();
        let cell = self.core_or_new().waker_share();
        cell.renew(waker);
        cell
    }

    #[inline]
    fn has_waker(&self) -> bool {
        self.core().is_some_and(|core| core.waker().is_some())
    }

    /// Arms the waker for the next death, if there is a waker and no entries wait. If a death comes
    /// meanwhile and does not call the waker, an earlier call has not been answered yet, and the
    /// coming purge finds the entry of the death.
    #[inline]
    pub(crate) fn arm_if_idle(&self) {
        if let Some(core) = self.core() {
            if core.waker().is_some() && core.waiting() == 0 {
                core.arm();
            }
        }
    }

    /// Arms the waker for the next death, if there is a waker. Returns whether no entries wait.
    /// Entries of deaths that have not called the waker are seen.
    pub(crate) fn arm(&self) -> bool {
        let Some(core) = self.core() else { return true };
        core.waker().is_none() || core.arm_and_look()
    }
}

impl<N: Entry> Writer<'_, N> {
    /// Returns the entries that are now in the lists of the dead.
    pub(crate) fn dead_entries(&self) -> Vec<&N> {
        let mut all = Vec::new();
        let Some(core) = self.table.core() else {
            return Vec::new();
        };
        for stripe in 0..core.stripes() {
            loop {
                // Allocated before the lock.
                let room = all.capacity() - all.len();
                // SAFETY: the list has entries of the table.
                let below = |entry| unsafe { dead::next::<N>(entry) };
                let there =
                    core.each_dead(stripe, room, below, |entry| all.push(entry.cast::<N>()));
                if there <= room {
                    break;
                }
                all.reserve(there);
            }
        }
        // SAFETY: a thread that takes these entries from the list retires them, and the calling
        // thread is inside.
        all.into_iter().map(|entry| unsafe { &*entry }).collect()
    }
}

/// Entries that were taken from a list of the dead.
#[must_use]
pub(crate) struct Taken<'t, N: Entry> {
    table: &'t RawTable<N>,
    first: *mut (),
    count: usize,
}

impl<N: Entry> RawTable<N> {
    /// Takes entries from a list: 16 of a full list, or the newest of a stripe's list, at most
    /// `most`.
    #[inline(always)]
    pub(crate) fn take_dead(&self, list: DeadList, most: usize) -> Option<Taken<'_, N>> {
        // SAFETY: the list is of entries of this table.
        let below = |entry| unsafe { dead::next::<N>(entry) };
        let core = self.core()?;
        let (first, count) = match list {
            DeadList::Full => core.take_full(below),
            DeadList::Stripe(stripe) => core.take(stripe, most, below),
        };
        (count != 0).then_some(Taken {
            table: self,
            first,
            count,
        })
    }

    /// D7: gathers taken entries if threads gather; otherwise as [`reap`](Self::reap).
    pub(crate) fn gather_or_reap(&self, taken: Taken<'_, N>) {
        if !self.domain.gathers() {
            return self.reap(taken);
        }
        let number = ThreadNumber::current();
        let own = self.domain.participant(number.get(), Self::REST);
        let inside = (own.depth.get() != 0).then(|| number.get());
        // SAFETY: taken from the list, so owned by `taken`; R3.
        let all = taken.nodes().map(|node| unsafe { Retired::new(node) });
        let mut panics = FirstPanic::default();
        self.domain.gather(own, all, inside, &mut panics);
        panics.resume();
    }

    /// Takes entries, enters, and destroys the entries, if no second thread is inside (D1: the
    /// barrier of entering comes after the taking). Otherwise, or if something is unusual, the
    /// thread leaves, calls `reap` for the entries, and enters again.
    #[inline(never)]
    pub(super) fn enter_with<'t>(
        &'t self,
        participant: &Participant,
        take: impl FnOnce(Due) -> Option<Taken<'t, N>>,
        reap: impl FnOnce(Taken<'t, N>),
    ) {
        let taken = self.due_now(participant).and_then(take);
        participant.sit_down();
        let Some(taken) = taken else { return };
        // The look at the word comes after the look at the threads, as in `Plain::entry`.
        // Relaxed: as there.
        let is_usual = || !self.domain.concerns.load(Relaxed) && !self.has_waker();
        if self.domain.is_alone(participant) && is_usual() {
            for node in taken.nodes() {
                if N::PROMPT || cfg!(weakly_loom) {
                    // SAFETY: owned by `taken`, and no thread looks at it.
                    unsafe { self.end(Some(participant), node) };
                } else {
                    // SAFETY: as above. Without a concern, the end of an entry is its drop.
                    let memory = unsafe {
                        let mut place = Box::from_raw(node.cast::<MaybeUninit<N>>());
                        place.assume_init_drop();
                        place
                    };
                    self.keep(participant, memory);
                }
            }
            return;
        }
        let mut panics = FirstPanic::default();
        participant.leave(false);
        panics.catch(|| reap(taken));
        if self.domain.must_look(participant.number) {
            panics.catch(|| self.domain.look_back());
        }
        panics.resume();
        participant.sit_down();
    }

    /// Destroys taken entries if no thread inside may look at them. Otherwise the entries are
    /// destroyed when the last of these threads leaves.
    pub(crate) fn reap(&self, taken: Taken<'_, N>) {
        // D1: the taken entries were unlinked before.
        crate::sync::barrier();
        if self.domain.is_unseen() {
            taken.destroy_all();
        } else {
            let mut all = Vec::new();
            taken.retire(|retired| all.push(retired));
            self.domain.defer(all);
        }
    }
}

impl<N: Entry> Taken<'_, N> {
    #[inline]
    fn nodes(&self) -> impl Iterator<Item = *mut N> + use<N> {
        // SAFETY: `self` owns the list of `count` entries of the table.
        unsafe { dead::list(self.first, self.count) }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Passes each entry to `look`.
    pub(crate) fn each(&self, look: impl FnMut(&N)) {
        // SAFETY: not destroyed yet.
        self.nodes().map(|node| unsafe { &*node }).for_each(look);
    }

    /// Destroys the entries, which no thread looks at, even if some destructors panic.
    fn destroy_all(self) {
        let mut panics = FirstPanic::default();
        let number = ThreadNumber::current();
        let participant = self.table.domain.participants.at_home(number.get());
        for node in self.nodes() {
            // SAFETY: as above.
            panics.catch_inline(|| unsafe { self.table.end(participant, node) });
        }
        panics.resume();
    }

    /// Passes each entry to `retire`.
    fn retire(self, retire: impl FnMut(Retired)) {
        // SAFETY: taken from the list, so owned by `self`; R3.
        self.nodes()
            .map(|node| unsafe { Retired::new(node) })
            .for_each(retire);
    }
}
