//! What floors and ceilings must do. Each test's comment begins with the number of the behaviour it shows: those of section
//! O.

#[path = "keep/ceilings.rs"]
mod ceilings;
#[path = "keep/chains.rs"]
mod chains;
mod common;
#[path = "keep/floors.rs"]
mod floors;
#[path = "keep/handles.rs"]
mod handles;
#[path = "keep/hostile.rs"]
mod hostile;
#[path = "keep/listeners.rs"]
mod listeners;
#[path = "keep/memory.rs"]
mod memory;
#[path = "keep/owned.rs"]
mod owned;
#[path = "keep/policies.rs"]
mod policies;
#[path = "keep/script.rs"]
mod script;
#[path = "keep/sieve.rs"]
mod sieve;
#[path = "keep/threads.rs"]
mod threads;
#[path = "keep/tools.rs"]
mod tools;

use std::alloc::Layout;
use std::cell::Cell;

use common::heap::{Counting, Heap, Watcher};

/// Counts all, and apart from that what has the alignment of a page, for each thread.
struct Pages;

#[global_allocator]
static HEAP: Heap<Pages> = Heap(Pages);

thread_local! {
    static PAGE_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// How many bytes this thread has allocated in pages and not freed.
fn page_bytes() -> usize {
    PAGE_BYTES.get()
}

impl Watcher for Pages {
    fn allocates(&self, layout: Layout) -> bool {
        if layout.align() == memory::PAGE {
            PAGE_BYTES.set(PAGE_BYTES.get() + layout.size());
        }
        Counting.allocates(layout)
    }

    fn frees(&self, layout: Layout) {
        if layout.align() == memory::PAGE {
            PAGE_BYTES.set(PAGE_BYTES.get() - layout.size());
        }
        Counting.frees(layout);
    }
}
