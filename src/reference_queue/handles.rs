//! The count of a queue's handles. A delivery under way has a handle, too (M3).
//!
//! The thread that gives up the last handle takes out the remaining messages, and has a handle
//! meanwhile: a message put in by the destructor of another message comes out afterwards, without
//! recursion. A death on another thread may put in a message after the last message was taken out
//! and before the thread gives up its handle. So the thread looks again: the queue is over when the
//! count is zero, and a look *after* that finds no message.

#[cfg(all(test, weakly_loom))]
mod models;

use crate::sync::{AtomicUsize, Ordering::*};

pub(super) struct Handles(AtomicUsize);

impl Handles {
    /// Creates the count of one handle.
    pub(super) fn new() -> Self {
        Handles(AtomicUsize::new(1))
    }

    /// Counts one more handle.
    #[inline]
    pub(super) fn enter(&self) {
        // Relaxed: the caller has another handle, or is a delivery, which leaves after its message
        // is in.
        self.0.fetch_add(1, Relaxed);
    }

    /// Counts one handle less. The last handle takes the messages out.
    #[inline]
    pub(super) fn leave(&self, is_empty: impl Fn() -> bool, take_out: impl Fn()) {
        while self.is_last() && !is_empty() {
            self.enter();
            let unwinding = Unwinding(self);
            take_out();
            core::mem::forget(unwinding);
        }
    }

    /// Gives up a handle, and returns whether it was the last.
    #[inline]
    fn is_last(&self) -> bool {
        // AcqRel: with the other decrements. The last one sees the messages of all earlier ones.
        self.0.fetch_sub(1, AcqRel) == 1
    }
}

/// Gives up the handle when a message's destructor panics.
struct Unwinding<'a>(&'a Handles);

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        self.0.is_last();
    }
}
