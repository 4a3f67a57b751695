//! What attributes must do, single ones and namespaces. Each test's comment begins with the number of the
//! behaviour it shows: those of section M that are about attributes are 166 to 171.

#[path = "attribute/chains.rs"]
mod chains;
mod common;
#[path = "attribute/namespaces.rs"]
mod namespaces;
#[path = "attribute/reentry.rs"]
mod reentry;
#[path = "attribute/single.rs"]
mod single;
#[path = "attribute/statics.rs"]
mod statics;
#[path = "attribute/threads.rs"]
mod threads;
#[path = "memo/tools.rs"]
mod tools;

use common::heap::{Counting, Heap};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);
