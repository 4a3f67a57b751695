//! The collections of one owner, with their entries, iterators and errors, each in the module that
//! is named after the collection. Collections that threads share are in
//! [`concurrent`](crate::concurrent).

// The collections are thin faces of one store. The order of the files: `shown`, how users see the
// slots of an entry; `lookup`, how operations find the entry of a key; `iter`, `entry` and `store`,
// which work on any slots; `common`, `weak_values`
// and `algebra`, methods that several collections share; `traits`, their constructors and trait
// impls; `names`, the names of their entries and iterators; then the collections, none of which
// uses another; and `cyclic`, which traces cycles through the collections.

pub(crate) mod algebra;
pub(crate) mod common;
mod cyclic;
pub mod entry;
pub(crate) mod hash_map;
pub(crate) mod hash_pair_map;
pub(crate) mod hash_set;
pub(crate) mod interning;
pub mod iter;
pub(crate) mod lookup;
pub(crate) mod map;
pub(crate) mod names;
pub(crate) mod pair_map;
pub(crate) mod set;
pub(crate) mod shown;
pub(crate) mod store;
pub(crate) mod traits;
pub(crate) mod value_map;
mod weak_values;

pub use crate::hash::DefaultHasher;
pub use hash_map::names as weak_hash_map;
pub use hash_pair_map::names as weak_hash_pair_map;
pub use hash_set::names as weak_hash_set;
pub use interning::names as interner;
pub use map::names as weak_map;
pub use pair_map::names as weak_pair_map;
pub use set::names as weak_set;
pub use value_map::names as weak_value_map;

// The pages of these types are in the root.
#[doc(no_inline)]
pub use {
    hash_map::WeakHashMap, hash_pair_map::WeakHashPairMap, hash_set::WeakHashSet,
    interning::Interner, map::WeakMap, pair_map::WeakPairMap, set::WeakSet,
    value_map::WeakValueMap,
};
