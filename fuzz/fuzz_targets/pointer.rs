//! Runs the pointer scripts of `tests/pointers.rs` on the fuzzer's bytes. The first byte chooses the flavour
//! and the payload.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/pointers/mod.rs"]
mod pointers;

use libfuzzer_sys::fuzz_target;
use pointers::payload::{Dyn, Probe, Tested, Text};
use pointers::script::{Op, run};
use weakly::ptr::{Atomic, Local};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    if kind % 2 == 0 {
        payload::<Atomic>(kind, script);
    } else {
        payload::<Local>(kind, script);
    }
});

fn payload<F: Tested>(kind: u8, script: &[u8]) {
    let ops = script.as_chunks().0.iter().copied().map(Op::decode);
    match kind / 2 % 4 {
        0 => run::<Dyn, F>(ops),
        1 => run::<Text, F>(ops),
        _ => run::<Probe<F>, F>(ops),
    }
}
