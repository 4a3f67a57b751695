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

#[path = "hostile/chains.rs"]
mod chains;
mod common;
#[path = "hostile/contents.rs"]
mod contents;
#[path = "hostile/faces.rs"]
mod faces;
#[path = "hostile/forgotten.rs"]
mod forgotten;
#[path = "hostile/pairs.rs"]
mod pairs;
#[path = "hostile/panics.rs"]
mod panics;
#[path = "hostile/reentry.rs"]
mod reentry;
