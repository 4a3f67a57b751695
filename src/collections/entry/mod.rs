//! The entry interface, as in std and hashbrown: once for collections that own their values, once
//! for collections that refer to their values weakly. Use the names in the module of the
//! collection, such as [`weak_map::Entry`](crate::collections::weak_map::Entry).
//!
//! `G` is a key as the caller passes it: by reference if the collection refers to the key weakly,
//! otherwise by value.

mod keys;
mod owned;
mod text;
mod weak;

pub use super::shown::Given;
pub use owned::{Entry, OccupiedEntry, OccupiedError, VacantEntry};
pub use weak::{
    Entry as WeakEntry, OccupiedEntry as WeakOccupiedEntry, OccupiedError as WeakOccupiedError,
    VacantEntry as WeakVacantEntry,
};
