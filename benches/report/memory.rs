//! An allocator that counts the bytes of payloads of 4 KiB that are still held.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A payload that is seen among all other allocations by its size.
pub(crate) type Bulky = [u8; 4096];

/// A payload with the header of any pointer. The arrays of tables and vectors of the sizes that are
/// measured here are far larger, blocks and records far smaller.
const PAYLOADS: RangeInclusive<usize> = size_of::<Bulky>()..=size_of::<Bulky>() + 64;

static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bytes of all payloads that are not freed.
pub(crate) fn payload_bytes_held() -> usize {
    HELD.load(Relaxed)
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: `System` does the work.
unsafe impl GlobalAlloc for Counting {
    // For all others this costs both sides one comparison.
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if PAYLOADS.contains(&layout.size()) {
            HELD.fetch_add(layout.size(), Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if PAYLOADS.contains(&layout.size()) {
            HELD.fetch_sub(layout.size(), Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}
