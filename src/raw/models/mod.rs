//! loom models of the reclamation and of the table. Destroyed objects are marked and their memory
//! is kept, so that every interleaving detects a late look.
//!
//! In the models buckets have two slots, the first array has one bucket, and an operation moves at
//! most two buckets.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod dead;
mod domain;
mod plain;
mod reap;
mod reserve;
mod shrink;
mod table;
mod tokens;
mod wakers;

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

/// Destroys an entry in place: its mark then fails the model at a later look.
fn end_in_place<N: Entry>(entry: N, place: *const N) {
    core::mem::forget(entry);
    // SAFETY: the entry was moved out of the place to be destroyed, and the memory is kept.
    unsafe { place.cast_mut().drop_in_place() };
}
