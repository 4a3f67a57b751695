//! The seats at a table: one for each thread number that uses it.
//!
//! Seats are allocated in *benches*, each twice as long as the one before, when a thread with such a number first
//! comes. They never move, so a seat is found by its number alone, without a lock.
//!
//! **Where a seat has its visit.** A thread that enters exchanges the word [`Seat::visit`] and then reads the table.
//! A processor compares the address of a load with those of stores under way by their low twelve bits first. If
//! these are the same, the load waits for the exchange ("4-KByte aliasing" in Intel's optimization manual), and
//! nothing after it starts meanwhile: measured, a lookup then takes twice as long in a small table, and five times
//! as long in one that is not in the cache. It was the first word of a seat, and the table's pointer to its
//! array the first of 128 bytes: they met in one table of 32. So it is in a place, modulo 128 bytes, where
//! nothing else is that a lookup reads. [`assert_apart`] checks that when it is compiled; the types are `repr(C)`, so
//! that it is true of every compiler.

use core::cell::Cell;
use core::ptr;
use std::boxed::Box;

use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, const_fn, store_load};

/// The visit of a seat whose thread is not inside.
pub(super) const OUTSIDE: usize = usize::MAX;
/// The depth of a seat that no thread has used.
pub(super) const UNUSED: usize = usize::MAX;

/// Seats of the first bench; each further bench has twice as many as the one before.
#[cfg(not(weakly_loom))]
const FIRST_BENCH: usize = 8;
#[cfg(weakly_loom)]
const FIRST_BENCH: usize = 3;
/// Enough for more threads than a process can have.
#[cfg(not(weakly_loom))]
const BENCHES: usize = 26;
#[cfg(weakly_loom)]
const BENCHES: usize = 1;

/// On two cache lines of its own: processors fetch them in pairs.
#[repr(C, align(128))]
pub(super) struct Seat {
    /// How many guards its thread has (D4), or [`UNUSED`].
    pub(super) depth: Cell<usize>,
    /// Entries inserted by its threads, less those they have removed, modulo 2^n. Written by one thread (D4), read
    /// by all.
    pub(super) entries: AtomicUsize,
    /// How often its threads have read, modulo 2^n, where that is counted (D4).
    pub(super) reads: Cell<usize>,
    /// Registrations made by its threads, modulo 2^n (D4).
    pub(super) registered: Cell<usize>,
    /// The number of the last visit, modulo half the numbers (D4).
    visits: Cell<usize>,
    unused: [usize; UNUSED_WORDS],
    /// The number of its thread's visit, or [`OUTSIDE`]. The last word: see above.
    pub(super) visit: AtomicUsize,
}

/// So that `visit` is the last word of the two lines. Under loom, whose atomics are larger, it does not matter.
const UNUSED_WORDS: usize = 128 / size_of::<usize>() - 6;

/// Checks that a type is aligned, and that some of its fields are never where [`Seat::visit`] is, modulo the size
/// of a page.
macro_rules! assert_apart {
    ($type:ty, $($field:ident),+) => {
        #[cfg(not(weakly_loom))]
        const {
            let align = align_of::<$type>();
            assert!(align == 64 || align == 128);
            $(assert!($crate::concurrent::raw::seats::VISIT % align != core::mem::offset_of!($type, $field) % align);)+
        }
    };
}

pub(super) use assert_apart;

#[cfg(not(weakly_loom))]
pub(super) const VISIT: usize = core::mem::offset_of!(Seat, visit);

// SAFETY: D4 for the cells; the rest are atomics.
unsafe impl Sync for Seat {}

impl Seat {
    /// D1: its thread, which is outside, begins a visit: the seat first, then the table.
    #[inline(always)]
    pub(super) fn sit_down(&self) {
        self.depth.set(1);
        let visit = self.visits.get().wrapping_add(1) & (OUTSIDE >> 1);
        self.visits.set(visit);
        store_load(&self.visit, visit);
    }

    /// The barrier alone: the visit goes on.
    #[cold]
    pub(super) fn sit_still(&self) {
        store_load(&self.visit, self.visits.get());
    }

    fn new() -> Self {
        Seat {
            depth: Cell::new(UNUSED),
            entries: AtomicUsize::new(0),
            reads: Cell::new(0),
            registered: Cell::new(0),
            visits: Cell::new(0),
            unused: [0; UNUSED_WORDS],
            visit: AtomicUsize::new(OUTSIDE),
        }
    }
}

