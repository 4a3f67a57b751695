#![doc = include_str!("../README.md")]
#![no_std]
// docs.rs says of each item which feature it needs; the other conditions are those of our tests.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(weakly_loom, test, doctest))))]

extern crate alloc;
#[cfg(any(feature = "std", test, weakly_loom))]
extern crate std;

// The rooms, each of which uses only those before it. Unsafe code is an error but where it is allowed here or
// for a file of a room.
mod sync;

#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(dead_code))]
mod thread;

mod hash;

#[allow(unsafe_code)]
pub mod ptr;

#[allow(unsafe_code)]
mod queue;

mod reference;

mod table;

mod collections;

#[cfg_attr(weakly_loom, allow(dead_code))]
pub mod reference_queue;

#[cfg(all(feature = "std", not(weakly_loom)))]
pub mod concurrent;
// Of what is shared, loom runs the table alone, and the flights: the rest is made of them.
#[cfg(all(feature = "std", weakly_loom))]
mod concurrent {
    #[allow(dead_code)]
    mod flight;
    #[allow(unsafe_code, dead_code, unused_imports)]
    mod raw;
}

#[cfg(all(feature = "std", not(weakly_loom)))]
mod attribute;

#[cfg(all(feature = "std", not(weakly_loom)))]
pub mod memo;

#[cfg(doctest)]
mod compile_fail;

#[cfg(doc)]
#[doc = include_str!("../docs/DESIGN.md")]
#[doc = include_str!("../docs/SHARED.md")]
pub mod design {}

#[cfg(all(feature = "std", not(weakly_loom)))]
pub use attribute::{Attribute, AttributeId, AttributeKey, Attributes};
pub use collections::algebra::Set;
pub use collections::hash_map::{WeakHashMap, names as weak_hash_map};
pub use collections::hash_set::{WeakHashSet, names as weak_hash_set};
pub use collections::interner::Interner;
pub use collections::map::{WeakMap, names as weak_map};
pub use collections::pair_map::{WeakPairMap, names as weak_pair_map};
pub use collections::set::{WeakSet, names as weak_set};
pub use collections::value_map::{WeakValueMap, names as weak_value_map};
pub use collections::{entry, iter};
pub use hash::{DefaultHashBuilder, DefaultHasher};
#[cfg(all(feature = "std", not(weakly_loom)))]
pub use memo::{Memo, Rewritten};
pub use ptr::{__unsize, Atomic, Expired, FinalizerToken, Flavour, Local};
pub use reference::{Addr, ByIdentity, Content, Identify, Notified, Notify, StrongRef, Swept};
pub use reference::{Upgrade, Watch, WeakKey, WeakRef, dismantle};
#[cfg(not(weakly_loom))]
pub use reference_queue::ReferenceQueue;
pub use table::Reclaim;

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
