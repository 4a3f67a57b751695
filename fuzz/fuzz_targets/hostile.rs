//! Runs the scripts of `tests/hostile.rs` on the fuzzer's bytes.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/hostile/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| script::run_bytes(bytes));
