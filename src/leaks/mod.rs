//! Tests for objects that should be dead: a watch over some objects, and, with the feature
//! `holders`, a check of all objects that a closure makes. For a single object,
//! [`assert_dead!`](crate::assert_dead). For the paths that lead from maps to an object,
//! [`Cycles::holders`](crate::cycles::Cycles::holders).
//!
//! An answer is a list of groups, the largest first: objects of one type, made on one line, whose
//! handles were made on the same lines. Five thousand leaks of three kinds are three groups.

mod groups;
#[cfg(feature = "holders")]
mod snapshot;
mod watch;

pub use groups::{LeakGroup, Leaks};
pub(crate) use groups::{NO_LINES, by_line, write_groups, write_lines};
#[cfg(feature = "holders")]
pub use snapshot::{Snapshot, leak_check};
#[doc(hidden)]
pub use watch::__assert_dead;
pub use watch::{LeakWatch, Watch, Watched};
