//! The error of a wait with a timeout.

use core::error::Error;
use core::fmt;

/// The error of [`Memo::get_or_compute_timeout`](crate::Memo::get_or_compute_timeout): the result
/// is still being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the result was not computed in time")
    }
}

impl Error for TimedOut {}
