//! Scripts that several threads run on one collection, and what their history must be like: see `tests/linear.rs`.

#![allow(dead_code, unreachable_pub)] // each program uses a part of it

pub mod attributes;
pub mod bytes;
pub mod maps;
pub mod memo;
pub mod script;
pub mod sets;
pub mod spec;
pub mod turn;
pub mod walks;
pub mod weak_values;
pub mod world;
