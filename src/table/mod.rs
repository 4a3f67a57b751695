//! The one table behind all collections: entries whose slots may die.
//!
//! The table knows no hasher and no pointer: hashes come in as
//! [`HashValue`](crate::hash::HashValue), keys and values as [`Slot`]s. When the table moves an
//! entry, its hash must be the cookie that the notice of the entry will carry ([`Slot::cookie`]).
//! Otherwise the notice does not find its entry, is mistaken for a late notice, and frees a hook
//! that is still in use.
//!
//! The table never runs user code while an entry is half inserted or half removed: the table first
//! unlinks the entry, and drops the remains when the table is consistent again. If the destructor
//! of a value kills the next key, the death only pushes the next notice: the loops here take the
//! notice, without recursion.
//!
//! The order of the files, each of which uses only earlier files. `entry`, `reclaim`, `kept` and
//! `marks` are parts of a table, and `entries` has the table itself. `waker` calls the waker;
//! `notices` and `sweep` find dead entries; `upkeep` reclaims dead entries, and grows and shrinks
//! the table. Last come the ways in and out: `place`, `of_value` and `into_entries`.

mod entries;
mod entry;
mod into_entries;
mod kept;
mod marks;
mod notices;
mod of_value;
mod place;
mod reclaim;
mod sweep;
mod upkeep;
mod waker;

#[cfg(all(test, weakly_loom))]
mod models;

pub(crate) use entries::Table;
pub(crate) use entry::{Entry, Remains};
pub(crate) use into_entries::IntoEntries;
pub(crate) use place::{Found, Place, Vacant};
pub use reclaim::Reclaim;
pub(crate) use sweep::{Search, Walk};
