//! How many bytes the program holds: an allocator that keeps the books.

#![allow(unsafe_code)] // an allocator cannot be had without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are allocated and not freed.
pub(crate) fn held() -> usize {
    HELD.load(Relaxed)
}

fn book(freed: usize, made: usize) {
    // Wraps where less is made than freed; the sum does not.
    HELD.fetch_add(made.wrapping_sub(freed), Relaxed);
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is done by `System`; the books touch no allocation, allocate nothing, and do
// not panic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.alloc(layout) };
        if !ptr.is_null() {
            book(0, layout.size());
        }
        ptr
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.alloc_zeroed(layout) };
        if !ptr.is_null() {
            book(0, layout.size());
        }
        ptr
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let ptr = unsafe { System.realloc(old, layout, size) };
        if !ptr.is_null() {
            book(layout.size(), size);
        }
        ptr
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) };
        book(layout.size(), 0);
    }
}
