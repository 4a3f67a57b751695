//! The texts of both kinds of entries and of their errors.

use core::fmt;

/// The `Debug` output of an occupied entry.
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

/// The `Display` output of the error of `try_insert`.
pub(super) const OCCUPIED: &str = "the key already has a value; the new one was not inserted";
