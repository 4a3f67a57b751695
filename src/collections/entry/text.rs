//! What an entry and its error say of themselves.

use core::fmt;

/// What an entry shows of itself.
pub(super) fn show(
    f: &mut fmt::Formatter<'_>,
    key: &dyn fmt::Debug,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    f.debug_struct("OccupiedEntry")
        .field("key", key)
        .field("value", value)
        .finish()
}

/// What the error of an insert says.
pub(super) const OCCUPIED: &str = "the key has a value already, and the new one was not inserted";
