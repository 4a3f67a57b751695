//! Runs the example `hash_cons`, which checks itself.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Run, example};

#[test]
fn it_reports_success() {
    let run = Run::of(&mut example("hash_cons"));
    run.assert_succeeded();
    let depth = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    let rest = "one object for each level, built twice, dropped (checked)\n";
    let deep = format!("a term of depth {depth}: {rest}");
    let shared = format!("a term of {} leaves: {rest}", 1_u128 << 64);
    let simplified = "the same with zeros: simplified once, memoised, dropped (checked)\n";
    assert_eq!(run.out, deep + &shared + simplified);
}
