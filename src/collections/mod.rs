//! The collections of one owner: thin faces of one [store](store::Store).

pub(crate) mod algebra;
pub(crate) mod common;
pub mod entry;
pub(crate) mod hash_map;
pub(crate) mod hash_set;
pub(crate) mod interner;
pub mod iter;
pub(crate) mod map;
pub(crate) mod pair_map;
pub(crate) mod set;
pub(crate) mod shown;
pub(crate) mod store;
pub(crate) mod value_map;
