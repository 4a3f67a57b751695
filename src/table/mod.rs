//! The one table behind all the collections: entries whose slots may die.
//!
//! The table knows no hasher and no pointer: hashes come in as
//! [`HashValue`](crate::hash::HashValue), keys and values as [`Slot`]s. The hash by which it moves
//! an entry must be the one that the entry's notice will carry ([`Slot::hash_of_notice`]): a notice
//! that misses its entry is taken for a late one, and frees a hook that is still in use.
//!
//! The table never runs user code while an entry is half inserted or half removed: it unlinks an
//! entry first, and drops what is left of it when the table is consistent again. If a value's
//! destructor kills the next key, that only creates the next notice: the loops here handle it,
//! without recursion.

//!
//! The order of the files: `entry`; `reclaim`, `kept`, `marks`; `entries`, which has the table
//! itself; `waker`; `notices` and `sweep`, which find the dead; `upkeep`; and on top of these the
//! ways in and out: `place`, `by_content`, `of_value`, `into_entries`.

mod by_content;
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
