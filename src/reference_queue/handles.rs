//! The count of a queue's handles. A delivery has one too, as long as it is under way (M3).
//!
//! Whoever gives up the last one takes out what is left, and has a handle meanwhile: what the
//! messages' destructors put in comes out after them, without recursion. A death on another thread
//! may put one more in between the end of that and the last handle. So the queue is over when the
//! count is zero, and there is no message *after* that.

#[cfg(all(test, weakly_loom))]
mod models;

use crate::sync::{AtomicUsize, Ordering::*};

pub(super) struct Handles(AtomicUsize);

impl Handles {
    /// One.
    pub(super) fn new() -> Self {
        Handles(AtomicUsize::new(1))
    }

    /// One more.
    #[inline]
    pub(super) fn enter(&self) {
        // Relaxed: the caller has another, or is a delivery, which leaves after its message.
        self.0.fetch_add(1, Relaxed);
    }

    /// One less. The last one takes the messages out.
    #[inline]
    pub(super) fn leave(&self, is_empty: impl Fn() -> bool, take_out: impl Fn()) {
        while self.is_last() && !is_empty() {
            self.enter();
            let unwinding = Unwinding(self);
            take_out();
            core::mem::forget(unwinding);
        }
    }

    /// Gives one up, and returns whether it was the last.
    #[inline]
    fn is_last(&self) -> bool {
        // Release and acquire: the messages of those that have left before.
        self.0.fetch_sub(1, AcqRel) == 1
    }
}

/// Gives the handle up when a destructor panics.
struct Unwinding<'a>(&'a Handles);

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        self.0.is_last();
    }
}
