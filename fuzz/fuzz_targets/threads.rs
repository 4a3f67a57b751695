//! Runs the scripts of `tests/linear.rs`, on several threads, on the fuzzer's bytes. What is found may depend on the schedule:
//! run the input again, some hundred times.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/linear/mod.rs"]
mod linear;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| linear::bytes::run_bytes(bytes));
