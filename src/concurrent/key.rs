//! How the entries of a shared table are told apart.

use core::marker::PhantomData;

/// How the entries of a table are told apart: by [a key](ByKey) that each has, or by
/// [the content](super::content::ByContent) of the object that each watches.
pub(crate) trait KeyKind {
    /// What an entry has for that, beside its watch.
    type Key;
    /// What the mark has that a value is being made: it watches nothing.
    type FlightKey;
}

/// By keys.
pub(crate) struct ByKey<K>(PhantomData<K>);

impl<K> KeyKind for ByKey<K> {
    type Key = K;
    type FlightKey = K;
}
