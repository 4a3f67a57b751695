//! Purges graphs that the fuzzer's bytes describe of cycles, as `tests/cycles.rs` does with random ones.

#![no_main]

#[path = "../../tests/cycles/graph.rs"]
mod graph;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| graph::run_bytes(bytes));
