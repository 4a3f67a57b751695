//! Tasks that wait for what one of them makes, or a load: `get_or_compute_async`, `get_or_insert_spawned`.

mod common;
#[path = "flight/tools.rs"]
mod tools;

#[path = "flight/asks.rs"]
mod asks;
#[path = "flight/cycles.rs"]
mod cycles;
#[path = "flight/dependencies.rs"]
mod dependencies;
#[path = "flight/destructors.rs"]
mod destructors;
#[path = "flight/ends.rs"]
mod ends;
#[path = "flight/failing.rs"]
mod failing;
#[path = "flight/names.rs"]
mod names;
#[path = "flight/numbers.rs"]
mod numbers;
#[path = "flight/random.rs"]
mod random;
#[path = "flight/script.rs"]
mod script;
#[path = "flight/seeds.rs"]
mod seeds;
#[path = "flight/sharing.rs"]
mod sharing;
#[path = "flight/spawned.rs"]
mod spawned;
#[path = "flight/storm.rs"]
mod storm;
#[path = "flight/threads.rs"]
mod threads;
#[path = "flight/wakes.rs"]
mod wakes;

use common::heap::{Counting, Heap};
use common::watchdog;

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);
