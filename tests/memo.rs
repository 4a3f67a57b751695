//! What a memo must do. Each test's comment begins with the number of the behaviour it shows: those of section M
//! that are about memos are 172 to 177.

#[path = "memo/asked.rs"]
mod asked;
mod common;
#[path = "memo/cycles.rs"]
mod cycles;
#[path = "memo/dependencies.rs"]
mod dependencies;
#[path = "memo/destructors.rs"]
mod destructors;
#[path = "memo/failures.rs"]
mod failures;
#[path = "memo/handles.rs"]
mod handles;
#[path = "memo/inputs.rs"]
mod inputs;
#[path = "memo/invalidation.rs"]
mod invalidation;
#[path = "memo/keys.rs"]
mod keys;
#[path = "memo/parts.rs"]
mod parts;
#[path = "memo/script.rs"]
mod script;
#[path = "memo/sweeps.rs"]
mod sweeps;
#[path = "memo/tools.rs"]
mod tools;
#[path = "memo/tracked.rs"]
mod tracked;
#[path = "memo/waiters.rs"]
mod waiters;

use common::pointers::for_each_pointer;
use common::random::random;
use common::{scaled, sized};

/// 172, 175, 176, 200, 203, 218, 219: Random scripts, with values, floors and ceilings.
#[test]
fn what_goes_is_told_and_may_go() {
    for seed in 0..sized(300, 100, 3) as u64 {
        let choices = || random(seed).take(scaled(2_000, 200));
        script::run::<script::One>(choices());
        script::run::<script::Two>(choices());
        script::run::<script::Lists>(choices());
    }
}

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/memo", script::run_bytes);
}
