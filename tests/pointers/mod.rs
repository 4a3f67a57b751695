//! The scripts of pointers. Shared by the property tests and the fuzzer, which both make scripts from bytes.

#![allow(dead_code, unreachable_pub)] // each program uses a part of it

pub mod payload;
pub mod script;
