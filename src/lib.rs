// Pages of rustdoc cannot link to files of the repository. So there the pictures are in the text,
// and the links lead to modules. Before the README, since the first definition of a link wins.
#![cfg_attr(doc, doc = include_str!("../docs/PICTURES.md"))]
#![cfg_attr(doc, doc = "[docs/PERFORMANCE.md]: crate::guide::performance")]
#![cfg_attr(doc, doc = "[guide]: crate::guide")]
#![cfg_attr(doc, doc = "[side tables]: crate::guide::side_tables")]
#![cfg_attr(doc, doc = "[attributes]: crate::guide::attributes")]
#![cfg_attr(doc, doc = "[memos]: crate::guide::memo")]
#![cfg_attr(doc, doc = "[interning and hash-consing]: crate::guide::interning")]
#![cfg_attr(doc, doc = "[back-pointers]: crate::guide::back_pointers")]
#![cfg_attr(doc, doc = "[observers]: crate::guide::observers")]
#![cfg_attr(doc, doc = "[cache in a server]: crate::guide::server_cache")]
#![cfg_attr(doc, doc = "[keep for a while]: crate::guide::keep")]
#![cfg_attr(doc, doc = "[single flight for tasks]: crate::guide::single_flight")]
#![cfg_attr(doc, doc = "[where values are destroyed]: crate::guide::destruction")]
#![cfg_attr(doc, doc = "[what it costs]: crate::guide::costs")]
#![cfg_attr(doc, doc = "[bound]: crate::guide::shared#batches")]
#![cfg_attr(doc, doc = "[keys that are addresses]: crate::guide::address_keys")]
#![cfg_attr(doc, doc = "[weak-table]: crate::guide::from_weak_table")]
#![cfg_attr(doc, doc = "[`HashMap` of `Weak`]: crate::guide::from_by_hand")]
#![cfg_attr(doc, doc = "[slotmap]: crate::guide::from_slotmap")]
#![cfg_attr(doc, doc = "[`Arc`]: crate::guide::from_arc")]
#![cfg_attr(doc, doc = "[other languages]: crate::guide::from_other_languages")]
#![cfg_attr(
    doc,
    doc = "[protocols]: crate::guide::protocols#protocols-and-their-models"
)]
#![cfg_attr(doc, doc = "[orderings]: crate::guide::protocols")]
#![cfg_attr(doc, doc = "[design]: crate::guide::design\n\n")]
// The second example of the README needs the shared collections.
#![cfg_attr(any(not(doctest), feature = "std"), doc = include_str!("../README.md"))]
#![no_std]
// docs.rs shows the required feature of each item. The other conditions belong to tests.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    docsrs,
    doc(auto_cfg(hide(weakly_loom, weakly_shuttle, test, doctest)))
)]

extern crate alloc;
#[cfg(any(feature = "std", test, weakly_loom))]
extern crate std;

// The rooms, in order: each room uses only earlier rooms. Unsafe code is an error unless it is
// allowed here, or for one file of a room.
mod sync;

#[cfg(feature = "std")]
#[cfg_attr(any(weakly_loom, weakly_shuttle), allow(dead_code))]
mod thread;

mod panics;

#[cfg(feature = "std")]
mod waits;

mod hash;

#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod list;

mod statistics;

pub mod holders;

#[allow(unsafe_code)]
pub mod ptr;

#[allow(unsafe_code)]
mod queue;

pub mod reference;

pub mod leaks;

mod table;

pub mod cycles;

pub mod collections;

pub mod reference_queue;

#[cfg_attr(not(feature = "std"), allow(dead_code))]
pub mod keep;

#[cfg(feature = "std")]
#[allow(unsafe_code)]
mod raw;

#[cfg(feature = "std")]
mod flight;

#[cfg(feature = "std")]
pub mod concurrent;

mod attribute;

#[cfg(feature = "std")]
pub mod memo;

#[cfg(all(feature = "serde", not(weakly_loom)))]
pub mod serde_impls;

#[cfg(doctest)]
mod compile_fail;

// For doc tests too: the code of the guide runs as tests, and needs the shared collections.
#[cfg(any(doc, all(doctest, feature = "std")))]
pub mod guide;

#[cfg(feature = "std")]
pub use attribute::{Attribute, Attributes};
pub use attribute::{AttributeId, AttributeKey, Existing};
#[doc(inline)]
pub use collections::{
    Interner, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet,
    WeakValueMap,
};
pub use equivalent::Equivalent;
pub use hash::DefaultHashBuilder;
#[doc(hidden)]
pub use leaks::__assert_dead;
#[cfg(feature = "std")]
#[doc(inline)]
pub use memo::Memo;
#[doc(hidden)]
pub use ptr::__unsize;
#[doc(inline)]
pub use ptr::Expired;
#[doc(hidden)]
pub use reference::__newtype;
#[doc(inline)]
pub use reference::{Addr, ByIdentity, Hashed, Query, dismantle};
#[doc(inline)]
pub use reference_queue::ReferenceQueue;
pub use statistics::MemoryUsage;
#[cfg(feature = "std")]
pub use statistics::Statistics;
#[doc(hidden)]
pub use sync::__in_critical_section;
pub use table::Reclaim;

