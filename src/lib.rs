#![doc = include_str!("../README.md")]
#![no_std]
// docs.rs says of each item which feature it needs; the other conditions are those of our tests.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(weakly_loom, test, doctest))))]

extern crate alloc;
#[cfg(any(feature = "std", test, weakly_loom))]
extern crate std;

// The rooms with unsafe code; everywhere else it is an error.
#[allow(unsafe_code)]
mod pointers;
#[allow(unsafe_code)]
pub mod ptr;
#[allow(unsafe_code)]
mod queue;
#[allow(unsafe_code)]
mod reference;

mod algebra;
#[cfg(all(feature = "std", not(weakly_loom)))]
mod attribute;
#[cfg(all(feature = "std", not(weakly_loom)))]
mod attributes;
mod common;
#[cfg(doctest)]
mod compile_fail;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub mod concurrent;
// Of what is shared, loom runs the table alone: the rest is made of it.
#[cfg(all(feature = "std", weakly_loom))]
mod concurrent {
    #[allow(unsafe_code, dead_code, unused_imports)]
    mod raw;
}
pub mod entry;
#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(dead_code))]
mod flight;
mod hash;
mod hash_map;
mod hash_set;
mod identity;
mod interner;
pub mod iter;
mod map;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub mod memo;
mod pair_map;
mod reclaim;
mod set;
mod side;
mod store;
mod sync;
mod table;
mod value_map;
mod watching;

#[cfg(doc)]
#[doc = include_str!("../docs/DESIGN.md")]
#[doc = include_str!("../docs/SHARED.md")]
pub mod design {}

pub use algebra::Set;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub use attribute::Attribute;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub use attributes::{AttributeId, AttributeKey, Attributes};
pub use hash::{DefaultHashBuilder, DefaultHasher};
pub use hash_map::WeakHashMap;
pub use hash_set::WeakHashSet;
pub use identity::{ByIdentity, dismantle};
pub use interner::Interner;
pub use map::WeakMap;
#[cfg(all(feature = "std", not(weakly_loom)))]
pub use memo::{Memo, Rewritten};
pub use pair_map::WeakPairMap;
pub use ptr::{__unsize, Atomic, Expired, FinalizerToken, Flavour, Local};
pub use reclaim::Reclaim;
pub use reference::{Addr, Content, Identify, Notify, StrongRef, WeakRef};
pub use set::WeakSet;
pub use value_map::WeakValueMap;
pub use watching::{Notified, Swept, Watching};

pub use hash_map::names as weak_hash_map;
pub use hash_set::names as weak_hash_set;
pub use map::names as weak_map;
pub use pair_map::names as weak_pair_map;
pub use set::names as weak_set;
pub use value_map::names as weak_value_map;

/// A strong handle that may cross threads. Its methods are on the page of [`ptr::Strong`].
pub type Strong<T> = ptr::Strong<T, Atomic>;
/// A weak handle that may cross threads. Its methods are on the page of [`ptr::Weak`].
pub type Weak<T> = ptr::Weak<T, Atomic>;
/// The token of a finalizer that may cross threads. See [`FinalizerToken`].
pub type Finalizer = FinalizerToken<Atomic>;

/// The same pointer for one thread: plain cells instead of atomics.
pub mod local {
    /// A strong handle for one thread. Its methods are on the page of [`ptr::Strong`](crate::ptr::Strong).
    pub type Strong<T> = crate::ptr::Strong<T, crate::Local>;
    /// A weak handle for one thread. Its methods are on the page of [`ptr::Weak`](crate::ptr::Weak).
    pub type Weak<T> = crate::ptr::Weak<T, crate::Local>;
    /// The token of a finalizer for one thread. See [`FinalizerToken`](crate::FinalizerToken).
    pub type Finalizer = crate::FinalizerToken<crate::Local>;
}
