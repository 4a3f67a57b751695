//! The guards of threads that are inside a [`domain`](super::domain).

use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use std::alloc::handle_alloc_error;
use std::vec::Vec;

use super::deferred::NOBODY;
use super::domain::{Domain, NTH};
use super::participants::{OUTSIDE, Participant};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::store_load;
use crate::thread::ThreadNumber;

impl<C: Default> Domain<C> {
    #[inline(always)]
    pub(super) fn enter(&self) -> Inside<'_, C> {
        let number = ThreadNumber::current();
        let participant = self.participant(number.get());
        let depth = participant.depth.get();
        if depth == 0 {
            participant.sit_down();
        } else {
            participant.depth.set(depth + 1);
        }
        Inside {
            domain: self,
            participant,
            number,
        }
    }
}

/// A thread that is inside.
pub(super) struct Inside<'d, C: Default> {
    domain: &'d Domain<C>,
    participant: &'d Participant<C>,
    /// Dropped after everything else: a borrowed number goes back then.
    number: ThreadNumber,
}

impl<C: Default> Inside<'_, C> {
    /// Counts entries inserted or, if negative, removed. `counted`: whether the table
    /// [counts](super::Entry::is_counted) them.
    #[inline]
    pub(super) fn count(&self, counted: bool, by: isize) {
        let participant = self.participant;
        let entries = if counted {
            &participant.entries
        } else {
            &participant.others
        };
        // Relaxed: D4, no other thread writes it; a sum is a moment's answer.
        let now = entries.load(Relaxed).wrapping_add_signed(by);
        entries.store(now, Relaxed);
    }

    /// Leaves: from here on nothing of the table may be looked at. Returns whether the thread is
    /// outside now. `barrier`: whether a look follows for what this thread has unlinked (D1).
    #[inline]
    fn leave(&self, barrier: bool) -> bool {
        let depth = self.participant.depth.get() - 1;
        self.participant.depth.set(depth);
        if depth != 0 {
            if barrier {
                self.participant.sit_still();
            }
            return false;
        }
        if barrier {
            store_load(&self.participant.visit, OUTSIDE);
        } else {
            // Release: with `visits`.
            self.participant.visit.store(OUTSIDE, Release);
        }
        true
    }

    /// D3, after `leave`: whether this thread has to look what waits in the deferred list.
    #[inline]
    fn must_look(&self) -> bool {
        // Relaxed: what it stands for is read under the lock.
        let named = self.domain.named.load(Relaxed);
        named != NOBODY && self.domain.is_due(named, self.number.get())
    }
}

/// A guard of a thread that is inside to read.
pub(super) struct Reading<'d, C: Default>(Inside<'d, C>);

impl<'d, C: Default> Reading<'d, C> {
    #[inline]
    pub(super) fn new(domain: &'d Domain<C>) -> Self {
        Reading(domain.enter())
    }
}

impl<C: Default> Reading<'_, C> {
    /// Counts this read, and returns whether it is the n-th.
    #[inline]
    pub(super) fn is_nth(&self) -> bool {
        let reads = &self.0.participant.reads;
        let now = reads.get().wrapping_add(1);
        reads.set(now);
        now % NTH == 0
    }
}

impl<C: Default> Drop for Reading<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if self.0.leave(false) && self.0.must_look() {
            self.0.domain.look_back();
        }
    }
}

/// A guard of a thread that is inside to write. The thread retires the entries that it has unlinked
/// when it has left.
pub(super) struct Writing<'d, C: Default> {
    inside: Inside<'d, C>,
    /// D7: how many this thread gathers before it looks. Zero until it is to unlink something.
    batch: Cell<usize>,
    /// Whether this thread has unlinked something meanwhile.
    unlinked: Cell<bool>,
    first: Cell<Option<Retired<C>>>,
    more: Cell<Vec<Retired<C>>>,
    here: PhantomData<*mut ()>,
}

