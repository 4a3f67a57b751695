//! Whether a death calls the waker of a collection that threads share. C3 and C6 are in
//! [`shared`](super::shared): a death asks while it has a stripe.

use alloc::sync::Arc;
use core::mem::ManuallyDrop;
use core::ptr;

use super::waker::WakerCell;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering::*, barrier_after_lock, store_load};

/// No waker has been set.
const NEVER: usize = 0;
/// A death has called the waker, or will; or there is no waker any more.
const IDLE: usize = 1;
/// The next death calls the waker.
const ARMED: usize = 2;

pub(super) struct Arming {
    /// `NEVER`, `IDLE` or `ARMED`.
    armed: AtomicUsize,
    /// From an `Arc`; null until a waker is set.
    waker: AtomicPtr<WakerCell>,
}

impl Arming {
    pub(super) fn new() -> Self {
        Arming {
            armed: AtomicUsize::new(NEVER),
            waker: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Returns the cell of the waker, if a waker has ever been set.
    #[inline]
    pub(super) fn waker(&self) -> Option<&WakerCell> {
        // Acquire: with `waker_or_new`.
        // SAFETY: the cell exists until `free`.
        unsafe { self.waker.load(Acquire).as_ref() }
    }

    /// Returns the cell of the waker, which is made if there is none. `pass` passes the stripes.
    pub(super) fn waker_or_new(&self, pass: impl FnOnce()) -> &WakerCell {
        if let Some(cell) = self.waker() {
            return cell;
        }
        // C3: later deaths know of the cell. Relaxed: the passing orders the step.
        _ = (self.armed).compare_exchange(NEVER, IDLE, Relaxed, Relaxed);
        pass();
        let new = Arc::into_raw(WakerCell::new()).cast_mut();
        // Release: the cell is initialised.
        // Acquire on failure: as above, for the winner's cell.
        let there = (self.waker).compare_exchange(ptr::null_mut(), new, Release, Acquire);
        // SAFETY: our cell, which no other thread knows; or the winner's, as in `waker`.
        unsafe {
            match there {
                Ok(_) => &*new,
                Err(there) => {
                    drop(Arc::from_raw(new));
                    &*there
                }
            }
        }
    }

    /// Returns a share in the cell of the waker, which is made if there is none. `pass` passes the
    /// stripes.
    pub(super) fn share(&self, pass: impl FnOnce()) -> Arc<WakerCell> {
        self.waker_or_new(pass);
        // SAFETY: the cell exists.
        let cell = unsafe { self.cell() };
        Arc::clone(&cell)
    }

    /// Lets the next death call the waker. (A death that has a stripe already may call it, or not.)
    pub(super) fn arm(&self) {
        // Release: with `owed_if_armed`: the caller has set the cell, or found it.
        self.armed.store(ARMED, Release);
    }

    /// Does the same as [`arm`](Self::arm), before later loads of the thread.
    pub(super) fn arm_before_loads(&self) {
        // C6: with the barrier in `has_waker`. Release: as in `arm`.
        store_load(&self.armed, ARMED);
    }

    /// Returns whether there may be a waker. The caller has locked a stripe just now.
    #[inline]
    pub(super) fn has_waker(&self) -> bool {
        // Relaxed: C3.
        let has = self.armed.load(Relaxed) != NEVER;
        if has {
            // C6: with `arm_before_loads`.
            barrier_after_lock();
        }
        has
    }

    /// Passes the cell of the waker to `owed`, if this death is the first since the waker was
    /// armed. The caller has a stripe, and has found that there may be a waker.
    #[inline]
    pub(super) fn owed<W>(&self, owed: impl FnOnce(&Arc<WakerCell>) -> W) -> Option<W> {
        // Relaxed: C6.
        if self.armed.load(Relaxed) != ARMED {
            return None;
        }
        self.owed_if_armed(owed)
    }

    #[cold]
    #[inline(never)]
    fn owed_if_armed<W>(&self, owed: impl FnOnce(&Arc<WakerCell>) -> W) -> Option<W> {
        // Acquire: with `arm`: the cell exists, and is initialised.
        if self.armed.swap(IDLE, Acquire) != ARMED {
            return None;
        }
        // SAFETY: armed after the cell was set, and `self` keeps its share.
        let cell = unsafe { self.cell() };
        Some(owed(&cell))
    }

    /// Returns the own share in the cell of the waker.
    ///
    /// # Safety
    /// A cell is set, and the caller has acquired its initialisation.
    unsafe fn cell(&self) -> ManuallyDrop<Arc<WakerCell>> {
        // Relaxed: the caller's promise; the cell is set once.
        // SAFETY: from an `Arc`, of which `self` has a share.
        ManuallyDrop::new(unsafe { Arc::from_raw(self.waker.load(Relaxed)) })
    }

    /// # Safety
    /// Called once, when no thread uses `self` any more.
    pub(super) unsafe fn free(&self) {
        let cell = self.waker.load(Relaxed);
        if !cell.is_null() {
            // SAFETY: our own share.
            drop(unsafe { Arc::from_raw(cell) });
        }
    }
}
