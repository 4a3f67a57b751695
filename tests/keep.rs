//! What floors and ceilings must do. Each test's comment begins with the number of the behaviour it shows: those of section
//! O.

#[path = "keep/ceilings.rs"]
mod ceilings;
#[path = "keep/chains.rs"]
mod chains;
mod common;
#[path = "keep/floors.rs"]
mod floors;
#[path = "keep/hostile.rs"]
mod hostile;
#[path = "keep/listeners.rs"]
mod listeners;
#[path = "keep/memory.rs"]
mod memory;
#[path = "keep/script.rs"]
mod script;
#[path = "keep/sieve.rs"]
mod sieve;
#[path = "keep/statistics.rs"]
mod statistics;
#[path = "keep/threads.rs"]
mod threads;
#[path = "keep/tools.rs"]
mod tools;

use common::heap::{Counting, Heap};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);
