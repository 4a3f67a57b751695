//! The coercions of `unsize!`.

/// A coerced pointer has no longer lifetime than the original pointer, and crosses no more threads.
///
/// ```
/// # use std::fmt::Display;
/// # use weakly::{Weak, unsize};
/// fn shown<'a>(weak: Weak<&'a str>) -> Weak<dyn Display + Send + 'a> {
///     unsize!(weak => dyn Display + Send + 'a)
/// }
/// ```
/// ```compile_fail
/// # use std::fmt::Display;
/// # use weakly::{Weak, unsize};
/// fn shown<'a>(weak: Weak<&'a str>) -> Weak<dyn Display> {
///     unsize!(weak => dyn Display + 'static)
/// }
/// ```
/// ```compile_fail
/// # use std::fmt::Display;
/// # use weakly::{Weak, unsize};
/// fn longer<'a>(weak: Weak<dyn Display + 'a>) -> Weak<dyn Display> {
///     unsize!(weak => dyn Display + 'static)
/// }
/// ```
/// ```compile_fail,E0308
/// # use std::fmt::Display;
/// # use weakly::{Weak, unsize};
/// fn sent(weak: Weak<dyn Display>) -> Weak<dyn Display + Send> {
///     unsize!(weak => dyn Display + Send)
/// }
/// ```
struct Coercions;
