//! The participant of a thread at a table. The [`directory`](super::directory) has all participants
//! of a table.
//!
//! **The place of `visit` in a participant.** An entering thread exchanges the word
//! [`Participant::visit`], and then reads the table. A processor first compares only the low twelve
//! bits of the address of a load with the low twelve bits of the addresses of pending stores. If
//! the bits are equal, the load waits for the exchange ("4-KByte aliasing" in Intel's optimization
//! manual), and no later instruction starts meanwhile. Measured, a lookup then takes twice as long
//! in a small table, and five times as long in a table that is not in the cache. In an earlier
//! layout, `visit` was the first word of a participant, and the table's pointer to its array the
//! first word of 128 bytes: in one table of 32 the two addresses collided. So now `visit` is at an
//! offset, modulo 128 bytes, at which a lookup reads no other word. [`assert_apart`] checks the
//! offsets during compilation. The types are `repr(C)`, so the check holds for every compiler.

use core::cell::{Cell, OnceCell};
use core::ptr;
use std::boxed::Box;

use super::bag::Bag;
use super::deferred::Visit;
use super::parked::Parked;
use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, barrier, first_load, store_load};

/// The value of `visit` while the thread is outside.
pub(super) const OUTSIDE: usize = usize::MAX;

/// An event that each thread counts for the user of a table.
#[derive(Clone, Copy)]
pub(crate) enum Tally {
    Hit,
    Miss,
    Load,
}

/// On two separate cache lines, because processors fetch cache lines in pairs. Threads with the
/// same number, one after the other, share a participant.
#[repr(C, align(128))]
pub(super) struct Participant {
    /// How many guards the thread has (D4).
    pub(super) depth: Cell<usize>,
    /// Entries inserted by the participant's threads, less entries removed by them, modulo 2^n.
    /// Written by one thread (D4), read by all threads.
    pub(super) entries: AtomicUsize,
    /// The same count for entries that are [not counted](super::Entry::is_counted).
    pub(super) others: AtomicUsize,
    /// How often the participant's threads have read, modulo 2^n, where reads are counted (D4).
    pub(super) reads: Cell<usize>,
    /// How many registrations the participant's threads have made, modulo 2^n (D4).
    pub(super) registered: Cell<usize>,
    /// The number of the last visit, modulo half the values of a word (D4).
    visits: Cell<usize>,
    /// How many changes the participant's threads have begun, modulo 2^n (D4).
    changes: Cell<usize>,
    /// The visit that the thread last waited for in vain (D4): the number of the other participant,
    /// and the number of its visit.
    vain_number: Cell<u32>,
    vain_visit: Cell<usize>,
    /// Null until the thread has gathered an object.
    bag: AtomicPtr<Bag>,
    /// The memory that the thread keeps (D4). None until the thread has replaced an entry.
    pub(super) parked: OnceCell<Box<Parked>>,
    /// The numbers of events that the participant's threads have counted, modulo 2^n. Written by
    /// one thread (D4), read by all threads.
    pub(super) tallies: [AtomicUsize; 3],
    unused: [usize; UNUSED_WORDS],
    /// The number of the participant's thread. On the cache line of `visit`, because the two are
    /// read together.
    pub(super) number: usize,
    /// The number of the current visit, or [`OUTSIDE`]. The last word of the type: see the head of
    /// this file.
    pub(super) visit: AtomicUsize,
}

/// Makes `visit` the last word of the two cache lines. Under loom, whose atomics are larger, the
/// place does not matter.
const UNUSED_WORDS: usize = 128 / size_of::<usize>() - 16;

/// Checks that a type is aligned, and that none of these fields is at the offset of
/// [`Participant::visit`], modulo the alignment.
macro_rules! assert_apart {
    ($type:ty, $($($field:ident).+),+) => {
        #[cfg(not(weakly_loom))]
        const {
            let align = align_of::<$type>();
            assert!(align == 64 || align == 128);
            $(assert!($crate::raw::participants::VISIT % align != core::mem::offset_of!($type, $($field).+) % align);)+
        }
    };
}

pub(super) use assert_apart;

#[cfg(not(weakly_loom))]
pub(super) const VISIT: usize = core::mem::offset_of!(Participant, visit);

#[cfg(all(target_pointer_width = "64", not(weakly_loom)))]
const _: () = assert!(size_of::<Participant>() == 128);

// SAFETY: D4 for the cells. The other fields are atomics.
unsafe impl Sync for Participant {}

impl Participant {
    /// Begins a visit of the thread, which is outside. The barrier of the store is D1's: the thread
    /// writes `visit` before it reads the table.
    #[inline(always)]
    pub(super) fn sit_down(&self) {
        self.depth.set(1);
        let visit = self.visits.get().wrapping_add(1) & (OUTSIDE >> 1);
        self.visits.set(visit);
        store_load(&self.visit, visit);
    }

