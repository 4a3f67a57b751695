//! What a weak collection must do, item by item: each test's comment begins with the number of the behaviour it
//! shows, in the list of `tests/BEHAVIOURS.md`.
//!
//! Cycles (144–156), concurrent maps (119, 157–165) and attributes (166–177) have their tests with the
//! collections they are about.
//!
//! Most behaviours are those of every collection: they are written over the traits in `collections`, and run for
//! each collection with each kind of pointer.

// Generic tests have long types, and an equality is asserted both ways on purpose.
#![allow(clippy::type_complexity, clippy::nonminimal_bool, clippy::eq_op)]

mod collections;
#[path = "../common/mod.rs"]
mod common;

mod a_map_basics;
mod a_map_contents;
mod a_map_routes;
mod a_map_transfer;
mod b_identity;
mod c_key_death;
mod c_key_death_reentrant;
mod d_dead_queue;
mod d_instalments;
mod d_late;
mod d_threads;
mod e_size;
mod f_iteration;
mod g_weak_set;
mod h_content;
mod h_interner;
mod h_of_values;
mod h_weak_pairs;
mod h_weak_values;
mod i_expired;
mod i_pointers;
mod i_raw;
mod j_finalizers;
mod n_memory;
mod n_reclaim;

use common::heap::{self, Counting, Heap};

#[global_allocator]
static HEAP: Heap<Counting> = Heap(Counting);