/// All seats at a table.
#[repr(C)]
pub(super) struct Seats {
    benches: [AtomicPtr<Seat>; BENCHES],
    /// No seat with this number or a higher one has been used.
    top: AtomicUsize,
}

/// The bench of a seat, and its place there.
#[inline]
const fn locate(number: usize) -> (usize, usize) {
    if number < FIRST_BENCH {
        return (0, number);
    }
    let bench = (number / FIRST_BENCH + 1).ilog2() as usize;
    (bench, number - FIRST_BENCH * ((1 << bench) - 1))
}

impl Seats {
    const_fn! {
        pub(super) fn new() -> Seats {
            Seats {
                top: AtomicUsize::new(0),
                #[cfg(not(weakly_loom))]
                benches: [const { AtomicPtr::new(ptr::null_mut()) }; BENCHES],
                #[cfg(weakly_loom)]
                benches: [AtomicPtr::new(ptr::null_mut())],
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> &Seat {
        let (bench, at) = locate(number);
        match self.seat(bench, at) {
            Some(seat) => seat,
            None => self.add_bench(bench, at),
        }
    }

    /// A seat, if its bench is there.
    #[inline]
    pub(super) fn find(&self, number: usize) -> Option<&Seat> {
        let (bench, at) = locate(number);
        self.seat(bench, at)
    }

    #[inline]
    fn seat(&self, bench: usize, at: usize) -> Option<&Seat> {
        // Acquire: with `add_bench`, perhaps of another thread: the seats are initialised.
        let seats = self.benches[bench].load(Acquire);
        // SAFETY: a bench has as many seats (`locate`), and lasts as long as this.
        (!seats.is_null()).then(|| unsafe { &*seats.add(at) })
    }

    #[cold]
    fn add_bench(&self, bench: usize, at: usize) -> &Seat {
        let seats: Box<[Seat]> = (0..FIRST_BENCH << bench).map(|_| Seat::new()).collect();
        let new = Box::into_raw(seats).cast::<Seat>();
        // Release: with the loads in `get` and `each`: the seats are initialised. Acquire on failure: likewise for
        // the winner's.
        let seats =
            match self.benches[bench].compare_exchange(ptr::null_mut(), new, Release, Acquire) {
                Ok(_) => new,
                Err(there) => {
                    // SAFETY: made here, with as many seats, and no other thread has seen it.
                    unsafe { free_bench(new, bench) };
                    there
                }
            };
        // SAFETY: as in `get`.
        unsafe { &*seats.add(at) }
    }

    /// A thread with this number sits down for the first time: [`each`](Self::each) visits its seat from now on.
    #[inline]
    pub(super) fn include(&self, number: usize) {
        // Relaxed: the caller's barrier, which follows, makes `Domain::visits` see it, as it sees the seat.
        self.top.fetch_max(number + 1, Relaxed);
    }

    /// The first of the numbers whose seats have not been used.
    #[inline]
    pub(super) fn top(&self) -> usize {
        // Relaxed: after the caller's barrier, if it matters (D1).
        self.top.load(Relaxed)
    }

    /// Visits all seats that have been used, also by threads that are gone.
    #[inline]
    pub(super) fn each(&self, mut look: impl FnMut(usize, &Seat)) {
        let top = self.top();
        let mut first = 0;
        for (bench, seats) in self.benches.iter().enumerate() {
            if first >= top {
                return;
            }
            let used = (top - first).min(FIRST_BENCH << bench);
            // Acquire: as in `get`.
            let seats = seats.load(Acquire);
            // A bench of which no seat has been used may not be there.
            if !seats.is_null() {
                // SAFETY: a bench has as many seats, and lasts as long as this.
                (0..used).for_each(|at| look(first + at, unsafe { &*seats.add(at) }));
            }
            first += FIRST_BENCH << bench;
        }
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        for bench in 0..BENCHES {
            // Relaxed: no other thread is there.
            let seats = self.benches[bench].load(Relaxed);
            if !seats.is_null() {
                // SAFETY: made by `add_bench`, and no thread sits there.
                unsafe { free_bench(seats, bench) };
            }
        }
    }
}

/// # Safety
/// `add_bench` made the seats for this bench, and no thread uses them.
unsafe fn free_bench(seats: *mut Seat, bench: usize) {
    let seats = ptr::slice_from_raw_parts_mut(seats, FIRST_BENCH << bench);
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(seats) });
}
