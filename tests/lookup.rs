//! Lookups by content: what finds a key (`lookup/queries.rs`), hashes computed beforehand (`lookup/hashed.rs`, and
//! hostile ones in `lookup/lies.rs`), making what is not there (`lookup/making.rs`), and what runs while entries move
//! (`lookup/rehash.rs`). Each test's comment begins
//! with the number of the behaviour it shows.

mod common;
#[path = "lookup/counted.rs"]
mod counted;
#[path = "lookup/hashed.rs"]
mod hashed;
#[path = "lookup/lies.rs"]
mod lies;
#[path = "lookup/making.rs"]
mod making;
#[path = "lookup/queries.rs"]
mod queries;
#[path = "lookup/rehash.rs"]
mod rehash;
