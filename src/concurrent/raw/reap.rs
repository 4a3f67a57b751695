//! Entries that deaths have unlinked: an operation that changes the table takes some of the
//! entries, and destroys or retires them. Also the waker, which deaths call.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::task::Waker;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use super::dead;
use super::end::end;
use super::entry::Entry;
use super::retired::{Retire, Retired};
use super::table::{RawTable, Writer};
use crate::panics::FirstPanic;
use crate::ptr::{CoreRef, WakerCell};

/// The number of changes of a thread between two looks at entries left by other threads: at a list
/// of the dead and, every second time, first at a bag.
const FOREIGN_INTERVAL: usize = 8;

/// A place where entries wait until a thread [takes](RawTable::take_dead) them.
#[derive(Clone, Copy)]
pub(in super::super) enum Place {
    /// The list of the dead of a stripe.
    Stripe(usize),
    /// The bag of the thread with this number.
    Bag(usize),
}

impl<N: Entry> RawTable<N> {
    /// Returns how many entries deaths have unlinked so far, modulo 2^n.
    pub(in super::super) fn unlinked(&self) -> usize {
        self.core().map_or(0, |core| core.unlinked())
    }

    /// Returns how many entries wait in the lists of the dead.
    pub(in super::super) fn dead(&self) -> usize {
        self.core().map_or(0, |core| core.waiting())
    }

    /// Returns how many counted entries wait in bags.
    pub(in super::super) fn bagged(&self) -> usize {
        self.domain.bagged()
    }

    /// Returns a place with entries for the calling thread, which begins a change. The place is the
    /// list of the thread's own stripe, if the list has as many entries as a batch of the thread.
    /// Every [n-th](FOREIGN_INTERVAL) change first looks at the places of other threads, so no
    /// entry waits for a particular thread.
    #[inline]
    pub(in super::super) fn due(&self) -> Option<Place> {
        let core = self.core()?;
        if self.domain.is_of_one() {
            return core.due().map(Place::Stripe);
        }
        self.due_beside_others(core)
    }

    /// Returns a place when several threads have used the table.
    #[inline(never)]
    fn due_beside_others(&self, core: CoreRef) -> Option<Place> {
        let nth = self.domain.begin_change(Self::REST);
        if nth % FOREIGN_INTERVAL == 0 {
            core.widen_for(self.domain.participants.included());
            let there = self.foreign_due(core, nth / FOREIGN_INTERVAL);
            if there.is_some() {
                return there;
            }
        }
        let stripe = match self.batch() {
            1 => core.own_due(1).or_else(|| core.any_due()),
            batch => core.own_due(batch).or_else(|| self.full_list(core)),
        };
        stripe.map(Place::Stripe)
    }

    fn foreign_due(&self, core: CoreRef, nth: usize) -> Option<Place> {
        if nth % 2 == 0 {
            if let Some(number) = self.domain.next_idle_bag() {
                return Some(Place::Bag(number));
            }
        }
        let stripe = match self.batch() {
            1 => core.foreign_due(nth),
            // A thread that changes the table lets a batch wait in its own list. With a limit of
            // one batch, two threads took each other's entries: 2.8 cache lines a round, not 1.
            batch => {
                let full = 2 * batch;
                (self.domain).next_slow_list(core.stripes(), full, |at| core.progress(at))
            }
        };
        stripe.map(Place::Stripe)
    }

    /// Returns a list of another stripe that was full at the thread's last look, and is not empty
    /// yet.
    fn full_list(&self, core: CoreRef) -> Option<usize> {
        let stays_at = self.domain.stays_at();
        stays_at.filter(|stripe| core.progress(*stripe).0 != 0)
    }

    /// Returns any stripe with entries to take.
    pub(in super::super) fn any_due(&self) -> Option<usize> {
        self.core()?.any_due()
    }

    /// Empties the bag of the calling thread or, with `of_all`, the bags of all threads, until
    /// `most` counted entries are taken, and destroys or defers the entries. Returns how many
    /// counted entries were taken.
    pub(in super::super) fn empty_bags(
        &self,
        of_all: bool,
        most: usize,
        panics: &mut FirstPanic,
    ) -> usize {
        self.domain.empty_bags(of_all, most, panics)
    }
}

