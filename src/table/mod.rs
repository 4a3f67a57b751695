//! The one table behind all the collections: entries whose slots may die.
//!
//! It knows no hasher and no pointer: hashes come in as [`HashValue`](crate::hash::HashValue), what they hold as [`Slot`]s. The one that it
//! is given to move an entry must lead where the entry's notice will look ([`Slot::hash_of_notice`]):
//! a notice that misses its entry is taken for a late one, and frees a hook that is still in use. It never
//! runs code of a user while an entry is half in: an entry is unlinked first, and what is left of it
//! is dropped when the table is whole again. A value's destructor that kills the next key only makes
//! the next notice; it is the loops here that go on, not the stack.

//!
//! The order of the files: `slot`, `entry`; `reclaim`, `kept`; `entries`, which has the table itself; `notices` and
//! `sweep`, by which the dead are found; `upkeep`; and on top of it the ways in and out: `place`, `by_content`,
//! `into_entries`.

mod by_content;
mod entries;
mod entry;
mod into_entries;
mod kept;
mod notices;
mod place;
mod reclaim;
mod slot;
mod sweep;
mod upkeep;

pub(crate) use entries::Table;
pub(crate) use entry::{Entry, Remains};
pub(crate) use into_entries::IntoEntries;
pub(crate) use place::{Found, Place, Vacant};
pub use reclaim::Reclaim;
pub use slot::Owned;
pub(crate) use slot::Slot;
pub(crate) use sweep::{Search, Walk};
