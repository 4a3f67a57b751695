//! The hash table behind all collections. The slots of an entry may die; the [upkeep] of the table
//! reclaims dead entries.
//!
//! The table knows no hasher and no pointer: hashes come in as
//! [`HashValue`](crate::hash::HashValue), keys and values as [slots](crate::reference::Slot). The
//! table finds an entry by its hash, so the hash is also the cookie of the entry. When the table
//! moves an entry, it uses the hash with which the slots of the entry were registered
//! ([`Entry::hash`](crate::upkeep::Entry::hash)), whatever the `Hash` of a key returns now.
//!
//! [upkeep]: crate::upkeep
//!
//! The order of the files, each of which uses only earlier files. `marks` is a part of `buckets`;
//! `entries` has the table itself; `room` grows and shrinks the table. Last come the ways in and
//! out: `place`, `pop` and `of_value`.

mod buckets;
mod entries;
mod marks;
mod of_value;
mod place;
mod pop;
mod room;

pub(crate) use entries::{IntoEntries, Table};
pub(crate) use place::{Found, Place, Vacant};