impl<'d, C: Default> Writing<'d, C> {
    #[inline]
    pub(super) fn new(domain: &'d Domain<C>) -> Self {
        Writing {
            inside: domain.enter(),
            batch: Cell::new(0),
            unlinked: Cell::new(false),
            first: Cell::new(None),
            more: Cell::new(Vec::new()),
            here: PhantomData,
        }
    }
}

impl<C: Default> Writing<'_, C> {
    #[inline]
    pub(super) fn count(&self, counted: bool, by: isize) {
        self.inside.count(counted, by);
    }

    /// D1, after entering: whether no thread is inside but this one, and that only once.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        let mut seen = 0;
        self.inside.domain.visits(|_| seen += 1);
        seen == 1 && self.inside.participant.depth.get() == 1
    }

    /// Counts registrations.
    #[inline]
    pub(super) fn count_registered(&self, more: usize) {
        let registered = &self.inside.participant.registered;
        registered.set(registered.get().wrapping_add(more));
    }

    /// Makes room for so many more, before they are unlinked: to retire them takes no memory then.
    /// (Where a failure unwinds, what is unlinked and not retired would be lost.)
    #[inline]
    pub(super) fn make_room(&self, count: usize) {
        if self.batch.get() == 0 {
            self.begin_batch();
        }
        let first = self.first.take();
        let is_room = first.is_none() && count == 1;
        self.first.set(first);
        if !is_room {
            self.make_room_behind(count);
        }
    }

    /// D7: from here on this thread gathers, or not. If it does, its bag is there.
    #[inline]
    fn begin_batch(&self) {
        let batch = self.inside.domain.batch();
        if batch > 1 {
            self.inside.participant.bag_or_new();
        }
        self.batch.set(batch);
    }

    #[cold]
    fn make_room_behind(&self, count: usize) {
        let mut more = self.more.take();
        let made = more.try_reserve(count);
        self.more.set(more);
        if made.is_err() {
            handle_alloc_error(Layout::new::<Retired<C>>());
        }
    }

    /// Takes what this thread, and no other, has unlinked.
    #[inline]
    pub(super) fn retire(&self, retired: Retired<C>) {
        self.unlinked.set(true);
        self.add(retired);
    }

    /// Takes what is too large to wait in a bag.
    #[inline]
    pub(super) fn retire_large(&self, retired: Retired<C>) {
        self.retire(retired);
        self.batch.set(1);
    }

    /// Takes what was unlinked before this thread entered: the barrier of entering serves for that
    /// (D1). A thread that was inside already has made none, and makes one when it leaves.
    #[inline]
    pub(super) fn retire_earlier(&self, retired: Retired<C>) {
        if self.inside.participant.depth.get() != 1 {
            self.unlinked.set(true);
        }
        self.add(retired);
    }

    #[inline]
    fn add(&self, retired: Retired<C>) {
        self.make_room(1);
        match self.first.take() {
            None => self.first.set(Some(retired)),
            Some(first) => {
                self.first.set(Some(first));
                let mut more = self.more.take();
                more.push(retired);
                self.more.set(more);
            }
        }
    }
}

impl<C: Default> Drop for Writing<'_, C> {
    #[inline]
    fn drop(&mut self) {
        let first = self.first.take();
        let gathers = self.batch.get() > 1;
        let out = self.inside.leave(self.unlinked.get() && !gathers);
        let mut panics = FirstPanic::default();
        // First: what this thread destroys itself may take long, or wait for what waits for this
        // thread.
        if out && self.inside.must_look() {
            panics.catch(|| self.inside.domain.look_back());
        }
        if let Some(first) = first {
            let all = core::iter::once(first).chain(self.more.take());
            let domain = self.inside.domain;
            let inside = (!out).then(|| self.inside.number.get());
            let participant = self.inside.participant;
            if gathers {
                domain.gather(participant, all, self.batch.get(), inside, &mut panics);
            } else {
                // D2, after the barrier in `leave`, or that of entering.
                if out && domain.is_unseen() {
                    domain.destroy(all, &mut panics);
                } else {
                    domain.to_deferred(all, inside, &mut panics);
                }
                domain.empty_own(participant, inside, &mut panics);
            }
        }
        panics.resume();
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests;
