//! Iterators over shared collections. Each iterator borrows its collection, is inside the
//! collection only while it looks for its next entry, and keeps no object alive.

use core::fmt;
use core::iter::FusedIterator;

use super::content::Contents;
use super::identity::{Address, ByAddress};
use super::key::ByKey;
use super::snapshot::Snapshot;
use super::watch::{SharedRef, SharedWatchFor};

/// The entries that were in a map when the iterator was made, without the entries removed since,
/// each with a clone of its present value. See [`WeakMap::iter`](super::WeakMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Iter<'m, K: SharedRef, V>(pub(super) Keyed<'m, K, V, (K, V)>);

/// The handles that were in a collection when the iterator was made, without the handles removed
/// since. In a map, `V` is the type of the values.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Keys<'m, K: SharedRef, V = ()>(pub(super) Keyed<'m, K, V, K>);

/// The keys that were in a map when the iterator was made, without the keys removed since, each
/// with its present value. See [`WeakValueMap::iter`](super::WeakValueMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct ValueIter<'m, K, V: SharedRef>(
    pub(super) Snapshot<'m, ByKey<K, SharedWatchFor<V>, ()>, V>,
);

/// The keys that were in a map when the iterator was made, without the keys removed since, each
/// with its present value. See [`WeakPairMap::iter`](super::WeakPairMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct PairIter<'m, K: SharedRef, V: SharedRef>(pub(super) Pairs<'m, K, V>);

type Pairs<'m, K, V> =
    Snapshot<'m, ByKey<Address, (SharedWatchFor<K>, SharedWatchFor<V>), ()>, (K, V)>;

/// The snapshot of a collection with weak keys, by identity or by content.
pub(super) enum Keyed<'m, K: SharedRef, V, R> {
    ByIdentity(Snapshot<'m, ByAddress<K, V>, R>),
    ByContent(Snapshot<'m, Contents<K, V>, R>),
}

impl<'m, K: SharedRef, V, R> From<Snapshot<'m, ByAddress<K, V>, R>> for Keyed<'m, K, V, R> {
    fn from(entries: Snapshot<'m, ByAddress<K, V>, R>) -> Self {
        Keyed::ByIdentity(entries)
    }
}

impl<'m, K: SharedRef, V, R> From<Snapshot<'m, Contents<K, V>, R>> for Keyed<'m, K, V, R> {
    fn from(entries: Snapshot<'m, Contents<K, V>, R>) -> Self {
        Keyed::ByContent(entries)
    }
}

impl<K: SharedRef, V, R> Iterator for Keyed<'_, K, V, R> {
    type Item = (Address, R);

    fn next(&mut self) -> Option<(Address, R)> {
        match self {
            Keyed::ByIdentity(entries) => entries.next(),
            Keyed::ByContent(entries) => entries.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Keyed::ByIdentity(entries) => entries.size_hint(),
            Keyed::ByContent(entries) => entries.size_hint(),
        }
    }
}

impl<K: SharedRef, V, R> fmt::Debug for Keyed<'_, K, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keyed::ByIdentity(entries) => entries.fmt(f),
            Keyed::ByContent(entries) => entries.fmt(f),
        }
    }
}

macro_rules! named {
    ($([$($generics:tt)*] $name:ty, $item:ty, |$shown:pat_param| $what:expr;)*) => {$(
        impl<$($generics)*> Iterator for $name {
            type Item = $item;

            fn next(&mut self) -> Option<$item> {
                self.0.next().map(|$shown| $what)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<$($generics)*> FusedIterator for $name {}

        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

named! {
    [K: SharedRef, V] Iter<'_, K, V>, (K, V), |(_, entry)| entry;
    [K: SharedRef, V] Keys<'_, K, V>, K, |(_, key)| key;
    [K: Eq + Clone, V: SharedRef] ValueIter<'_, K, V>, (K, V), |entry| entry;
    [K: SharedRef, V: SharedRef] PairIter<'_, K, V>, (K, V), |(_, entry)| entry;
}
