//! The scripts: operations in lock-step with naive models. Shared by the property tests and the
//! fuzzers, which both make scripts from bytes.

#![allow(dead_code, unreachable_pub)] // each program uses a part of it

pub mod all;
pub mod entry;
mod faces;
pub mod hasher;
pub mod op;
pub mod payload;
pub mod pointer;
pub mod pool;
pub mod routes;
pub mod script;
pub mod subject;
mod verify;
pub mod world;

/// How many bytes make one operation.
pub const STEP: usize = 4;

/// One of `choices`, chosen by a byte.
pub fn pick<T: Copy>(choices: &[T], byte: u8) -> T {
    choices[usize::from(byte) % choices.len()]
}
