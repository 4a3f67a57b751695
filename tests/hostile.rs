//! Hostile user code against collections and pointers: it must never cause undefined behaviour, and whatever is
//! left must be usable. Each bug class has a file.
//!
//! # Panics (`hostile/panics.rs`)
//!
//! Destructors of values and of payloads, closures, iterators and finalizers panic; the panic is caught, and the
//! collection is used afterwards. It may have lost an entry that user code had at that moment; its counts must
//! be right, and it must touch nothing twice.
//!
//! # Forgotten guards (`hostile/forgotten.rs`)
//!
//! A guard or an iterator is forgotten, so that its destructor does not clean up; then the keys die and send
//! their notices. The receivers of these must still be there.
//!
//! # Panicking results (`hostile/panicking_results.rs`)
//!
//! A destructor panics at the end of an operation that is about to return something.
//!
//! # Re-entry (`hostile/reentry.rs`)
//!
//! Destructors, closures and finalizers use the collection that runs them, or another one, or drop it.
//!
//! # Anchors (`hostile/anchors.rs`)
//!
//! Values without a handle die inside the collections that watch them.
//!
//! # Chains (`hostile/chains.rs`)
//!
//! Each death causes the next, a million times, on a small stack.
//!
//! # Contents (`hostile/contents.rs`)
//!
//! `Hash` and `Eq` change, lie, panic, or kill the object of the lookup, whose destructor then runs at the end
//! of the lookup.
//!
//! # Equal hashes (`hostile/equal_hashes.rs`)
//!
//! All contents have the same hash.
//!
//! # Owned keys (`hostile/owned_keys.rs`)
//!
//! The destructors of a weak value's key panic, kill other values, and use maps, including their own.
//!
//! # Pairs (`hostile/pairs.rs`)
//!
//! Either side dies, both do, and each in the middle of the other's death.
//!
//! # Makers (`hostile/makers.rs`)
//!
//! Closures and conversions that make objects for a collection panic, kill, or make something else.
//!
//! # Many entries (`hostile/many_entries.rs`)
//!
//! One object has very many: neither its death, nor the end of its maps, blocks other threads for long.
//!
//! # Threads (`hostile/threads.rs`)
//!
//! The deaths come from other threads. Under Miri, with many seeds.
//!
//! Tests that are the same for several collections are written over `hostile/faces.rs`.

#[path = "hostile/anchors.rs"]
mod anchors;
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
#[path = "hostile/many_entries.rs"]
mod many_entries;
#[path = "hostile/owned_keys.rs"]
mod owned_keys;
#[path = "hostile/pairs.rs"]
mod pairs;
#[path = "hostile/panicking_results.rs"]
mod panicking_results;
#[path = "hostile/panics.rs"]
mod panics;
#[path = "hostile/reentry.rs"]
mod reentry;
#[path = "hostile/threads.rs"]
mod threads;
