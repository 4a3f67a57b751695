//! A watched allocator, for the programs that count allocations, or let one fail. A program declares it:
//! `#[global_allocator] static HEAP: Heap<Counting> = Heap(Counting);`

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Watches each allocation. It must not unwind.
pub trait Watcher: Sync {
    /// Called before an allocation; returns false if it is to fail.
    fn allocates(&self, layout: Layout) -> bool;
    /// Called before memory is freed.
    fn frees(&self, _: Layout) {}
}

/// The system's allocator, watched.
pub struct Heap<W>(pub W);

// SAFETY: what does not fail is passed on.
#[allow(unsafe_code)]
unsafe impl<W: Watcher> GlobalAlloc for Heap<W> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !self.0.allocates(layout) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.0.frees(layout);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Counts, for each thread separately, so that tests in parallel do not affect each other, and for all.
pub struct Counting;

thread_local! {
    // (Neither allocates.)
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

static BYTES_OF_ALL: AtomicIsize = AtomicIsize::new(0);

impl Watcher for Counting {
    fn allocates(&self, layout: Layout) -> bool {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        count_bytes(layout.size() as isize);
        true
    }

    fn frees(&self, layout: Layout) {
        FREED.set(FREED.get() + 1);
        count_bytes(-(layout.size() as isize));
    }
}

fn count_bytes(bytes: isize) {
    BYTES.set(BYTES.get() + bytes);
    BYTES_OF_ALL.fetch_add(bytes, Relaxed);
}

/// How many allocations this thread has made.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// How many allocations this thread has freed.
pub fn freed() -> usize {
    FREED.get()
}

/// How many bytes this thread has allocated and not freed.
pub fn bytes() -> isize {
    BYTES.get()
}

/// How many bytes all threads have allocated and not freed.
pub fn bytes_of_all_threads() -> isize {
    BYTES_OF_ALL.load(Relaxed)
}
