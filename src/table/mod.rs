//! The one table behind all the collections: entries whose slots may die.

mod by_content;
mod core;
mod into_entries;
mod kept;
mod place;
mod reclaim;
mod slot;
mod sweep;

pub(crate) use self::core::{Entry, Remains, Table};
pub(crate) use into_entries::IntoEntries;
pub(crate) use place::{Found, Place, Vacant};
pub use reclaim::Reclaim;
pub use slot::Owned;
pub(crate) use slot::Slot;
pub(crate) use sweep::{Search, Walk};
