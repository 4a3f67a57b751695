//! What becomes of the entries that deaths have unlinked: an operation that changes the table takes
//! some of them, and destroys or retires them. And the waker, which deaths call.

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
use crate::ptr::{CoreRef, STRIPES, WakerCell};

/// One in so many changes of a thread looks at what others have left: at a list of the dead, and
/// every other time at a bag.
const FOREIGN_INTERVAL: usize = 8;

/// Where entries wait for a thread to [take](RawTable::take_dead) them.
#[derive(Clone, Copy)]
pub(in super::super) enum Place {
    /// The list of the dead of a stripe.
    Stripe(usize),
    /// The bag of the thread with this number.
    Bag(usize),
}

impl<N: Entry> RawTable<N> {
    /// How many entries deaths have ever unlinked, modulo 2^n.
    pub(in super::super) fn unlinked(&self) -> usize {
        self.core().map_or(0, |core| core.unlinked())
    }

    /// How many entries wait in the lists of the dead.
    pub(in super::super) fn dead(&self) -> usize {
        self.core().map_or(0, |core| core.waiting())
    }

    /// How many entries wait in bags.
    pub(in super::super) fn bagged(&self) -> usize {
        self.domain.bagged()
    }

    /// A place with entries for this thread, which begins a change: the list of its own stripe, if
    /// as many wait there as the thread gathers of those that it unlinks itself. One in so many
    /// changes looks at what others have left first, so nothing waits for a certain thread.
    #[inline]
    pub(in super::super) fn due(&self) -> Option<Place> {
        let core = self.core()?;
        if self.domain.is_of_one() {
            return core.due().map(Place::Stripe);
        }
        self.due_beside_others(core)
    }

    /// One in [so many](FOREIGN_INTERVAL) changes looks at what others have left first.
    #[inline(never)]
    fn due_beside_others(&self, core: CoreRef) -> Option<Place> {
        let nth = self.domain.begin_change();
        if nth % FOREIGN_INTERVAL == 0 {
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
            batch => (self.domain).next_slow_list(STRIPES, batch, |stripe| core.progress(stripe)),
        };
        stripe.map(Place::Stripe)
    }

    /// A list of others that was full when this thread looked last, and is not empty yet.
    fn full_list(&self, core: CoreRef) -> Option<usize> {
        let stays_at = self.domain.stays_at();
        stays_at.filter(|stripe| core.progress(*stripe).0 != 0)
    }

    /// Any stripe with entries to take.
    pub(in super::super) fn any_due(&self) -> Option<usize> {
        self.core()?.any_due()
    }

    /// Destroys what is in the bag of this thread or, with `of_all`, in the bags of all threads,
    /// `most` entries of it, unless a thread is inside that may look at it. Returns how many
    /// entries that were.
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
    /// Sets or removes the waker, which the next death calls if no entries wait.
    pub(in super::super) fn set_waker(&self, waker: Option<Waker>) {
        if waker.is_some() {
            self.be_prompt();
        }
        let cell = match waker {
            Some(_) => Some(self.core_or_new().waker_or_new()),
            None => self.core().and_then(|core| core.waker()),
        };
        let Some(cell) = cell else { return };
        let old = cell.replace(waker.map(Arc::new));
        self.arm_if_idle();
        drop(old);
    }

    /// Makes this the waker, unless it is. Returns its cell. Nothing is [armed](Self::arm) by that.
    pub(in super::super) fn renew_waker(&self, waker: &Waker) -> Arc<WakerCell> {
        self.be_prompt();
        let cell = self.core_or_new().waker_share();
        cell.renew(waker);
        cell
    }

    /// If there is a waker, and no entries wait, the next death calls it. If one comes meanwhile,
    /// and does not, then an earlier call has not been answered yet: the purge that is to come
    /// finds that entry.
    #[inline]
    pub(in super::super) fn arm_if_idle(&self) {
        if let Some(core) = self.core() {
            if core.waker().is_some() && core.waiting() == 0 {
                core.arm();
            }
        }
    }

    /// If there is a waker, the next death calls it. Returns whether no entries wait: those of
    /// deaths that have not called it are seen.
    pub(in super::super) fn arm(&self) -> bool {
        let Some(core) = self.core() else { return true };
        if core.waker().is_none() {
            return true;
        }
        core.arm();
        // C3
        core.pass();
        core.waiting() == 0
    }
}

impl<N: Entry> Writer<'_, N> {
    /// The entries that are in the lists of the dead now.
    pub(in super::super) fn dead_entries(&self) -> Vec<&N> {
        let mut all = Vec::new();
        let Some(core) = self.table.core() else {
            return Vec::new();
        };
        for stripe in 0..STRIPES {
            loop {
                // Room for them is made before the lock.
                let room = all.capacity() - all.len();
                // SAFETY: the list is of entries of this table.
                let below = |entry| unsafe { dead::next::<N>(entry) };
                let there =
                    core.each_dead(stripe, room, below, |entry| all.push(entry.cast::<N>()));
                if there <= room {
                    break;
                }
                all.reserve(there);
            }
        }
        // SAFETY: whoever takes them from the list retires them, and we are inside.
        all.into_iter().map(|entry| unsafe { &*entry }).collect()
    }

    /// Destroys what was taken before this thread entered, and runs no code of a user: by the
    /// barrier of entering it sees who may look at that. If somebody may, it is retired.
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
    /// Takes the newest entries of a stripe's list, `most` of them. What is in a bag it destroys or
    /// defers.
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

    /// Destroys what was taken, if no thread is inside that may look at it. Otherwise that happens
    /// when the last of them leaves.
    pub(in super::super) fn reap(&self, taken: Taken<'_, N>) {
        // D1: what was taken was unlinked before.
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
        // SAFETY: ours, so many, and of this table.
        unsafe { dead::list(self.first, self.count) }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.count
    }

    /// Shows them.
    pub(in super::super) fn each(&self, look: impl FnMut(&N)) {
        // SAFETY: not destroyed yet.
        self.nodes().map(|node| unsafe { &*node }).for_each(look);
    }

    /// No thread looks at them. Keeps the memory of the last.
    #[inline]
    fn destroy(self, spare: &Cell<Option<Box<MaybeUninit<N>>>>) {
        let context = self.table.context();
        for node in self.nodes() {
            // SAFETY: taken from the list, so ours, and no thread looks at it.
            spare.set(unsafe { end(node, context) });
        }
    }

    /// The same, even if some destructors panic.
    fn destroy_all(self) {
        let context = self.table.context();
        let mut panics = FirstPanic::default();
        for node in self.nodes() {
            // SAFETY: as above.
            panics.catch(|| unsafe { <N as Retire<_>>::destroy(node, context) });
        }
        panics.resume();
    }

    fn retire(self, retire: impl FnMut(Retired<N::Context>)) {
        // SAFETY: taken from the list, so ours; R3.
        self.nodes()
            .map(|node| unsafe { Retired::new(node) })
            .for_each(retire);
    }
}
