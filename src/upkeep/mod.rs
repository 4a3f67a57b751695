//! What a collection of one owner does about deaths, however the collection stores its
//! [`Entries`]: counting, unlinking and destroying dead entries, and calling the waker. The hash
//! table of this crate is one implementation of [`Entries`]; the unit tests have a list.
//!
//! The upkeep never runs user code while an entry is half inserted or half removed: the upkeep
//! first unlinks the entry, and drops the remains when the entries are consistent again. If the
//! destructor of a value kills the next key, the death only pushes the next notice: the loops here
//! take the notice, without recursion.
//!
//! The order of the files, each of which uses only earlier files. `entry`, `reclaim` and `kept` are
//! parts of `entries`, which has the type itself. `waker` calls the waker; `notices` and `sweep`
//! find dead entries; `drain` reclaims dead entries; `into_entries` takes all entries out.

mod drain;
mod entries;
mod entry;
mod into_entries;
mod kept;
mod notices;
mod reclaim;
mod sweep;
mod waker;

#[cfg(all(test, weakly_loom))]
mod models;
#[cfg(all(test, not(weakly_loom)))]
mod tests;

pub(crate) use entries::{Entries, Upkeep};
pub(crate) use entry::{Entry, Remains};
pub(crate) use into_entries::IntoEntries;
pub use reclaim::Reclaim;
pub(crate) use sweep::Walk;
