//! Runs the scripts of `tests/model.rs` for collections that threads share, on one thread, on the fuzzer's bytes.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/model/mod.rs"]
mod model;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| model::bytes_shared::shared(bytes));
