//! Runs the scripts of `tests/delivery.rs` on the fuzzer's bytes.

#![no_main]

#[path = "../../tests/delivery/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| script::run_bytes(bytes));