/// A strong handle for several threads, like [`Arc`](alloc::sync::Arc). When its object dies,
/// collections are notified.
///
/// Alias of [`ptr::Strong`] with atomic counts; rustdoc lists all methods there. The most used
/// methods are:
///
/// * [`new`](ptr::Strong::new), and `From` for `str`, slices and boxes;
/// * [`new_cyclic`](ptr::Strong::new_cyclic), for a payload that refers to itself;
/// * [`new_returning`](ptr::Strong::new_returning), for a payload that goes back to a pool, or to
///   the thread that closes it;
/// * [`downgrade`](ptr::Strong::downgrade), which returns a [`Weak`];
/// * [`finalize`](ptr::Strong::finalize), for code that runs when the object has died;
/// * [`ptr_eq`](ptr::Strong::ptr_eq) and [`strong_count`](ptr::Strong::strong_count);
/// * [`get_mut`](ptr::Strong::get_mut), [`make_mut`](ptr::Strong::make_mut) and
///   [`into_inner`](ptr::Strong::into_inner).
pub type Strong<T> = ptr::Strong<T, ptr::Atomic>;
/// A weak handle for several threads, like [`std::sync::Weak`](alloc::sync::Weak).
///
/// Alias of [`ptr::Weak`] with atomic counts; rustdoc lists all methods there. The most used
/// methods are:
///
/// * [`new`](ptr::Weak::new), which never upgrades;
/// * [`upgrade`](ptr::Weak::upgrade), [`try_upgrade`](ptr::Weak::try_upgrade), whose error explains
///   the failure, and [`expect`](ptr::Weak::expect), which panics with this error;
/// * [`is_expired`](ptr::Weak::is_expired) and [`ptr_eq`](ptr::Weak::ptr_eq).
pub type Weak<T> = ptr::Weak<T, ptr::Atomic>;
/// A field that makes its value a key of weak collections, wherever the value is: in a `Box`, a
/// `Vec`, an arena, on the stack. The drop of the anchor is the death of the value.
///
/// Alias of [`ptr::Anchor`] for values that threads share; rustdoc lists all methods there, and
/// describes the pitfalls.
pub type Anchor = ptr::Anchor<ptr::Atomic>;
/// A weak handle to an [`Anchor`]: the handle only knows the anchor's identity, and whether the
/// anchor is dead.
///
/// Alias of [`ptr::AnchorRef`] for values that threads share.
pub type AnchorRef = ptr::AnchorRef<ptr::Atomic>;
/// The token of a finalizer for several threads. See [`ptr::FinalizerToken`] for its methods.
pub type Finalizer = ptr::FinalizerToken<ptr::Atomic>;

/// The single-threaded types: the handles, with plain counts instead of atomics, and namespaces of
/// attributes.
pub mod local {
    #[doc(inline)]
    pub use crate::attribute::{LocalAttributeKey as AttributeKey, LocalAttributes as Attributes};

    /// A list of objects that should be dead, for the handles of one thread, such as
    /// [`Strong`] and [`Rc`](alloc::rc::Rc), beside all others. All methods are those of
    /// [`Watch`](crate::leaks::Watch).
    pub type LeakWatch = crate::leaks::Watch<dyn crate::leaks::Watched>;
    /// A strong handle for one thread, like [`Rc`](alloc::rc::Rc). When its object dies,
    /// collections are notified.
    ///
    /// Alias of [`ptr::Strong`](crate::ptr::Strong) with plain counts; rustdoc lists all methods
    /// there. The most used methods are listed at [`Strong`](crate::Strong).
    pub type Strong<T> = crate::ptr::Strong<T, crate::ptr::Local>;
    /// A weak handle for one thread, like [`rc::Weak`](alloc::rc::Weak).
    ///
    /// Alias of [`ptr::Weak`](crate::ptr::Weak) with plain counts; rustdoc lists all methods there.
    /// The most used methods are listed at [`Weak`](crate::Weak).
    pub type Weak<T> = crate::ptr::Weak<T, crate::ptr::Local>;
    /// A field that makes its value a key of weak collections: alias of
    /// [`ptr::Anchor`](crate::ptr::Anchor) for values of one thread.
    pub type Anchor = crate::ptr::Anchor<crate::ptr::Local>;
    /// A weak handle to an [`Anchor`]: alias of [`ptr::AnchorRef`](crate::ptr::AnchorRef) for one
    /// thread.
    pub type AnchorRef = crate::ptr::AnchorRef<crate::ptr::Local>;
    /// The token of a finalizer for one thread. See [`FinalizerToken`](crate::ptr::FinalizerToken)
    /// for its methods.
    pub type Finalizer = crate::ptr::FinalizerToken<crate::ptr::Local>;
}
