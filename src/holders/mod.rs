//! Where each strong handle was made: who holds an object, and what has leaked. Feature `holders`.
//!
//! With the feature, each strong handle remembers the place in the source where it was made, and
//! its thread. So an object that should be dead names those that hold it:
//!
//! ```
//! # #[cfg(feature = "holders")] {
//! use weakly::{Strong, leaks::leak_check};
//!
//! let answer = leak_check(|| {
//!     let object = Strong::new(6);
//!     let again = object.clone();
//!     assert_eq!(Strong::holders(&object).len(), 2);
//!     assert_eq!(Strong::holders(&again)[0].location().file(), file!());
//!     *object * 7
//! });
//! assert_eq!(answer, 42);
//! # }
//! ```
//!
//! The place is that of the call of [`Strong::new`](crate::Strong), `clone`, `upgrade`, or of a
//! collection's method that returned the handle. A handle keeps its place when it is moved or
//! unsized. A raw pointer from [`into_raw`](crate::ptr::Strong::into_raw) is a holder too, made
//! there. What is forgotten stays listed.
//!
//! A handle that your code makes itself, by a call of a pointer's function, always knows file, line
//! and column. One that this crate or the standard library makes for you (`get`, `intern`, an
//! iterator, `Option::clone`) takes them from a backtrace, as those of your innermost call. That
//! needs line tables: debug builds have them, release builds with `debug = "line-tables-only"` in
//! their profile. Without line tables, **only the function is named**, or one that calls it and
//! that it was inlined into.
//!
//! A place tells little if the code there serves many callers, as `#[derive(Clone)]` does. With the
//! environment variable `WEAKLY_BACKTRACE=1`, the text of each handle shows all the calls that led
//! there.
//!
//! The feature is for tests and debugging. A handle gets larger; making and dropping one takes a
//! lock and an allocation (and a backtrace, which takes microseconds), but never while code of
//! yours runs. Without the feature none of this exists: no byte, no instruction.

#[cfg(not(feature = "holders"))]
mod off;
#[cfg(feature = "holders")]
mod origin;
#[cfg(feature = "holders")]
mod registry;

#[cfg(not(feature = "holders"))]
pub(crate) use off::{Holder, describe};
#[cfg(feature = "holders")]
pub use origin::{Location, Origin};
#[cfg(feature = "holders")]
pub(crate) use registry::{Holder, Known, describe, holders_of, next, objects};
