//! The scripts: operations in lock-step with naive models. Shared by the property tests and the
//! fuzzers, which both make scripts from bytes.

#![allow(dead_code, unreachable_pub)] // each program uses a part of it

pub mod all;
pub mod bytes;
#[cfg(feature = "std")]
pub mod bytes_shared;
pub mod entry;
mod faces;
pub mod hasher;
pub mod op;
pub mod pool;
pub mod routes;
pub mod script;
pub mod subject;
mod verify;
pub mod world;

pub use crate::common::{STEP, pick};
