//! A waker for models, which counts its calls, and a finalizer that waits.

use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;

use super::Payload;
use crate::Strong;
use crate::sync::{AtomicUsize, Ordering::*};

/// The number of calls of a waker since the last look.
pub(crate) struct Woken(AtomicUsize);

impl Woken {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Woken(AtomicUsize::new(0)))
    }

    pub(crate) fn waker(self: &Arc<Self>) -> Option<Waker> {
        Some(Waker::from(Arc::clone(self)))
    }

    /// Returns whether the waker has been called since the last look.
    pub(crate) fn take(&self) -> bool {
        self.take_all() != 0
    }

    /// Returns how often the waker has been called since the last look.
    pub(crate) fn take_all(&self) -> usize {
        self.0.swap(0, Acquire)
    }

    /// Waits until the waker is called.
    pub(crate) fn wait(&self) {
        while self.0.load(Acquire) == 0 {
            loom::thread::yield_now();
        }
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Release);
    }
}

/// The event for which a finalizer waits.
pub(crate) struct Waits(Arc<AtomicUsize>);

impl Waits {
    /// Makes the death of the object wait until the event [ends](Self::end).
    pub(crate) fn of(object: &Strong<Payload>) -> Self {
        let ended = Arc::new(AtomicUsize::new(0));
        let its = Arc::clone(&ended);
        drop(Strong::finalize(object, move || {
            while its.load(Acquire) == 0 {
                loom::thread::yield_now();
            }
        }));
        Waits(ended)
    }

    pub(crate) fn end(&self) {
        self.0.store(1, Release);
    }
}
