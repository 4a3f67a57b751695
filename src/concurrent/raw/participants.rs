//! The participants at a table: one for each thread number that uses it.
//!
//! Participants are allocated in *chunks*, each twice as long as the one before, when a thread with such a number first
//! comes. They never move, so a participant is found by its number alone, without a lock.
//!
//! **Where a participant has its visit.** A thread that enters exchanges the word [`Participant::visit`] and then reads
//! the table. A processor compares the address of a load with those of stores under way by their low twelve bits first.
//! If these are the same, the load waits for the exchange ("4-KByte aliasing" in Intel's optimization manual), and
//! nothing after it starts meanwhile: measured, a lookup then takes twice as long in a small table, and five times
//! as long in one that is not in the cache. It was the first word of a participant, and the table's pointer to its
//! array the first of 128 bytes: they met in one table of 32. So it is in a place, modulo 128 bytes, where
//! nothing else is that a lookup reads. [`assert_apart`] checks that when it is compiled; the types are `repr(C)`, so
//! that it is true of every compiler.

use core::cell::Cell;
use core::ptr;
use std::boxed::Box;

use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, const_fn, store_load};

/// The visit of a participant whose thread is not inside.
pub(super) const OUTSIDE: usize = usize::MAX;
/// The depth of a participant that no thread has used.
pub(super) const UNUSED: usize = usize::MAX;

/// Participants of the first chunk; each further chunk has twice as many as the one before.
#[cfg(not(weakly_loom))]
const FIRST_CHUNK: usize = 8;
#[cfg(weakly_loom)]
const FIRST_CHUNK: usize = 3;
/// Enough for more threads than a process can have.
#[cfg(not(weakly_loom))]
const CHUNKS: usize = 26;
#[cfg(weakly_loom)]
const CHUNKS: usize = 1;

/// On two cache lines of its own: processors fetch them in pairs.
#[repr(C, align(128))]
pub(super) struct Participant {
    /// How many guards its thread has (D4), or [`UNUSED`].
    pub(super) depth: Cell<usize>,
    /// Entries inserted by its threads, less those they have removed, modulo 2^n. Written by one thread (D4), read
    /// by all.
    pub(super) entries: AtomicUsize,
    /// The same of entries that are [not counted](super::Entry::is_counted).
    pub(super) others: AtomicUsize,
    /// How often its threads have read, modulo 2^n, where that is counted (D4).
    pub(super) reads: Cell<usize>,
    /// Registrations made by its threads, modulo 2^n (D4).
    pub(super) registered: Cell<usize>,
    /// The number of the last visit, modulo half the numbers (D4).
    visits: Cell<usize>,
    /// How many changes its threads have begun, modulo 2^n (D4).
    changes: Cell<usize>,
    unused: [usize; UNUSED_WORDS],
    /// The number of its thread's visit, or [`OUTSIDE`]. The last word: see above.
    pub(super) visit: AtomicUsize,
}

/// So that `visit` is the last word of the two lines. Under loom, whose atomics are larger, it does not matter.
const UNUSED_WORDS: usize = 128 / size_of::<usize>() - 8;

/// Checks that a type is aligned, and that some of its fields are never where [`Participant::visit`] is, modulo the
/// size of a page.
macro_rules! assert_apart {
    ($type:ty, $($field:ident),+) => {
        #[cfg(not(weakly_loom))]
        const {
            let align = align_of::<$type>();
            assert!(align == 64 || align == 128);
            $(assert!($crate::concurrent::raw::participants::VISIT % align != core::mem::offset_of!($type, $field) % align);)+
        }
    };
}

pub(super) use assert_apart;

#[cfg(not(weakly_loom))]
pub(super) const VISIT: usize = core::mem::offset_of!(Participant, visit);

// SAFETY: D4 for the cells; the rest are atomics.
unsafe impl Sync for Participant {}

impl Participant {
    /// D1: its thread, which is outside, begins a visit: the participant first, then the table.
    #[inline(always)]
    pub(super) fn sit_down(&self) {
        self.depth.set(1);
        let visit = self.visits.get().wrapping_add(1) & (OUTSIDE >> 1);
        self.visits.set(visit);
        store_load(&self.visit, visit);
    }

    /// Begins a change, and returns how many its threads have begun.
    #[inline]
    pub(super) fn count_change(&self) -> usize {
        let changes = self.changes.get().wrapping_add(1);
        self.changes.set(changes);
        changes
    }

    /// The barrier alone: the visit goes on.
    #[cold]
    pub(super) fn sit_still(&self) {
        store_load(&self.visit, self.visits.get());
    }

    fn new() -> Self {
        Participant {
            depth: Cell::new(UNUSED),
            entries: AtomicUsize::new(0),
            others: AtomicUsize::new(0),
            reads: Cell::new(0),
            registered: Cell::new(0),
            visits: Cell::new(0),
            changes: Cell::new(0),
            unused: [0; UNUSED_WORDS],
            visit: AtomicUsize::new(OUTSIDE),
        }
    }
}