impl<N: Entry> RawTable<N> {
    /// Sets or removes the waker. The next death calls the waker if no entries wait.
    pub(in super::super) fn set_waker(&self, waker: Option<Waker>) -> Option<Arc<WakerCell>> {
        let is_set = waker.is_some();
        if is_set {
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
    /// not [arm](Self::arm) the waker.
    pub(in super::super) fn renew_waker(&self, waker: &Waker) -> Arc<WakerCell> {
        self.be_prompt();
        let cell = self.core_or_new().waker_share();
        cell.renew(waker);
        cell
    }

    /// Arms the waker for the next death, if there is a waker and no entries wait. If a death comes
    /// meanwhile and does not call the waker, an earlier call has not been answered yet, and the
    /// coming purge finds the entry of the death.
    #[inline]
    pub(in super::super) fn arm_if_idle(&self) {
        if let Some(core) = self.core() {
            if core.waker().is_some() && core.waiting() == 0 {
                core.arm();
            }
        }
    }

    /// Arms the waker for the next death, if there is a waker. Returns whether no entries wait.
    /// Entries of deaths that have not called the waker are seen.
    pub(in super::super) fn arm(&self) -> bool {
        let Some(core) = self.core() else { return true };
        core.waker().is_none() || core.arm_and_look()
    }
}

impl<N: Entry> Writer<'_, N> {
    /// Returns the entries that are now in the lists of the dead.
    pub(in super::super) fn dead_entries(&self) -> Vec<&N> {
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

    /// Destroys entries that were taken before the thread entered, and whose end runs no user code:
    /// so no user code runs inside, and no panic ends the loop over the entries. By the barrier of
    /// entering, the thread sees all threads that may look at the entries. If there are any, the
    /// entries are retired instead.
    #[inline]
    pub(in super::super) fn reap(&self, taken: Taken<'_, N>) {
        if self.inside.is_alone() {
            taken.destroy(&self.spare);
        } else {
            taken.retire(|retired| self.inside.retire_earlier(retired));
        }
    }
}

/// Entries that were taken from a list of the dead.
#[must_use]
pub(in super::super) struct Taken<'t, N: Entry> {
    table: &'t RawTable<N>,
    first: *mut (),
    count: usize,
}

impl<N: Entry> RawTable<N> {
    /// Takes the newest entries of a stripe's list, at most `most`. The objects of a bag are
    /// destroyed or deferred here.
    #[inline]
    pub(in super::super) fn take_dead(&self, place: Place, most: usize) -> Option<Taken<'_, N>> {
        let stripe = match place {
            Place::Stripe(stripe) => stripe,
            Place::Bag(number) => {
                self.domain.empty_bag_of(number);
                return None;
            }
        };
        // SAFETY: the list is of entries of this table.
        let below = |entry| unsafe { dead::next::<N>(entry) };
        let (first, count) = self.core()?.take(stripe, most, below);
        (count != 0).then_some(Taken {
            table: self,
            first,
            count,
        })
    }

    /// Destroys taken entries if no thread inside may look at them. Otherwise the entries are
    /// destroyed when the last of these threads leaves.
    pub(in super::super) fn reap(&self, taken: Taken<'_, N>) {
        // D1: the taken entries were unlinked before.
        crate::sync::barrier();
        if self.domain.is_unseen() {
            taken.destroy_all();
        } else {
            let mut all = Vec::new();
            taken.retire(|retired| all.push(retired));
            self.domain.wait(all);
        }
    }
}

impl<N: Entry> Taken<'_, N> {
    #[inline]
    fn nodes(&self) -> impl Iterator<Item = *mut N> + use<N> {
        // SAFETY: `self` owns the list of `count` entries of the table.
        unsafe { dead::list(self.first, self.count) }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.count
    }

    /// Passes each entry to `look`.
    pub(in super::super) fn each(&self, look: impl FnMut(&N)) {
        // SAFETY: not destroyed yet.
        self.nodes().map(|node| unsafe { &*node }).for_each(look);
    }

    /// Destroys the entries, which no thread looks at, and keeps the memory of the last entry.
    #[inline]
    fn destroy(self, spare: &Cell<Option<Box<MaybeUninit<N>>>>) {
        let context = self.table.context();
        for node in self.nodes() {
            // SAFETY: taken from the list, so owned by `self`, and no thread looks at the entry.
            spare.set(unsafe { end(node, context) });
        }
    }

    /// Destroys the entries, which no thread looks at, even if some destructors panic.
    fn destroy_all(self) {
        let context = self.table.context();
        let mut panics = FirstPanic::default();
        for node in self.nodes() {
            // SAFETY: as above.
            panics.catch(|| unsafe { <N as Retire>::destroy(node, context) });
        }
        panics.resume();
    }

    fn retire(self, retire: impl FnMut(Retired)) {
        // SAFETY: taken from the list, so owned by `self`; R3.
        self.nodes()
            .map(|node| unsafe { Retired::new(node) })
            .for_each(retire);
    }
}
