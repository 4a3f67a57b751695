//! The collections for one owner: thin faces of one [store](store::Store).
//!
//! The order of the files: `shown`, how the slots of an entry are shown to users; `iter`, `entry` and `store`,
//! which work on any slots; `common`, `pairing` and `algebra`, the methods that several collections share, `traits`, their constructors and trait
//! impls, and `names`, their entries and iterators; then the collections, none of which uses another.

pub(crate) mod algebra;
pub(crate) mod common;
#[cfg(not(weakly_loom))]
mod cyclic;
pub mod entry;
pub(crate) mod hash_map;
pub(crate) mod hash_pair_map;
pub(crate) mod hash_set;
pub(crate) mod interner;
pub mod iter;
pub(crate) mod map;
pub(crate) mod names;
pub(crate) mod pair_map;
mod pairing;
pub(crate) mod set;
pub(crate) mod shown;
pub(crate) mod store;
pub(crate) mod traits;
pub(crate) mod value_map;
