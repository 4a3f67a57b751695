//! An allocator that counts the requested bytes while a count is active.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// A payload that is recognised among all other allocations by its size.
pub(crate) type Bulky = [u8; 4096];

/// A payload with the header of any pointer. The arrays of tables and vectors of the measured sizes are far
/// larger, blocks and records far smaller.
const PAYLOADS: RangeInclusive<usize> = size_of::<Bulky>()..=size_of::<Bulky>() + 64;

/// The smallest allocation that counts: usually none.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The largest.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);
/// The most that was allocated.
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// A count of what is allocated and not freed, from now on until it is dropped. One at a time; memory that was
/// allocated before and is freed meanwhile counts below zero.
pub(crate) struct Count(());

impl Count {
    /// All requested bytes: without an allocator's rounding.
    pub(crate) fn all() -> Self {
        Self::of(0..=usize::MAX)
    }

    /// Those that are as large as a [`Bulky`].
    pub(crate) fn payloads() -> Self {
        Self::of(PAYLOADS)
    }

    fn of(sizes: RangeInclusive<usize>) -> Self {
        ALLOCATED.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        MOST.store(*sizes.end(), Relaxed);
        LEAST.store(*sizes.start(), Relaxed);
        Count(())
    }

    pub(crate) fn bytes(&self) -> f64 {
        ALLOCATED.load(Relaxed) as f64
    }

    /// The most bytes that there were at a time.
    pub(crate) fn peak(&self) -> f64 {
        PEAK.load(Relaxed) as f64
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        LEAST.store(usize::MAX, Relaxed);
        MOST.store(usize::MAX, Relaxed);
    }
}

struct Counting;

impl Counting {
    // While no count is active this costs both sides one comparison.
    #[inline]
    fn note(layout: Layout, count: impl FnOnce(isize)) {
        let size = layout.size();
        if size >= LEAST.load(Relaxed) && size <= MOST.load(Relaxed) {
            count(size as isize);
        }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: `System` does the work.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout, |size| {
            let now = ALLOCATED.fetch_add(size, Relaxed) + size;
            PEAK.fetch_max(now, Relaxed);
        });
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        Self::note(layout, |size| {
            ALLOCATED.fetch_sub(size, Relaxed);
        });
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}
