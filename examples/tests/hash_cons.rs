//! Runs the example `hash_cons`, which checks itself.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Run, example};

#[test]
fn it_finds_all_as_it_says() {
    let run = Run::of(&mut example("hash_cons"));
    run.assert_well();
    let depth = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    let rest = "an object for each level, built twice, gone (checked)\n";
    let deep = format!("a term of depth {depth}: {rest}");
    let shared = format!("a term of {} leaves: {rest}", 1_u128 << 64);
    let simplified = "the same with zeros: simplified once, remembered, gone (checked)\n";
    assert_eq!(run.out, deep + &shared + simplified);
}
