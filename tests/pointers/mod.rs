//! The scripts of pointers. Shared by the property tests and the fuzzer, which both make scripts from bytes.

#![allow(dead_code, unreachable_pub)] // each program uses a part of it

pub mod payload;
pub mod script;

use crate::common::STEP;
use payload::{Dyn, Probe, Tested, Text};
use script::{Op, run};
use weakly::ptr::{Atomic, Local};

/// A script that bytes describe. The first chooses the flavour and the payload.
pub fn run_bytes(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    if kind % 2 == 0 {
        payload::<Atomic>(kind, script);
    } else {
        payload::<Local>(kind, script);
    }
}

fn payload<F: Tested>(kind: u8, script: &[u8]) {
    let steps = script.chunks_exact(STEP);
    let steps = steps.map(|step| step.try_into().expect("it is as long as a step"));
    let ops = steps.map(Op::decode);
    match kind / 2 % 4 {
        0 => run::<Dyn, F>(ops),
        1 => run::<Text, F>(ops),
        _ => run::<Probe<F>, F>(ops),
    }
}
