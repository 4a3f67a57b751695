//! Runs the scripts of `tests/anchor.rs` on the fuzzer's bytes. The first byte chooses the flavour.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/anchor/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;
use weakly::ptr::{Atomic, Local};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    let choices = script.iter().map(|&byte| usize::from(byte));
    // A step takes at most four choices.
    match kind % 2 {
        0 => script::run::<Atomic>(script.len() / 4, choices),
        _ => script::run::<Local>(script.len() / 4, choices),
    }
});
