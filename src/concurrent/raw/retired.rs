//! What is unlinked, until it is destroyed; and destructors that panic.

use core::any::Any;
use core::mem;
use core::panic::AssertUnwindSafe;
use std::boxed::Box;
use std::panic;
use std::thread;

/// Something that nobody can find any more, though some may still look at it.
pub(super) struct Retired<C> {
    object: *mut (),
    destroy: unsafe fn(*mut (), &C),
}

// SAFETY: `retire` asks that it may be destroyed on any thread that uses the table.
unsafe impl<C> Send for Retired<C> {}

impl<C> Retired<C> {
    /// # Safety
    /// Once nobody looks at the object any more, `destroy` may be called for it, once, on whatever thread
    /// uses or ends the table.
    #[inline]
    pub(super) unsafe fn new<T>(object: *mut T, destroy: unsafe fn(*mut (), &C)) -> Self {
        let object = object.cast();
        Retired { object, destroy }
    }

    /// # Safety
    /// Nobody looks at the object any more.
    #[inline]
    pub(super) unsafe fn destroy(self, context: &C) {
        // SAFETY: promised to `new` and here, and `self` is gone with it.
        unsafe { (self.destroy)(self.object, context) }
    }
}

/// The first panic of several destructors, none of which keeps the next from being run.
#[derive(Default)]
pub(in super::super) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Runs it, and keeps what it panics with, if it is the first.
    #[inline]
    pub(in super::super) fn catch(&mut self, run: impl FnOnce()) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(run)) {
            if self.0.is_some() {
                swallow(payload);
            } else {
                self.0 = Some(payload);
            }
        }
    }

    /// Panics as the first did, unless this thread panics already.
    #[inline]
    pub(in super::super) fn resume(self) {
        if let Some(payload) = self.0 {
            if thread::panicking() {
                swallow(payload);
            } else {
                panic::resume_unwind(payload);
            }
        }
    }
}

/// Ends a panic of which nobody hears. Its payload's destructor may panic too; the payload of that is leaked.
#[cold]
fn swallow(payload: Box<dyn Any + Send>) {
    if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(again);
    }
}
