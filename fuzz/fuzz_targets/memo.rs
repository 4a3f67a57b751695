//! Runs the scripts of `tests/memo.rs` on the fuzzer's bytes.

#![no_main]

#[path = "../../tests/memo/asked.rs"]
mod asked;
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/memo/script.rs"]
mod script;
#[path = "../../tests/memo/tools.rs"]
mod tools;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| script::run_bytes(bytes));
