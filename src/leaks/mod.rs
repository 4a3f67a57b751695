//! What should be dead and is not: a watch over some objects, and, with the feature `holders`, over
//! all that a closure makes. For one object, [`assert_dead!`](crate::assert_dead).

#[cfg(feature = "holders")]
mod snapshot;
mod watch;

#[cfg(feature = "holders")]
pub use snapshot::{Leak, Snapshot, leak_check};
#[doc(hidden)]
pub use watch::__assert_dead;
pub use watch::LeakWatch;
