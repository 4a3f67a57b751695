//! How many bytes the program has allocated: an allocator that counts.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are allocated and not freed.
pub(crate) fn allocated() -> usize {
    ALLOCATED.load(Relaxed)
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: `System` does everything; counting touches no allocation, allocates nothing, and does not panic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}
