//! Results that are computed from other results: none is found after one of its inputs has ended, at any depth, whatever
//! the number of threads that have used the memos.
//!
//! `WEAKLY_LOOKUPS=1000000 cargo test --release --test chains graph` makes so many lookups with each number of threads.

#[path = "memo/asked.rs"]
mod asked;
mod common;
#[path = "chains/ends.rs"]
mod ends;
#[path = "chains/floors.rs"]
mod floors;
#[path = "chains/freed.rs"]
mod freed;
#[path = "chains/graph.rs"]
mod graph;
#[path = "chains/levels.rs"]
mod levels;
#[path = "chains/model.rs"]
mod model;
#[path = "chains/scenarios.rs"]
mod scenarios;
#[path = "memo/tools.rs"]
mod tools;
#[path = "chains/world.rs"]
mod world;
