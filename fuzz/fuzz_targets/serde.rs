//! Reads the fuzzer's bytes through interners, as `tests-serde` does with random ones.

#![no_main]

#[path = "../../tests-serde/tests/serde/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| script::run_bytes(bytes));
