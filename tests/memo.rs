//! What a memo must do. Each test's comment begins with the number of the behaviour it shows: those of section M
//! that are about memos are 172 to 177.

mod common;
#[path = "memo/cycles.rs"]
mod cycles;
#[path = "memo/dependencies.rs"]
mod dependencies;
#[cfg(not(miri))] // where frame addresses mean nothing
#[path = "memo/depth.rs"]
mod depth;
#[path = "memo/destructors.rs"]
mod destructors;
#[path = "memo/failures.rs"]
mod failures;
#[path = "memo/function_cache.rs"]
mod function_cache;
#[path = "memo/inputs.rs"]
mod inputs;
#[path = "memo/invalidation.rs"]
mod invalidation;
#[path = "memo/parts.rs"]
mod parts;
#[path = "memo/rewriting.rs"]
mod rewriting;
#[path = "memo/statistics.rs"]
mod statistics;
#[path = "memo/sweeps.rs"]
mod sweeps;
#[path = "memo/tools.rs"]
mod tools;
#[path = "memo/waiters.rs"]
mod waiters;

use common::pointers::for_each_pointer;
