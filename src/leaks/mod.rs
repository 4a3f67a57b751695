//! Tests for objects that should be dead: a watch over some objects, and, with the feature
//! `holders`, a check of all objects that a closure makes. For a single object,
//! [`assert_dead!`](crate::assert_dead).

#[cfg(feature = "holders")]
mod snapshot;
mod watch;

#[cfg(feature = "holders")]
pub use snapshot::{Leak, Snapshot, leak_check};
#[doc(hidden)]
pub use watch::__assert_dead;
pub use watch::LeakWatch;
