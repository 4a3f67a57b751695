//! The origins of strong handles: which code holds an object, and which objects leaked. Feature
//! `holders`.
//!
//! With the feature, each strong handle remembers its origin: the place in the source where it was
//! made, and the thread. So an object that should be dead names its holders:
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
//! The place is the call of [`Strong::new`](crate::Strong), `clone`, `upgrade`, or of the
//! collection's method that returned the handle. A handle keeps its origin when it is moved or
//! unsized. A raw pointer from [`into_raw`](crate::ptr::Strong::into_raw) is a holder, too, whose
//! origin is that call. A forgotten handle stays listed.
//!
//! If your code makes a handle itself, by a call of a pointer's function, its file, line and column
//! are always known. If this crate or the standard library makes the handle for you (`get`,
//! `intern`, an iterator, `Option::clone`), the place is your innermost call in a backtrace. The
//! backtrace needs line tables: debug builds have them, release builds with `debug =
//! "line-tables-only"` in their profile. Without line tables, **only the function is named**, or
//! the caller into which the function was inlined.
//!
//! A place says little if its code serves many callers, as `#[derive(Clone)]` does. With the
//! environment variable `WEAKLY_BACKTRACE=1`, the text of each handle also shows all the calls that
//! led to the place.
//!
//! The feature is for tests and debugging. A handle gets larger; making and dropping a handle takes
//! a lock and an allocation (and a backtrace, which takes microseconds). User code never runs under
//! this lock. Without the feature, no handle knows its origin, [`Origin`] has no value, and nothing
//! costs a byte or an instruction.

#[cfg(not(feature = "holders"))]
mod off;
#[cfg(feature = "holders")]
mod origin;
#[cfg(feature = "holders")]
mod registry;

#[cfg(not(feature = "holders"))]
pub use off::Origin;
#[cfg(not(feature = "holders"))]
pub(crate) use off::{Holder, birth_of, known_at};
#[cfg(feature = "holders")]
pub use origin::{Location, Origin};
#[cfg(feature = "holders")]
pub(crate) use registry::{Holder, birth_of, known_at, known_since, next};
