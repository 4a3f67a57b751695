#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test, weakly_loom))]
extern crate std;

// The rooms with unsafe code; everywhere else it is an error.
#[allow(unsafe_code)]
mod dead;
#[allow(unsafe_code)]
mod finalize;
#[allow(unsafe_code)]
mod pointers;
#[allow(unsafe_code)]
mod ptr;
#[allow(unsafe_code)]
mod reference;

#[cfg(doctest)]
mod compile_fail;
mod hash;
mod map;
mod set;
mod sync;
mod table;

#[cfg(doc)]
#[doc = include_str!("../docs/DESIGN.md")]
pub mod design {}

pub use finalize::FinalizerToken;
pub use map::WeakMap;
pub use ptr::{__unsize, Atomic, Flavour, Handle, Local, WeakHandle};
pub use reference::{Addr, Identify, Notified, Notify, StrongRef, Swept, Watching, WeakRef};
pub use set::WeakSet;

/// The entries and iterators of [`WeakMap`].
pub mod weak_map {
    pub use crate::map::{
        Drain, DrainDead, Entry, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys,
        OccupiedEntry, OccupiedError, VacantEntry, Values, ValuesMut, WeakKeys,
    };
}

/// The iterators of [`WeakSet`].
pub mod weak_set {
    pub use crate::set::{
        Difference, Drain, Intersection, IntoIter, Iter, SymmetricDifference, Union,
    };
}

/// A strong handle that may cross threads. See [`Handle`].
pub type Strong<T> = Handle<T, Atomic>;
/// A weak handle that may cross threads. See [`WeakHandle`].
pub type Weak<T> = WeakHandle<T, Atomic>;
/// The token of a finalizer that may cross threads. See [`FinalizerToken`].
pub type Finalizer = FinalizerToken<Atomic>;

/// The same pointer for one thread: plain cells instead of atomics.
pub mod local {
    /// A strong handle for one thread. See [`Handle`](crate::Handle).
    pub type Strong<T> = crate::Handle<T, crate::Local>;
    /// A weak handle for one thread. See [`WeakHandle`](crate::WeakHandle).
    pub type Weak<T> = crate::WeakHandle<T, crate::Local>;
    /// The token of a finalizer for one thread. See [`FinalizerToken`](crate::FinalizerToken).
    pub type Finalizer = crate::FinalizerToken<crate::Local>;
}
