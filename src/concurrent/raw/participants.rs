//! The participant of a thread at a table. The [`directory`](super::directory) has all of a table.
//!
//! **Where a participant has its visit.** A thread that enters exchanges the word
//! [`Participant::visit`] and then reads the table. A processor compares the address of a load with
//! those of stores under way by their low twelve bits first. If these are the same, the load waits
//! for the exchange ("4-KByte aliasing" in Intel's optimization manual), and nothing after it
//! starts meanwhile: measured, a lookup then takes twice as long in a small table, and five times
//! as long in one that is not in the cache. It was the first word of a participant, and the table's
//! pointer to its array the first of 128 bytes: they met in one table of 32. So it is in a place,
//! modulo 128 bytes, where nothing else is that a lookup reads. [`assert_apart`] checks that when
//! it is compiled; the types are `repr(C)`, so that it is true of every compiler.

use core::cell::Cell;
use core::ptr;
use std::boxed::Box;

use super::bag::Bag;
use super::deferred::Visit;
use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, barrier, first_load, store_load};

/// The visit of a participant whose thread is not inside.
pub(super) const OUTSIDE: usize = usize::MAX;

/// On two cache lines of its own: processors fetch them in pairs.
#[repr(C, align(128))]
pub(super) struct Participant<C> {
    /// How many guards its thread has (D4).
    pub(super) depth: Cell<usize>,
    /// Entries inserted by its threads, less those they have removed, modulo 2^n. Written by one
    /// thread (D4), read by all.
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
    /// Where its thread looks next for what others have left (D4).
    pub(super) next_bag: Cursor,
    pub(super) next_list: Cursor,
    /// A list of the dead of others that is full: its thread takes from there until it is empty
    /// (D4).
    pub(super) stays_at: Cell<Option<u8>>,
    /// The visit for whose end its thread has looked last, in vain (D4): the number of the
    /// participant, and the visit.
    vain_number: Cell<u32>,
    vain_visit: Cell<usize>,
    /// Null until its thread has put something there.
    bag: AtomicPtr<Bag<C>>,
    unused: [usize; UNUSED_WORDS],
    /// That of its threads. On the line of the visit: who looks for the one reads the other.
    pub(super) number: usize,
    /// The number of its thread's visit, or [`OUTSIDE`]. The last word: see above.
    pub(super) visit: AtomicUsize,
}

/// Goes round places where something may wait.
pub(super) struct Cursor {
    at: Cell<u32>,
    /// Whether its thread has looked there, and has not gone on.
    looked: Cell<bool>,
    /// The progress there, when its thread looked last.
    noted: Cell<usize>,
}

/// What there is at a place.
pub(super) enum Seen {
    /// There is no such place.
    Absent,
    /// There is nothing where anything could wait: to find that reads a line that another thread
    /// writes.
    Bare,
    Nothing,
    /// Something, after this progress: a number that changes when more comes.
    Some(usize),
    /// Too much to wait for.
    Full,
}

/// How many bare places a look passes by.
const PASSED: usize = 4;

impl Cursor {
    const fn new() -> Self {
        Cursor {
            at: Cell::new(0),
            looked: Cell::new(false),
            noted: Cell::new(0),
        }
    }

    /// Looks at the next of `places`. Returns it if it is full, or if something is there and there
    /// was no progress since the last look. Each place takes two looks at most.
    pub(super) fn look(
        &self,
        places: usize,
        mut progress: impl FnMut(usize) -> Seen,
    ) -> Option<usize> {
        let mut noted = self.looked.take().then_some(self.noted.get());
        let mut passed = 0;
        for _ in 0..places {
            let at = self.at.get() as usize;
            let at = if at < places { at } else { 0 };
            self.at.set(at as u32 + 1);
            match (progress(at), noted) {
                (Seen::Absent, _) => noted = None,
                (Seen::Bare, _) => {
                    noted = None;
                    passed += 1;
                    if passed == PASSED {
                        break;
                    }
                }
                (Seen::Nothing, _) => break,
                (Seen::Full, _) => return Some(at),
                (Seen::Some(now), Some(noted)) => return (now == noted).then_some(at),
                (Seen::Some(now), None) => {
                    self.at.set(at as u32);
                    self.looked.set(true);
                    self.noted.set(now);
                    break;
                }
            }
        }
        None
    }
}

/// So that `visit` is the last word of the two lines. Under loom, whose atomics are larger, it does
/// not matter.
const UNUSED_WORDS: usize = (128 - 2 * size_of::<Cursor>() - 8) / size_of::<usize>() - 11;

