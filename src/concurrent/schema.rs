//! What the entries of a table consist of, and how the table tells them apart: by
//! [keys](super::key), which each entry has, or by the [content](super::content) of the object that
//! each entry watches.

use super::raw::Registered;
use super::watch::Watches;

/// The parts of an entry. Its methods name entries for [snapshots](super::snapshot); no name is
/// code of users but that of a key.
pub(crate) trait Schema: Sized {
    /// Whether the hash of an entry is that of the address of the one object that it watches: then
    /// no registration stores it.
    const BY_ADDRESS: bool = false;
    /// The key of an entry, beside its watch.
    type Key;
    /// The key of a mark, which says that a thread makes the value. A mark watches no object.
    type Probe;
    /// The watch of an entry, on one object or several. Operations need [`Watches`]. The types do
    /// not: whether a type that is in its own table crosses threads would depend on itself.
    type Watch: Registered;
    /// The value of an entry.
    type Value;
    /// The name of an entry, beside its hash.
    type Name;

    fn name(key: &Self::Key, watch: &Self::Watch) -> Self::Name
    where
        Self::Key: Clone,
        Self::Watch: Watches;
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
