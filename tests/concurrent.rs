//! What the shared collections must do. Each test's comment begins with the number of the behaviour it shows
//! (section L, 157 to 165, is about threads; the others are behaviours of collections with one owner, as in
//! `tests/behaviours`).
//!
//! Most tests are written once, with a kit of `common/subject`, and run for each collection with each kind of pointer.
//! Each further type of table takes long to compile, so the tests share few: objects and values are numbers, or `Owned`
//! where their end is reported, or `Custom` where they have user code of the test's. A closure that is not the point of a
//! test is passed as an object (`concurrent/dynamic.rs`).
//!
//! The tests whose names begin with `small_` are for Miri, with many seeds:
//!
//! `MIRIFLAGS=-Zmiri-many-seeds=0..8 cargo +nightly miri test --test concurrent small_`

#![allow(clippy::type_complexity)] // generic tests have long types

#[path = "concurrent/backlog.rs"]
mod backlog;
#[path = "concurrent/bags.rs"]
mod bags;
#[path = "concurrent/basics.rs"]
mod basics;
#[path = "concurrent/by_content.rs"]
mod by_content;
#[path = "concurrent/callbacks.rs"]
mod callbacks;
#[path = "concurrent/chains.rs"]
mod chains;
mod common;
#[path = "concurrent/destruction.rs"]
mod destruction;
#[path = "concurrent/dying.rs"]
mod dying;
#[path = "concurrent/dynamic.rs"]
mod dynamic;
#[path = "concurrent/entries.rs"]
mod entries;
#[path = "concurrent/eq.rs"]
mod eq;
#[path = "concurrent/equal_hashes.rs"]
mod equal_hashes;
#[path = "concurrent/evictions.rs"]
mod evictions;
#[path = "concurrent/faces.rs"]
mod faces;
#[cfg(all(unix, not(miri)))]
#[path = "concurrent/forks.rs"]
mod forks;
#[path = "concurrent/get_or_insert.rs"]
mod get_or_insert;
#[path = "concurrent/handed_out.rs"]
mod handed_out;
#[path = "concurrent/instalments.rs"]
mod instalments;
#[path = "concurrent/interference.rs"]
mod interference;
#[path = "concurrent/last_pin.rs"]
mod last_pin;
#[path = "concurrent/last_users.rs"]
mod last_users;
#[path = "concurrent/leaving.rs"]
mod leaving;
#[path = "concurrent/nesting.rs"]
mod nesting;
#[path = "concurrent/objects.rs"]
mod objects;
#[path = "concurrent/of_values.rs"]
mod of_values;
#[path = "concurrent/pairs.rs"]
mod pairs;
#[path = "concurrent/panicking_destructors.rs"]
mod panicking_destructors;
#[path = "concurrent/panicking_results.rs"]
mod panicking_results;
#[path = "concurrent/racing.rs"]
mod racing;
#[path = "concurrent/reclaim.rs"]
mod reclaim;
#[path = "concurrent/reentry.rs"]
mod reentry;
#[path = "concurrent/single_flight.rs"]
mod single_flight;
#[path = "concurrent/snapshots.rs"]
mod snapshots;
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
#[path = "concurrent/transfers.rs"]
mod transfers;
#[path = "concurrent/weak_drops.rs"]
mod weak_drops;
#[path = "concurrent/weak_lookups.rs"]
mod weak_lookups;
