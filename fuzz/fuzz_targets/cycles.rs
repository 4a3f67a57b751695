//! Purges graphs that the fuzzer's bytes describe of cycles, as `tests/cycles.rs` does with random ones. The first byte
//! chooses the pointer, and what the objects show.

#![no_main]

#[path = "../../tests/cycles/graph.rs"]
mod graph;

use graph::{ALL, Atomic, Counted, Ours, Single, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, choices)) = bytes.split_first() else {
        return;
    };
    let choices = choices.iter().map(|&byte| usize::from(byte));
    let shows = ALL[usize::from(kind / 4) % ALL.len()];
    // Watched, so that no graph leaks: that would fill the memory.
    match kind % 4 {
        0 => check::<Ours>(shows, choices, true),
        1 => check::<Single>(shows, choices, true),
        2 => check::<Counted>(shows, choices, true),
        _ => check::<Atomic>(shows, choices, true),
    }
});
