//! What the code of hostile users does to collections and pointers: it must never be undefined
//! behaviour, and what is left must be usable. Each bug class has a file.
//!
//! # Panics (`hostile/panics.rs`)
//!
//! Destructors of values and of payloads, closures, iterators and finalizers panic; the panic is
//! caught, and the collection is used on. It may have lost an entry that was in the user's hands;
//! it must not have lost count, nor touch anything twice.
//!
//! # Forgotten guards (`hostile/forgotten.rs`)
//!
//! A guard or an iterator is forgotten, so that no destructor tidies up after it; then the keys die
//! and send their notices. Whoever gets them must still be there.
//!
//! # Re-entry (`hostile/reentry.rs`)
//!
//! Destructors, closures and finalizers use the very collection that runs them, or another one, or
//! drop it.
//!
//! # Chains (`hostile/chains.rs`)
//!
//! Each death causes the next, a million times, on a small stack.
//!
//! # Contents (`hostile/contents.rs`)
//!
//! `Hash` and `Eq` change, lie, panic, or kill what is being looked at, whose destructor then runs at the
//! end of a lookup.
//!
//! # Equal hashes (`hostile/equal_hashes.rs`)
//!
//! All contents have the same hash.
//!
//! # Owned keys (`hostile/owned_keys.rs`)
//!
//! The destructors of a weak value's key panic, kill other values, and use maps, their own too.
//!
//! # Pairs (`hostile/pairs.rs`)
//!
//! Either side dies, both do, and each in the middle of the other's death.
//!
//! # Makers (`hostile/makers.rs`)
//!
//! What makes objects for a collection panics, kills, or makes something else.
//!
//! # Threads (`hostile/threads.rs`)
//!
//! The deaths come from other threads. Under Miri, with many seeds.
//!
//! Tests that are the same for several collections are written over `hostile/faces.rs`.

#[path = "hostile/chains.rs"]
mod chains;
mod common;
#[path = "hostile/contents.rs"]
mod contents;
#[path = "hostile/equal_hashes.rs"]
mod equal_hashes;
#[path = "hostile/faces.rs"]
mod faces;
#[path = "hostile/forgotten.rs"]
mod forgotten;
#[path = "hostile/makers.rs"]
mod makers;
#[path = "hostile/owned_keys.rs"]
mod owned_keys;
#[path = "hostile/pairs.rs"]
mod pairs;
#[path = "hostile/panics.rs"]
mod panics;
#[path = "hostile/reentry.rs"]
mod reentry;
#[path = "hostile/threads.rs"]
mod threads;
