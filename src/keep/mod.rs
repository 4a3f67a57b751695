//! Keeps objects alive for a while: a [`KeepAlive`] has strong handles to the objects that were
//! used last, within a [`Limit`].
//!
//! A weak collection forgets an object when the last user drops it. A *floor* under the collection
//! keeps unused objects for a while: see [`KeepAlive`]. Threads share a
//! [`concurrent::KeepAlive`](crate::concurrent::KeepAlive), which serves
//! [`concurrent::WeakValueMap`](crate::concurrent::WeakValueMap) and
//! [`concurrent::Interner`](crate::concurrent::Interner) as a floor. A *ceiling* bounds a
//! collection: entries are evicted although their keys live. [`Memo`](crate::Memo) and
//! [`concurrent::WeakMap`](crate::concurrent::WeakMap) can have a ceiling.
//!
//! The chapter [`keep`](crate::guide::keep) of the guide says when to use a floor, and when a
//! ceiling.

mod alive;
mod limit;
pub(crate) mod ring;
#[cfg(feature = "std")]
pub(crate) mod shared;

pub use alive::KeepAlive;
pub use limit::{Gone, Limit};
