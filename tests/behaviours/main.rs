//! What a weak collection must do, item by item: each test's comment begins with the number of the
//! behaviour that it shows. Collected from the tests and the bug trackers of the weak collections of
//! CPython, PyTorch, the JVM, .NET, PHP, Swift and others.
//!
//! Weak values, double-weak maps and interners (items 110–119), cycles (144–156), concurrent maps
//! (157–165) and attributes (166–177) have their tests with the collections that they are about.

// Generic tests have long types, and an equality is asserted both ways on purpose.
#![allow(clippy::type_complexity, clippy::nonminimal_bool, clippy::eq_op)]

mod collections;
#[path = "../common/mod.rs"]
mod common;
mod heap;

mod a_map_basics;
mod a_map_contents;
mod b_identity;
mod c_key_death;
mod c_key_death_reentrant;
mod d_dead_queue;
mod d_threads;
mod e_size;
mod f_iteration;
mod g_weak_set;
mod i_pointers;
mod j_finalizers;
