//! Entries that keep themselves alive: found, and removed (`purge_cycles`, `Cycles`). The comment of a test begins with
//! the number of the behaviour it shows: section K.

#[path = "cycles/bad_traces.rs"]
mod bad_traces;
mod common;
#[path = "cycles/drained.rs"]
mod drained;
#[path = "cycles/fields.rs"]
mod fields;
#[path = "cycles/foreign.rs"]
mod foreign;
#[path = "cycles/graph.rs"]
mod graph;
#[path = "cycles/graphs.rs"]
mod graphs;
#[path = "cycles/kept.rs"]
mod kept;
#[path = "cycles/maps.rs"]
mod maps;
#[path = "cycles/memo_graphs.rs"]
mod memo_graphs;
#[path = "cycles/panics.rs"]
mod panics;
#[path = "cycles/paths.rs"]
mod paths;
#[path = "cycles/threads.rs"]
mod threads;
#[path = "cycles/tools.rs"]
mod tools;

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/cycles", graph::run_bytes);
}
