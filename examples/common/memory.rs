//! How many bytes the program has allocated: an allocator that counts.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are allocated and not freed.
pub(crate) fn allocated() -> usize {
    ALLOCATED.load(Relaxed)
}

fn count(freed: usize, allocated: usize) {
    // Wraps where fewer bytes are allocated than freed; the sum does not.
    ALLOCATED.fetch_add(allocated.wrapping_sub(freed), Relaxed);
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: `System` does everything; the counting touches no allocation, allocates nothing, and does not panic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.alloc(layout) };
        if !ptr.is_null() {
            count(0, layout.size());
        }
        ptr
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.alloc_zeroed(layout) };
        if !ptr.is_null() {
            count(0, layout.size());
        }
        ptr
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.realloc(old, layout, size) };
        if !ptr.is_null() {
            count(layout.size(), size);
        }
        ptr
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) };
        count(layout.size(), 0);
    }
}
