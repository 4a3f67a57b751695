//! Keeps objects alive for a while: a [`KeepAlive`] has strong handles to the latest of them,
//! within a [`Limit`].
//!
//! Weak collections forget an object with its last use. A *floor* under such a collection keeps
//! what nobody uses for a while: see [`KeepAlive`], and for what threads share
//! [`concurrent::KeepAlive`](crate::concurrent::KeepAlive), which
//! [`concurrent::WeakValueMap`](crate::concurrent::WeakValueMap) and
//! [`concurrent::Interner`](crate::concurrent::Interner) take. A *ceiling* bounds a collection: an
//! entry goes although its key lives. [`Memo`](crate::Memo) and
//! [`concurrent::WeakMap`](crate::concurrent::WeakMap) take one.
//!
//! The chapter [`keep`](crate::guide::keep) of the guide says when to use which.

mod alive;
mod limit;
pub(crate) mod list;
pub(crate) mod ring;
#[cfg(feature = "std")]
pub(crate) mod shared;

pub use alive::KeepAlive;
pub use limit::{Gone, Limit};
