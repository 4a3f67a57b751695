//! Anchors: values of any ownership as keys. The scripts state that an anchor is found wherever its owner moves it, and that
//! its entries end with it. Each test's comment begins with the number of the behaviour it shows, if
//! there is one.

mod common;
#[path = "anchor/deaths.rs"]
mod deaths;
#[path = "anchor/identity.rs"]
mod identity;
#[path = "anchor/maps.rs"]
mod maps;
#[path = "anchor/memory.rs"]
mod memory;
#[path = "anchor/script.rs"]
mod script;
#[path = "anchor/scripts.rs"]
mod scripts;
#[path = "anchor/shared.rs"]
mod shared;
#[path = "anchor/threads.rs"]
mod threads;

use common::heap::{Counting, Heap};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/anchors", script::run_bytes);
}
