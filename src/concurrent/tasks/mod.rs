//! Values that tasks make together.
//!
//! The files, in order: each uses only earlier files, and the table knows none of them.

pub(super) mod held;

pub(crate) mod work;

mod awaiting;

pub use awaiting::Flight;
pub(crate) use awaiting::{Waiting, waiting};
pub(crate) use work::{Error, Plan, Work, fallible, infallible, running};
