//! The frame of a thread: which computation the thread runs now.

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use std::sync::Arc;

use super::reservation::Reservation;
use crate::sync::thread_local;

type Current = ManuallyDrop<Cell<Option<Arc<Reservation>>>>;

thread_local! {
    /// The innermost computation whose code the current thread runs. Without a destructor, so that
    /// the destructors of other thread-locals can ask: outside of computations it owns nothing.
    static CURRENT: Current = const { ManuallyDrop::new(Cell::new(None)) };
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
    #[inline]
    pub(in super::super) fn frame(this: &Arc<Self>) -> Frame {
        let current = Some(Arc::clone(this));
        Frame {
            own: Arc::as_ptr(this),
            before: CURRENT.with(|place| place.replace(current)),
            here: PhantomData,
        }
    }

    /// The computation whose code the current thread runs.
    #[inline]
    pub(in super::super) fn current() -> Option<Arc<Self>> {
        CURRENT.with(|place| {
            let current = place.take();
            place.set(current.clone());
            current
        })
    }

    /// Whether the current thread runs code of this computation, and of none inside it.
    #[inline]
    pub(super) fn is_current(this: Option<&Arc<Self>>) -> bool {
        CURRENT.with(|place| {
            let current = place.take();
            let is_current = current.as_ref().map(Arc::as_ptr) == this.map(Arc::as_ptr);
            place.set(current);
            is_current
        })
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        let before = self.before.take();
        let ended = CURRENT.with(|place| {
            let current = place.take();
            // Coroutines end their frames in any order. An inner frame stays. Its end may leave an
            // ended computation behind, for which nobody waits.
            let is_own = current.as_ref().map(Arc::as_ptr) == Some(self.own);
            let (stays, ended) = if is_own {
                (before, current)
            } else {
                (current, before)
            };
            place.set(stays);
            ended
        });
        drop(ended);
    }
}

/// A computation of a task, which is dropped in its frame.
pub(in super::super) struct Running<'r, F> {
    pub(in super::super) computing: Pin<&'r mut Option<F>>,
    /// The reservation for which callers wait.
    pub(in super::super) own: Option<&'r Arc<Reservation>>,
}

impl<F> Drop for Running<'_, F> {
    fn drop(&mut self) {
        if self.computing.is_some() {
            let _frame = self.own.map(Reservation::frame);
            self.computing.set(None);
        }
    }
}
