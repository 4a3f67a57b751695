//! The frame of a thread: which computation the thread runs now.

use core::marker::PhantomData;
use std::sync::Arc;

use super::reservation::Reservation;
use crate::sync::{Exclusive, Own, thread_local};

thread_local! {
    /// The innermost computation whose code the current thread runs. Outside of computations the
    /// thread-local owns nothing.
    static CURRENT: Own<Option<Arc<Reservation>>> = const { Own::new(None) };
}

/// Runs code of a computation: until the drop of the frame, the computation is the
/// [current](Reservation::current) computation of the thread. The leader sets a frame around all
/// user code that runs while its reservation is linked: around a closure, a poll, a clone, a drop.
pub(crate) struct Frame {
    own: *const Reservation,
    before: Option<Arc<Reservation>>,
    here: PhantomData<*mut ()>,
}

impl Reservation {
    pub(in super::super) fn frame(this: &Arc<Self>) -> Frame {
        Frame {
            own: Arc::as_ptr(this),
            before: CURRENT.with(|current| current.replace(Some(Arc::clone(this)))),
            here: PhantomData,
        }
    }

    /// The computation whose code the current thread runs.
    pub(in super::super) fn current() -> Option<Arc<Self>> {
        CURRENT.with(|current| current.enter().clone())
    }

    /// Whether the current thread runs code of this computation, and of none inside it.
    pub(super) fn is_current(this: Option<&Arc<Self>>) -> bool {
        CURRENT.with(|current| current.enter().as_ref().map(Arc::as_ptr) == this.map(Arc::as_ptr))
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let before = self.before.take();
        let ended = CURRENT.with(|current| {
            let mut current = current.enter();
            // Coroutines end their frames in any order: an inner frame stays.
            match current
                .as_ref()
                .is_some_and(|current| Arc::as_ptr(current) == self.own)
            {
                true => core::mem::replace(&mut *current, before),
                false => before,
            }
        });
        drop(ended);
    }
}
