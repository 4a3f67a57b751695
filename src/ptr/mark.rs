//! The mark on a count: it shows whether a strong pointer was made during a check.
//!
//! Counts alone cannot show that no other thread holds a strong pointer into a set of objects.
//! While one thread reads the counts one by one, another thread can move its pointer from an object
//! that has not been read yet to an object that has. Two full passes have the same hole.
//!
//! The mark closes the hole. `clone` and `upgrade` already have a slow path for a count that is too
//! large, and a marked count leads them into the slow path. The usual paths get no further
//! instruction.
//!
//! * **P1** A thread that makes a strong pointer to a marked object takes the mark away before the
//!   thread uses the pointer.
//!
//! A check is about a set of objects whose strong pointers should all be known. It has three
//! passes: [mark](Block::mark) each object, [count](Block::count_marked) each,
//! [unmark](Block::unmark) each. Suppose that each object has the expected count in the last two
//! passes, and its mark to the end. Then no other strong pointer to any object of the set exists,
//! except pointers made from weak pointers since then.
//!
//! The argument. Let p be another strong pointer to an object X of the set. In the order of X's
//! count, p was made before the count of X, between the count and the unmarking of X, or after the
//! unmarking.
//!
//! * Made before the count: p is in the count, unless p was dropped before the count, too.
//! * Made between the two: by P1 the maker of p takes the mark away before it drops p. So at the
//!   unmarking of X the mark is gone, or p has not been dropped and is counted by the unmarking.
//!   (An exhaustive search finds no error that only the count of the last pass shows. The last
//!   count makes the argument short.)
//! * Made later: p was made from a pointer q to some object Y of the set. Pointer q existed when p
//!   was made, so by the cases above q was made after the unmarking of Y. The same holds for the
//!   pointer from which q was made, and so on, back to a pointer that was made from a weak pointer.
//!   (The other possibility is that q was dropped before Y was counted. Then p was made before the
//!   count of Y, and so before the unmarking of X, since the drop releases and the count acquires.)
//!
//! The argument assumes that strong pointers are made only by `clone` and `upgrade`, and that no
//! strong pointer is moved out of an object of the set during the check. The caller has to ensure
//! the second condition.
//!
//! Only one thread at a time may check: two threads would take each other's marks for their own.

use super::flavour::{Flavour, Variable, abort};
use super::header::{Block, DEAD, MARK, MAX_STRONG, is_marked};
use crate::sync::Ordering::*;

/// The largest number of strong pointers with which an object is marked. Pointers made while the
/// object is marked are counted below the mark.
const MAX_MARKED: u32 = 1 << 28;

impl<F: Flavour> Block<F> {
    /// Marks the count. Returns false, without a mark, if the object has too many strong pointers.
    ///
    /// The caller has a strong pointer, and keeps the pointer until it has unmarked the object. So
    /// the count never steps to zero while it is marked.
    pub(crate) fn mark(self) -> bool {
        self.change_count(1, |count| (count <= MAX_MARKED).then_some(count | MARK))
            .is_some()
    }

    /// Returns the number of strong pointers to an object that this thread has marked.
    pub(crate) fn count_marked(self) -> u32 {
        // A read-modify-write reads the last value of the modification order, whatever the value
        // is.
        self.change_count(1, Some).unwrap_or(0) & !MARK
    }

    /// Takes the mark away. Returns the number of strong pointers, or `None` if the mark was gone.
    pub(crate) fn unmark(self) -> Option<u32> {
        self.change_count(MARK | 1, |count| is_marked(count).then_some(count & !MARK))
            .map(|count| count & !MARK)
    }

    /// Changes the count by a compare-exchange to the value that `change` returns. Returns the old
    /// count, or `None` if `change` returns none. `guess` is a count that the object often has, for
    /// [`first_load`](Variable::first_load): only models under loom use the guess.
    fn change_count(self, guess: u32, change: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let count = &self.header().count;
        let mut now = count.first_load(guess);
        loop {
            // Acquire: the Release of the drops of other strong pointers. All that their threads
            // did before happens before.
            match count.compare_exchange(now, change(now)?, Acquire, Relaxed) {
                Ok(_) => return Some(now),
                Err(other) => now = other,
            }
        }
    }

    /// Finishes a clone that has counted itself, and has found a mark or too large a count.
    // The clone does not say which: to keep the count before would cost every clone three
    // instructions.
    #[cold]
    #[inline(never)]
    pub(super) fn cloned_marked(self) {
        // P1. (Another thread may have taken the mark away by now.)
        let marked = self.change_count(MARK | 2, |count| is_marked(count).then_some(count & !MARK));
        // Relaxed: the value guards no other memory.
        if marked.is_none() && self.header().count.load(Relaxed) & DEAD != 0 {
            abort();
        }
    }

    /// Upgrades where a single compare-exchange was not enough: the caller has found no strong
    /// pointer, a mark, or too large a count, or another thread has changed the count. `now` is the
    /// last count that the caller has seen.
    // The loop is out of line, too, so that the inlined code is short. (With all of the code
    // inline, a lookup of a weak value was too long to be inlined itself, which cost the lookup 5
    // to 20 %.)
    #[cold]
    #[inline(never)]
    pub(super) fn upgrade_marked(self, now: u32) -> bool {
        let one_more = |count: u32| {
            if is_marked(count) {
                // P1.
                Some((count + 1) & !MARK)
            } else if count == 0 || count & DEAD != 0 {
                // Zero and `DEAD` are final for every constructed object.
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
