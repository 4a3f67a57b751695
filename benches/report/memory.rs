//! An allocator that counts the requested bytes while a count is active.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

static COUNTS: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// A count of what is allocated and not freed, from now on until it is dropped: the requested bytes, without an
/// allocator's rounding. One at a time; memory that was allocated before and is freed meanwhile counts below zero.
pub(crate) struct Count(());

impl Count {
    pub(crate) fn new() -> Self {
        ALLOCATED.store(0, Relaxed);
        COUNTS.store(true, Relaxed);
        Count(())
    }

    pub(crate) fn bytes(&self) -> f64 {
        ALLOCATED.load(Relaxed) as f64
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        COUNTS.store(false, Relaxed);
    }
}

struct Counting;

impl Counting {
    // While no count is active this costs both sides one comparison.
    #[inline]
    fn note(bytes: isize) {
        if COUNTS.load(Relaxed) {
            ALLOCATED.fetch_add(bytes, Relaxed);
        }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: `System` does the work.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        Self::note(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}
