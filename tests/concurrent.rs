//! What the collections that threads share must do. Each test's comment begins with the number of the
//! behaviour that it shows (those of the section L, 157 to 165, are about threads; the others are those
//! of collections with one owner, as `tests/behaviours` has them).
//!
//! Most are written once, over the traits in `concurrent/faces.rs`, and run for each collection with each
//! kind of pointer. Those that begin with `small_` are for Miri, with many seeds:
//!
//! `MIRIFLAGS=-Zmiri-many-seeds=0..8 cargo +nightly miri test --test concurrent small_`

#![allow(clippy::type_complexity)] // generic tests have long types

#[path = "concurrent/basics.rs"]
mod basics;
#[path = "concurrent/by_content.rs"]
mod by_content;
#[path = "concurrent/chains.rs"]
mod chains;
mod common;
#[path = "concurrent/contents.rs"]
mod contents;
#[path = "concurrent/cpython.rs"]
mod cpython;
#[path = "concurrent/destruction.rs"]
mod destruction;
#[path = "concurrent/dying.rs"]
mod dying;
#[path = "concurrent/equal_hashes.rs"]
mod equal_hashes;
#[path = "concurrent/explosions.rs"]
mod explosions;
#[path = "concurrent/faces.rs"]
mod faces;
#[path = "concurrent/flights.rs"]
mod flights;
#[path = "concurrent/last_pin.rs"]
mod last_pin;
#[path = "concurrent/makings.rs"]
mod makings;
#[path = "concurrent/pairs.rs"]
mod pairs;
#[path = "concurrent/reclaim.rs"]
mod reclaim;
#[path = "concurrent/reentry.rs"]
mod reentry;
#[path = "concurrent/statics.rs"]
mod statics;
#[path = "concurrent/stripes.rs"]
mod stripes;
#[path = "concurrent/sweeps.rs"]
mod sweeps;
#[path = "concurrent/thread_locals.rs"]
mod thread_locals;
#[path = "concurrent/threads.rs"]
mod threads;
#[path = "concurrent/touchy.rs"]
mod touchy;
#[path = "concurrent/weak_lookups.rs"]
mod weak_lookups;
