//! loom models of the reclamation and of the table. What is destroyed is marked, and its memory
//! kept, so that a late look is detected in every interleaving.
//!
//! Here buckets have two slots, the first array has one bucket, and an operation moves at most two
//! buckets.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod dead;
mod domain;
mod first;
mod reap;
mod shrink;
mod table;
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

/// Destroys an entry where it is, so that its mark shows that to who looks at it later.
fn end_in_place<N: Entry>(entry: N, place: *const N) {
    core::mem::forget(entry);
    // SAFETY: it was moved from there, to be destroyed, and its memory is kept.
    unsafe { place.cast_mut().drop_in_place() };
}
