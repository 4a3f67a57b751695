//! Pointers in lock-step with a naive model, through scripts in which handles of every kind come and go in any order.

mod common;
#[path = "pointers/mod.rs"]
mod pointers;
#[path = "model/scripts.rs"]
mod scripts;

use pointers::payload::{Dyn, Payload, Probe, Tested, Text};
use pointers::script;
use weakly::ptr::{Atomic, Local};

/// After each operation the counts, the weak handles, the tokens and the order of ends are as in the model.
///
/// 120, 121, 124, 129: of handles
/// 131, 132, 133, 136, 137, 138, 140: of finalizers
fn pointer<P: Payload<F>, F: Tested>() {
    scripts::check(128, script::Op::decode, &script::run::<P, F>);
}

#[test]
fn sized_payloads() {
    pointer::<Probe<Atomic>, Atomic>();
    pointer::<Probe<Local>, Local>();
}

#[test]
fn payloads_behind_a_trait() {
    pointer::<Dyn, Atomic>();
    pointer::<Dyn, Local>();
}

#[test]
fn strings() {
    pointer::<Text, Atomic>();
    pointer::<Text, Local>();
}

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/pointer", pointers::run_bytes);
}
