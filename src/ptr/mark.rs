//! The mark on a count: whether a strong pointer was made meanwhile.
//!
//! Who wants to know that no thread has a strong pointer to any of several objects cannot learn it
//! from their counts. A thread that always has one, and passes from object to object, is overlooked
//! by counts that are read one after the other; so it is by two whole passes. The mark is what is
//! missing. It makes `clone` and `upgrade` take the path that is there for a count that is too
//! large: nothing is added to the paths that are usual.
//!
//! * **P1** Whoever makes a strong pointer to a marked object takes the mark away before it uses
//!   that pointer.
//!
//! The check, for a set of objects whose strong pointers should all be known, has three passes:
//! [mark](Block::mark) each, [count](Block::count_marked) each, [unmark](Block::unmark) each. If
//! each object had the expected count in the last two passes, and its mark to the end, then no
//! other strong pointer to any of them exists, except what has since been made from a weak pointer.
//!
//! The argument. In the order of an object's count, another pointer p to an object X was made
//! before X was counted, between that and when it was unmarked, or later.
//!
//! * Before: it is in that count, unless it was dropped before that too.
//! * Between: by P1 its maker takes the mark away before it drops p. So either the mark is gone
//!   when X is to be unmarked, or p has not been dropped, and is in the count. (An exhaustive
//!   search finds nothing that only the count of the last pass shows; with it, the argument is
//!   short.)
//! * Later: p was made from a pointer to some object Y of the set. That one existed when p was
//!   made, so by the cases above it was made later as well, and so on back to one that was made
//!   from a weak pointer. (Or it was dropped before Y was counted. But then p was made before that,
//!   and so before X was unmarked: the drop releases, and the count acquires.)
//!
//! This takes it for granted that strong pointers are made by `clone` and `upgrade`, and that none
//! is moved out of an object of the set meanwhile: the caller has to know that.
//!
//! Only one thread at a time may check: it would take another's mark for its own.

use super::flavour::{Flavour, Variable, abort};
use super::header::{Block, DEAD, MARK, MAX_STRONG, is_marked};
use crate::sync::Ordering::*;

/// No object with more strong pointers is marked: those that are made while it is marked are
/// counted below the mark.
const MAX_MARKED: u32 = 1 << 28;

impl<F: Flavour> Block<F> {
    /// Marks the count. False if the object has too many strong pointers.
    ///
    /// The caller has a strong pointer, which it keeps until it has unmarked the object: so the
    /// count never steps to zero while it is marked.
    pub(crate) fn mark(self) -> bool {
        self.change_count(1, |count| (count <= MAX_MARKED).then_some(count | MARK))
            .is_some()
    }

    /// The number of strong pointers to an object that this thread has marked.
    pub(crate) fn count_marked(self) -> u32 {
        // A read-modify-write, so that it is the last value of the modification order, whatever it
        // is.
        self.change_count(1, Some).unwrap_or(0) & !MARK
    }

    /// Takes the mark away. The number of strong pointers, if it was still there.
    pub(crate) fn unmark(self) -> Option<u32> {
        self.change_count(MARK | 1, |count| is_marked(count).then_some(count & !MARK))
            .map(|count| count & !MARK)
    }

    /// Changes the count by a compare-exchange, if `change` returns another one. Returns the old
    /// one.
    fn change_count(self, guess: u32, change: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let count = &self.header().count;
        let mut now = count.first_load(guess);
        loop {
            // Acquire: the releases of the drops of other strong pointers, and what their threads
            // did before.
            match count.compare_exchange(now, change(now)?, Acquire, Relaxed) {
                Ok(_) => return Some(now),
                Err(other) => now = other,
            }
        }
    }

    /// A clone has counted itself, and found a mark, or too large a count.
    // Not told which: the count before would cost every clone three instructions.
    #[cold]
    #[inline(never)]
    pub(super) fn cloned_marked(self) {
        // P1. (Another thread may have taken it away by now.)
        let marked = self.change_count(MARK | 2, |count| is_marked(count).then_some(count & !MARK));
        // Relaxed: nothing is read because of it.
        if marked.is_none() && self.header().count.load(Relaxed) & DEAD != 0 {
            abort();
        }
    }

    /// An upgrade that is not one compare-exchange: it has found no strong pointer, a mark, too
    /// large a count, or that another thread changes it. `now` is the last count that it has seen.
    // With the loop, so that what is inlined is short. (A lookup of a weak value that had all of
    // this inline was too long to be inlined itself, which cost it 5 to 20 %.)
    #[cold]
    #[inline(never)]
    pub(super) fn upgrade_marked(self, now: u32) -> bool {
        let one_more = |count: u32| {
            if is_marked(count) {
                // P1.
                Some((count + 1) & !MARK)
            } else if count == 0 || count & DEAD != 0 {
                // Both are final for every constructed object.
                None
            } else if count > MAX_STRONG {
                abort()
            } else {
                Some(count + 1)
            }
        };
        self.change_count(now, one_more).is_some()
    }
}
