#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", test, weakly_loom))]
extern crate std;

#[allow(unsafe_code)]
mod ptr;
mod sync;

pub use ptr::{Atomic, Flavour, Handle, Local, WeakHandle, __unsize};

/// A strong handle that may cross threads. See [`Handle`].
pub type Strong<T> = Handle<T, Atomic>;
/// A weak handle that may cross threads. See [`WeakHandle`].
pub type Weak<T> = WeakHandle<T, Atomic>;

/// The same pointer for one thread: plain cells instead of atomics.
pub mod local {
    /// A strong handle for one thread. See [`Handle`](crate::Handle).
    pub type Strong<T> = crate::Handle<T, crate::Local>;
    /// A weak handle for one thread. See [`WeakHandle`](crate::WeakHandle).
    pub type Weak<T> = crate::WeakHandle<T, crate::Local>;
}
