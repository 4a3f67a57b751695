//! The parts of the entries of a table, and how the table tells entries apart: by
//! [keys](super::key), which each entry has, or by the [content](super::content) of the watched
//! object of each entry.

use super::watch::Watches;
use crate::raw::Registered;

/// The parts of an entry. Its methods name entries for [snapshots](super::snapshot); the only user
/// code in a name is the code of a key.
pub(crate) trait Schema: Sized {
    /// Whether the hash of an entry is the hash of the address of the only watched object: then no
    /// registration stores the hash.
    const BY_ADDRESS: bool = false;
    /// The key of an entry, beside its watch.
    type Key;
    /// The key of a reservation, which watches no object.
    type Probe;
    /// The watch of an entry, on one object or several. Operations need [`Watches`]. The types do
    /// not: if they did, the compiler could not decide whether a table crosses threads whose type
    /// occurs in its own entries.
    type Watch: Registered;
    /// The value of an entry.
    type Value;
    /// The name of an entry, beside its hash.
    type Name;

    /// Names an entry for a snapshot, which does not stay inside the table.
    fn name(key: &Self::Key, watch: &Self::Watch) -> Self::Name
    where
        Self::Key: Clone,
        Self::Watch: Watches;
    /// Returns whether an entry has this name.
    fn is_named(key: &Self::Key, watch: &Self::Watch, name: &Self::Name) -> bool
    where
        Self::Name: PartialEq,
        Self::Watch: Watches;
}

/// The key, the watch and the value of an entry.
pub(super) type Parts<'e, S> = (
    &'e <S as Schema>::Key,
    &'e <S as Schema>::Watch,
    &'e <S as Schema>::Value,
);
