//! How many notices are pending. A death counts nothing: the pusher may not read the notice below
//! its own, which the owner may have freed. A reader of the collection walks down from the top
//! notice to the notice that was the top at the last count, and adds that count.
//!
//! Invariants (N1 to N3 are in `stack`):
//!
//! * **N4** `counted` names a notice by its address. The notice is on the stack as long as it is
//!   named: it leaves the stack only when the owner [takes](StackRef::take) all notices, and with
//!   them the owner takes the name back, before it frees the first. So no other notice has the
//!   address meanwhile.
//! * **N5** Several threads may read the collection at once. `count` belongs to the thread that has
//!   taken the name out, by one exchange, and has left [`BUSY`] there. A thread that finds `BUSY`
//!   walks down to the last notice, and notes nothing. (If a thread that has seen an older top is
//!   the last to note its count, the next count only takes longer.)

use core::ptr;

use super::flavour::{Flavour, Variable};
use super::notice::NoticeLink;
use super::stack::StackRef;
use crate::sync::Ordering::*;

/// In the place of a notice: a thread counts. No notice has this address.
const BUSY: usize = 1;

impl<F: Flavour> StackRef<F> {
    /// Returns the number of notices on the stack. A snapshot, as [`top`](Self::top) is. O(notices
    /// that have come since the last count), or O(notices) while another thread counts.
    pub(crate) fn count(self) -> usize {
        let (stack, top) = (self.get(), self.top());
        if top.is_none() {
            return 0;
        }
        let busy = ptr::without_provenance_mut(BUSY);
        // Acquire: the Release below, with the count.
        let known = stack.counted.swap(busy, Acquire);
        let mut count = 0;
        for notice in top {
            if notice.node().as_ptr() == known {
                count += stack.count.load(Relaxed);
                break;
            }
            count += 1;
        }
        if known != busy {
            stack.count.store(count, Relaxed);
            // Release: the count, for the next thread that counts.
            stack.counted.store(top.as_ptr(), Release);
        }
        count
    }

    /// Returns the number of notices of the batch, which the owner has taken out of this stack.
    /// O(1), or O(notices) the first time.
    pub(crate) fn count_batch(self, batch: NoticeLink<F>) -> usize {
        // Relaxed, also below: a batch does not change while the collection is read, so all threads
        // note the same number.
        let mut count = self.get().batch.load(Relaxed);
        if count == 0 {
            count = batch.into_iter().count();
            self.get().batch.store(count, Relaxed);
        }
        count
    }

    /// Counts a notice off that the owner takes out of its batch. (The last brings a count that is
    /// known to zero.)
    #[inline(always)]
    pub(crate) fn leave_batch(self) {
        let batch = &self.get().batch;
        let count = batch.load(Relaxed);
        if count != 0 {
            batch.store(count - 1, Relaxed);
        }
    }
}
