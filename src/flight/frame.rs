//! The frame of a thread: which computation the thread runs now; and the reservation that a thread
//! uses again.
//!
//! * **J4** A thread keeps at most one ended reservation, for its next making. The reservation has
//!   three handles: the leader's, the node's and the frame's. The leader keeps the reservation
//!   instead of ending it, if no thread looks at the node any more (V2 of the table's `reserve`),
//!   and all handles are these three: then no caller waits for the reservation, none will find it,
//!   and no edge leads from it or to it. A racer may have come and gone: then the reservation ends.

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::pin::Pin;
use std::sync::Arc;

use super::reservation::Reservation;
use crate::sync::{acquire_loads, thread_local};

type Current = ManuallyDrop<Cell<Option<Arc<Reservation>>>>;

/// All handles to a reservation of an owner: the leader's, the node's, the frame's.
type Handles = [Arc<Reservation>; 3];

thread_local! {
    /// J4: a reservation to which nobody else has a handle, for the next making of the thread.
    static SPARE: Cell<Option<Handles>> = const { Cell::new(None) };

    /// The innermost computation whose code the current thread runs. Without a destructor, so that
    /// the destructors of other thread-locals can ask: outside of computations it owns nothing.
    static CURRENT: Current = const { ManuallyDrop::new(Cell::new(None)) };
}

/// Runs code of a computation: until the drop of the frame, the computation is the
/// [current](Reservation::current) computation of the thread. The leader sets a frame around all
/// user code that runs while its reservation is linked: around a closure, a poll, a clone, a drop.
pub(crate) struct Frame {
    own: *const Reservation,
    pub(super) before: Option<Arc<Reservation>>,
    here: PhantomData<*mut ()>,
}

impl Reservation {
    /// Handles to a reservation of its first maker, which races or owns the reservation.
    #[inline]
    pub(crate) fn handles(races: bool) -> Handles {
        let spare = (!races).then(|| SPARE.try_with(Cell::take).ok().flatten());
        spare.flatten().unwrap_or_else(|| {
            let new = Reservation::by(races);
            [Arc::clone(&new), Arc::clone(&new), new]
        })
    }

    /// J4: whether nobody has a handle, except for the three of the thread, and no racer has come.
    #[inline]
    pub(crate) fn is_unseen(this: &Arc<Self>) -> bool {
        // Acquire: with the drops of other handles: the stores of their owners.
        let is_alone = Arc::strong_count(this) == 3;
        acquire_loads();
        is_alone && !this.is_raced()
    }

    /// J4: keeps a reservation that is [unseen](Self::is_unseen) for the thread.
    #[inline]
    pub(crate) fn keep(all: Handles) {
        // Dropped outside of the access, since the drop frees memory.
        let other = SPARE.try_with(|spare| spare.replace(Some(all)));
        drop(other);
    }

    /// Sets a frame around code of the computation.
    #[inline]
    pub(crate) fn frame(this: &Arc<Self>) -> Frame {
        Frame::of(Arc::clone(this))
    }

    /// The computation whose code the current thread runs.
    #[inline]
    pub(crate) fn current() -> Option<Arc<Self>> {
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

impl Frame {
    /// The frame of a computation, with its own handle.
    #[inline]
    pub(crate) fn of(current: Arc<Reservation>) -> Self {
        Frame {
            own: Arc::as_ptr(&current),
            before: CURRENT.with(|place| place.replace(Some(current))),
            here: PhantomData,
        }
    }

    /// Ends the frame, and returns its handle, unless an inner frame lasts.
    #[inline]
    pub(crate) fn end(mut self) -> Option<Arc<Reservation>> {
        let own = self.own;
        let handle = self.leave().filter(|ended| Arc::as_ptr(ended) == own);
        mem::forget(self);
        handle
    }

    /// Takes the frame off the thread. Returns the handle of the frame, or, while an inner frame
    /// lasts, the handle of the computation around the frame.
    #[inline]
    fn leave(&mut self) -> Option<Arc<Reservation>> {
        let before = self.before.take();
        CURRENT.with(|place| {
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
        })
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        drop(self.leave());
    }
}

/// A computation of a task, which is dropped in its frame.
pub(crate) struct Running<'r, F> {
    pub(crate) computing: Pin<&'r mut Option<F>>,
    /// The reservation for which callers wait.
    pub(crate) own: Option<&'r Arc<Reservation>>,
}

impl<F> Drop for Running<'_, F> {
    fn drop(&mut self) {
        if self.computing.is_some() {
            let _frame = self.own.map(Reservation::frame);
            self.computing.set(None);
        }
    }
}
