//! The entry interface, as std and hashbrown have it: once for collections that own their values, once
//! for those that hold them weakly. Take the types by their names in the module of the collection, such
//! as [`weak_map::Entry`](crate::weak_map::Entry).
//!
//! `G` is a key as it was given: by reference if it is held weakly, else by value.

mod owned;
mod text;
mod weak;

pub use owned::{Entry, OccupiedEntry, OccupiedError, VacantEntry};
pub use weak::{
    Entry as WeakEntry, OccupiedEntry as WeakOccupiedEntry, OccupiedError as WeakOccupiedError,
    VacantEntry as WeakVacantEntry,
};
