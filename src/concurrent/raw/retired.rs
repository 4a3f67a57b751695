//! Retired objects, and panics of destructors.

use core::any::Any;
use core::mem;
use core::panic::AssertUnwindSafe;
use std::boxed::Box;
use std::panic;
use std::thread;

/// An unlinked object: no thread can find it any more, though some may still look at it.
pub(super) struct Retired<C> {
    object: *mut (),
    destroy: unsafe fn(*mut (), &C),
}

// SAFETY: `new` demands that it may be destroyed on any thread that uses the table.
unsafe impl<C> Send for Retired<C> {}

impl<C> Retired<C> {
    /// # Safety
    /// Once no thread looks at the object any more, `destroy` may be called for it, once, on any thread that uses
    /// or drops the table.
    #[inline]
    pub(super) unsafe fn new<T>(object: *mut T, destroy: unsafe fn(*mut (), &C)) -> Self {
        let object = object.cast();
        Retired { object, destroy }
    }

    /// # Safety
    /// No thread looks at the object any more.
    #[inline]
    pub(super) unsafe fn destroy(self, context: &C) {
        // SAFETY: promised to `new` and here; and `self` is consumed, so this happens once.
        unsafe { (self.destroy)(self.object, context) }
    }
}

/// The first panic of several destructors. A panic keeps none of the others from running.
#[derive(Default)]
pub(in super::super) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Runs a closure, and keeps its panic's payload if it is the first.
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

    /// Resumes the first panic, unless this thread is already panicking.
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

/// Drops the payload of a panic that is not resumed. If that panics too, the second payload is leaked.
#[cold]
fn swallow(payload: Box<dyn Any + Send>) {
    if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(again);
    }
}