/// All participants at a table.
#[repr(C)]
pub(super) struct Participants {
    chunks: [AtomicPtr<Participant>; CHUNKS],
    /// No participant with this number or a higher one has been used.
    top: AtomicUsize,
    /// How many participants have been used.
    included: AtomicUsize,
}

/// The chunk of a participant, and its place there.
#[inline]
const fn locate(number: usize) -> (usize, usize) {
    if number < FIRST_CHUNK {
        return (0, number);
    }
    let chunk = (number / FIRST_CHUNK + 1).ilog2() as usize;
    (chunk, number - FIRST_CHUNK * ((1 << chunk) - 1))
}

impl Participants {
    const_fn! {
        pub(super) fn new() -> Participants {
            Participants {
                top: AtomicUsize::new(0),
                included: AtomicUsize::new(0),
                #[cfg(not(weakly_loom))]
                chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS],
                #[cfg(weakly_loom)]
                chunks: [AtomicPtr::new(ptr::null_mut())],
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> &Participant {
        let (chunk, at) = locate(number);
        match self.participant(chunk, at) {
            Some(participant) => participant,
            None => self.add_chunk(chunk, at),
        }
    }

    /// A participant, if its chunk is there.
    #[inline]
    pub(super) fn find(&self, number: usize) -> Option<&Participant> {
        let (chunk, at) = locate(number);
        self.participant(chunk, at)
    }

    #[inline]
    fn participant(&self, chunk: usize, at: usize) -> Option<&Participant> {
        // Acquire: with `add_chunk`, perhaps of another thread: the participants are initialised.
        let participants = self.chunks[chunk].load(Acquire);
        // SAFETY: a chunk has as many participants (`locate`), and lasts as long as this.
        (!participants.is_null()).then(|| unsafe { &*participants.add(at) })
    }

    #[cold]
    fn add_chunk(&self, chunk: usize, at: usize) -> &Participant {
        let participants: Box<[Participant]> = (0..FIRST_CHUNK << chunk)
            .map(|_| Participant::new())
            .collect();
        let new = Box::into_raw(participants).cast::<Participant>();
        // Release: with the loads in `get` and `each`: the participants are initialised. Acquire on failure: likewise
        // for the winner's.
        let participants =
            match self.chunks[chunk].compare_exchange(ptr::null_mut(), new, Release, Acquire) {
                Ok(_) => new,
                Err(there) => {
                    // SAFETY: made here, with as many participants, and no other thread has seen it.
                    unsafe { free_bench(new, chunk) };
                    there
                }
            };
        // SAFETY: as in `get`.
        unsafe { &*participants.add(at) }
    }

    /// A thread with this number enters for the first time: [`each`](Self::each) visits its participant from now on.
    #[inline]
    pub(super) fn include(&self, number: usize) {
        // Relaxed: the caller's barrier, which follows, makes `Domain::visits` see it, as it sees the participant.
        self.top.fetch_max(number + 1, Relaxed);
        // Relaxed: a hint.
        self.included.fetch_add(1, Relaxed);
    }

    /// How many participants have been used. A hint.
    #[inline]
    pub(super) fn included(&self) -> usize {
        self.included.load(Relaxed)
    }

    /// The first of the numbers whose participants have not been used.
    #[inline]
    pub(super) fn top(&self) -> usize {
        // Relaxed: after the caller's barrier, if it matters (D1).
        self.top.load(Relaxed)
    }

    /// Visits all participants that have been used, also by threads that are gone.
    #[inline]
    pub(super) fn each(&self, mut look: impl FnMut(usize, &Participant)) {
        let top = self.top();
        let mut first = 0;
        for (chunk, participants) in self.chunks.iter().enumerate() {
            if first >= top {
                return;
            }
            let used = (top - first).min(FIRST_CHUNK << chunk);
            // Acquire: as in `get`.
            let participants = participants.load(Acquire);
            // A chunk of which no participant has been used may not be there.
            if !participants.is_null() {
                // SAFETY: a chunk has as many participants, and lasts as long as this.
                (0..used).for_each(|at| look(first + at, unsafe { &*participants.add(at) }));
            }
            first += FIRST_CHUNK << chunk;
        }
    }
}

impl Drop for Participants {
    fn drop(&mut self) {
        for chunk in 0..CHUNKS {
            // Relaxed: no other thread is there.
            let participants = self.chunks[chunk].load(Relaxed);
            if !participants.is_null() {
                // SAFETY: made by `add_chunk`, and no thread sits there.
                unsafe { free_bench(participants, chunk) };
            }
        }
    }
}

/// # Safety
/// `add_chunk` made the participants for this chunk, and no thread uses them.
unsafe fn free_bench(participants: *mut Participant, chunk: usize) {
    let participants = ptr::slice_from_raw_parts_mut(participants, FIRST_CHUNK << chunk);
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(participants) });
}
