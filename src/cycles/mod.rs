//! Entries that keep themselves alive: how they are found, and what is shown of them.
//!
//! A value that owns its key, directly or through other objects, keeps its entry for ever. The
//! counts of strong handles and what the values show ([`Trace`]) tell which entries nothing else
//! leads to; those are removed, unless their keys would live on without them. That is the only
//! action, so nothing that anybody holds is ever destroyed, whatever a value shows.

// The order of the files: `addresses`; `search`; `counted`, the handles whose strong handles can be
// counted; `graph`, what the values of the maps lead to; `census`, whether the counts of all
// objects were right at one moment; `verdict`, which entries go; `impls`, what the types of the
// standard library show; `member` and `purge`, the maps; `paths`, the ways to an object.

mod addresses;
mod census;
mod counted;
mod graph;
mod impls;
mod member;
mod paths;
mod purge;
mod search;
mod verdict;

#[cfg(all(test, weakly_loom))]
mod models;

pub(crate) use addresses::Addresses;
pub use graph::{Item, Trace, Tracer};
pub(crate) use impls::show_nothing;
pub(crate) use member::{Entries, EntryOf, Member};
pub use paths::{HolderPath, Holders};
pub(crate) use purge::sealed::Sealed;
pub use purge::{Cycles, Cyclic, Purged};