/// Checks that a type is aligned, and that some of its fields are never where
/// [`Participant::visit`] is, modulo the size of a page.
macro_rules! assert_apart {
    ($type:ty, $($($field:ident).+),+) => {
        #[cfg(not(weakly_loom))]
        const {
            let align = align_of::<$type>();
            assert!(align == 64 || align == 128);
            $(assert!($crate::concurrent::raw::participants::VISIT % align != core::mem::offset_of!($type, $($field).+) % align);)+
        }
    };
}

pub(super) use assert_apart;

#[cfg(not(weakly_loom))]
pub(super) const VISIT: usize = core::mem::offset_of!(Participant<()>, visit);

#[cfg(all(target_pointer_width = "64", not(weakly_loom)))]
const _: () = assert!(size_of::<Participant<()>>() == 128);

// SAFETY: D4 for the cells; the rest are atomics.
unsafe impl<C> Sync for Participant<C> {}

impl<C> Participant<C> {
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

    /// The bag of this thread, if it has ever put something there; or of another.
    #[inline]
    pub(super) fn bag(&self) -> Option<&Bag<C>> {
        // Acquire: with `bag_or_new`: it is initialised.
        // SAFETY: it lasts as long as the participant.
        unsafe { self.bag.load(Acquire).as_ref() }
    }

    /// The bag of this thread (D4).
    #[inline]
    pub(super) fn bag_or_new(&self) -> &Bag<C> {
        first_load(None, || self.bag()).unwrap_or_else(|| self.make_bag())
    }

    #[cold]
    #[inline(never)]
    fn make_bag(&self) -> &Bag<C> {
        let new = Box::into_raw(Box::new(Bag::new()));
        // The allocator may have used the table, and made a bag.
        // Release: with `bag`: it is initialised. Acquire on failure: likewise.
        let there = (self.bag).compare_exchange(ptr::null_mut(), new, Release, Acquire);
        if let Err(there) = there {
            // SAFETY: made here, and no other thread has seen it.
            drop(unsafe { Box::from_raw(new) });
            // SAFETY: as in `bag`.
            return unsafe { &*there };
        }
        // With `Domain::be_prompt`.
        barrier();
        // SAFETY: as in `bag`.
        unsafe { &*new }
    }

    /// Notes that its thread has looked for the end of a visit in vain. Of a large number it notes
    /// a part: then the thread may take a visit for another one, and does not look for the end of
    /// that.
    pub(super) fn looked_in_vain(&self, visit: Visit) {
        self.vain_number.set(visit.number as u32);
        self.vain_visit.set(visit.visit);
    }

    /// Whether its thread has looked for the end of this visit last, in vain.
    pub(super) fn has_looked(&self, visit: Visit) -> bool {
        (self.vain_number.get(), self.vain_visit.get()) == (visit.number as u32, visit.visit)
    }

    /// The barrier alone: the visit goes on.
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
            next_bag: Cursor::new(),
            next_list: Cursor::new(),
            stays_at: Cell::new(None),
            vain_number: Cell::new(0),
            vain_visit: Cell::new(OUTSIDE),
            bag: AtomicPtr::new(ptr::null_mut()),
            unused: [0; UNUSED_WORDS],
            number,
            visit: AtomicUsize::new(OUTSIDE),
        }
    }
}

impl<C> Drop for Participant<C> {
    fn drop(&mut self) {
        // Relaxed: no other thread is there.
        let bag = self.bag.load(Relaxed);
        if !bag.is_null() {
            // SAFETY: made by `make_bag`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(bag) });
        }
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;

    /// Of three places the first is absent, the second is where more comes all the time, and the
    /// third is left alone.
    #[test]
    fn a_cursor_goes_round() {
        let (cursor, mut comes) = (Cursor::new(), 0);
        let mut look = |left| {
            cursor.look(3, |at| match at {
                0 => Seen::Absent,
                1 => {
                    comes += 1;
                    Seen::Some(comes)
                }
                _ => Seen::Some(left),
            })
        };
        for round in 0..3 {
            assert_eq!([look(round), look(round)], [None, None], "more comes");
            assert_eq!([look(round), look(round)], [None, Some(2)], "left alone");
        }
        assert_eq!([look(9), look(9), look(9), look(8)], [None; 4]);
    }

    #[test]
    fn a_cursor_finds_what_is_full_at_once() {
        let cursor = Cursor::new();
        let look = |full| {
            cursor.look(4, |at| {
                if at == full {
                    Seen::Full
                } else {
                    Seen::Nothing
                }
            })
        };
        assert_eq!([look(1), look(1), look(1)], [None, Some(1), None]);
        assert_eq!([look(0), look(0)], [None, Some(0)]);
        // Fewer places by now, or none.
        assert_eq!(cursor.look(1, |_| Seen::Full), Some(0));
        assert_eq!(cursor.look(1, |_| Seen::Absent), None);
    }
}