    /// Counts one more event of this kind.
    #[inline(always)]
    pub(super) fn tally(&self, tally: Tally) {
        let count = &self.tallies[tally as usize];
        // Relaxed: D4: only the calling thread writes the word.
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Ends a visit, or the inner of two. Returns whether the thread is outside. `barrier`: as for
    /// [`Inside::leave`](super::guards::Inside::leave).
    #[inline(always)]
    pub(super) fn leave(&self, barrier: bool) -> bool {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        if depth != 0 {
            if barrier {
                self.sit_still();
            }
            return false;
        }
        if barrier {
            store_load(&self.visit, OUTSIDE);
        } else {
            // Release: with `visits`: the thread has finished all its reads.
            self.visit.store(OUTSIDE, Release);
        }
        true
    }

    /// Begins a change, and returns how many changes the participant's threads have begun.
    #[inline]
    pub(super) fn count_change(&self) -> usize {
        let changes = self.changes.get().wrapping_add(1);
        self.changes.set(changes);
        changes
    }

    /// Returns how many changes the participant's threads have begun.
    pub(super) fn changes(&self) -> usize {
        self.changes.get()
    }

    /// Lets the participant's thread keep memory from now on. The calling thread is the
    /// participant's thread (D4).
    pub(super) fn begin_parking(&self) {
        if self.parked.get().is_none() {
            // The allocator may use the table, and thereby come first.
            _ = self.parked.set(Box::new(Parked::new()));
        }
    }

    /// Returns the bag of the participant's thread, if it has been made.
    #[inline]
    pub(super) fn bag(&self) -> Option<&Bag> {
        // Acquire: with `make_bag`: the bag is initialised.
        // SAFETY: the bag lasts as long as the participant.
        unsafe { self.bag.load(Acquire).as_ref() }
    }

    /// Returns the bag of the calling thread, which is the participant's thread (D4).
    #[inline]
    pub(super) fn bag_or_new(&self) -> &Bag {
        first_load(None, || self.bag()).unwrap_or_else(|| self.make_bag())
    }

    /// Makes the bag of the calling thread, which is the participant's thread (D4).
    #[cold]
    #[inline(never)]
    fn make_bag(&self) -> &Bag {
        let new = Box::into_raw(Box::new(Bag::new()));
        // Fails if this thread has a bag by now: the allocator has used the table, and thereby made
        // a bag. Under loom, fails in each later call, because `first_load` does not find the bag.
        // Release: with `bag`: the bag is initialised.
        // Acquire on failure: not needed, as the same thread has made the bag (D4).
        let there = (self.bag).compare_exchange(ptr::null_mut(), new, Release, Acquire);
        if let Err(there) = there {
            // SAFETY: made here, and no other thread has seen it.
            drop(unsafe { Box::from_raw(new) });
            // SAFETY: as in `bag`.
            return unsafe { &*there };
        }
        // D8: with the barrier in `Domain::be_prompt`.
        barrier();
        // SAFETY: as in `bag`.
        unsafe { &*new }
    }

    /// Notes a visit that the thread has waited for in vain. The number of the other participant is
    /// cut to 32 bits, so the thread may mistake a visit for another visit. Then the thread does
    /// not wait for the other visit.
    pub(super) fn looked_in_vain(&self, visit: Visit) {
        self.vain_number.set(visit.number as u32);
        self.vain_visit.set(visit.visit);
    }

    /// Returns whether the thread has last waited for this visit, in vain.
    pub(super) fn has_looked(&self, visit: Visit) -> bool {
        (self.vain_number.get(), self.vain_visit.get()) == (visit.number as u32, visit.visit)
    }

    /// Makes the barrier of [`leave`](Self::leave), and does not leave: the visit goes on.
    #[cold]
    pub(super) fn sit_still(&self) {
        store_load(&self.visit, self.visits.get());
    }

    pub(super) fn new(number: usize) -> Self {
        Participant {
            depth: Cell::new(0),
            entries: AtomicUsize::new(0),
            others: AtomicUsize::new(0),
            reads: Cell::new(0),
            registered: Cell::new(0),
            visits: Cell::new(0),
            changes: Cell::new(0),
            vain_number: Cell::new(0),
            vain_visit: Cell::new(OUTSIDE),
            bag: AtomicPtr::new(ptr::null_mut()),
            parked: OnceCell::new(),
            tallies: core::array::from_fn(|_| AtomicUsize::new(0)),
            unused: [0; UNUSED_WORDS],
            number,
            visit: AtomicUsize::new(OUTSIDE),
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        // Relaxed: no other thread has access.
        let bag = self.bag.load(Relaxed);
        if !bag.is_null() {
            // SAFETY: made by `make_bag`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(bag) });
        }
    }
}
