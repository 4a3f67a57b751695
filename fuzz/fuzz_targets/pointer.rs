//! Runs the scripts of `tests/pointers.rs` on the fuzzer's bytes.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/pointers/mod.rs"]
mod pointers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pointers::run_bytes(bytes));
