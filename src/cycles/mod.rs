//! Finds the entries that keep themselves alive, and reports the paths to an object.
//!
//! A value that owns its key, directly or through other objects, keeps its entry for ever. A purge
//! compares the count of strong handles to each object with the handles that values show
//! ([`Trace`]). The comparison tells which entries nothing else leads to. The purge removes these
//! entries, except entries whose keys would live on without them. Removing entries is the only
//! action: an object with a handle elsewhere is never destroyed, even if a `Trace` is wrong.

// The files: `addresses`, numbers by address; `search`, one search for each thread at a time;
// `counted`, the handles whose strong handles can be counted; `graph`, the objects to which the
// values of the maps lead; `foreign`, objects that another language counts; `items`, the items of
// another crate's collection; `census`, whether the counts of all objects were right at one moment;
// `verdict`, the entries to remove; `impls`, `Trace` for the types of the standard library;
// `derived`, `Trace` for users' types; `member` and `purge`, the maps; `paths`, the paths to an
// object, and `report`, the names on them.

mod addresses;
mod census;
mod counted;
#[cfg(feature = "derive")]
mod derived;
mod foreign;
mod graph;
mod impls;
mod items;
mod member;
mod paths;
mod purge;
mod report;
mod search;
mod verdict;

#[cfg(all(test, weakly_loom))]
mod models;

pub(crate) use addresses::Addresses;
#[cfg(feature = "derive")]
#[doc(inline)]
pub use derived::Trace;
pub use graph::{Trace, Tracer};
pub(crate) use impls::show_nothing;
pub use items::Item;
pub(crate) use member::{Contents, Entries, EntryOf, Member, WeakKeys};
pub use paths::{HolderGroup, HolderPath, Holders};
pub(crate) use purge::sealed::Sealed;
pub use purge::{Cycles, Cyclic, Drained, Kept, Purged};
pub(crate) use purge::{drain_one, purge_one};
