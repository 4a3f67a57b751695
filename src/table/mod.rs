//! The hash table behind all collections of one owner. The slots of an entry may die: the table
//! counts, unlinks and destroys its dead entries, and calls the waker.
//!
//! The table knows no hasher and no pointer: hashes come in as
//! [`HashValue`](crate::hash::HashValue), keys and values as [slots](crate::reference::Slot). The
//! table finds an entry by its hash, so the hash is also the cookie with which the slots of the
//! entry are registered: by the cookie in a notice, the entry is found wherever it has moved. When
//! the table moves an entry, it uses the hash with which the slots of the entry were registered
//! ([`Entry::hash`]), whatever the `Hash` of a key returns now.
//!
//! The table never runs user code while an entry is half inserted or half removed: it first unlinks
//! the entry, and drops the remains when the entries are consistent again. If the destructor of a
//! value kills the next key, the death only pushes the next notice: the loops here take the notice,
//! without recursion.
//!
//! The order of the files, each of which uses only earlier files. `entry`, `marks`, `reclaim`
//! and `kept` are parts of `entries`, which has the table itself. `waker` calls the waker;
//! `notices` and `sweep` find dead entries; `drain` reclaims dead entries; `room` grows and shrinks
//! the table. Last come the ways in and out: `place`, `pop`, `of_value` and `into_entries`.

mod drain;
mod entries;
mod entry;
mod into_entries;
mod kept;
mod marks;
mod notices;
mod of_value;
mod place;
mod pop;
mod reclaim;
mod room;
mod sweep;
mod waker;

#[cfg(all(test, weakly_loom))]
mod models;

pub(crate) use entries::Table;
pub(crate) use entry::{Entry, Remains};
pub(crate) use into_entries::IntoEntries;
pub(crate) use place::{Found, Place, Vacant};
pub use reclaim::Reclaim;
pub(crate) use sweep::Walk;
