//! loom models of the reclamation and of the table. What is destroyed is marked, and its memory kept, so
//! that a late look is seen in every interleaving.
//!
//! Buckets have two slots here, the first array one bucket, and an operation moves two buckets at most.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod domain;
mod shrink;
mod table;

use loom::thread::{self, JoinHandle};
use std::vec::Vec;

use super::Entry;
use crate::thread::ThreadNumber;

fn spawn<T: 'static>(number: usize, run: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    thread::spawn(move || {
        ThreadNumber::set(number);
        run()
    })
}
