//! Iterators over shared collections. Each borrows its collection, and is inside it during a turn only; it keeps no object
//! alive.

use core::fmt;
use core::iter::FusedIterator;

use super::content::ByContent;
use super::key::{Address, ByKey};
use super::pair::Pair;
use super::snapshot::Snapshot;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne};

/// The entries that a map had when the iterator was made, as they are at their turn: without those that have gone since,
/// each with a clone of the value that it has then. See [`WeakMap::iter`](super::WeakMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Iter<'m, K: SharedRef, V>(pub(super) Keyed<'m, K, V>);

/// The pointers that a collection had when the iterator was made, without those that have gone since. In a map, `V` is the
/// type of its values.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Keys<'m, K: SharedRef, V = ()>(pub(super) Keyed<'m, K, V>);

/// The keys that a map had when the iterator was made, without those that have gone since, each with the value that it has
/// at its turn. See [`WeakValueMap::iter`](super::WeakValueMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct ValueIter<'m, K, V: SharedRef>(
    pub(super) Snapshot<'m, ByKey<K>, SharedWatchFor<V>, (), K>,
);

/// The keys that a map had when the iterator was made, without those that have gone since, each with the value that it has
/// at its turn. See [`WeakPairMap::iter`](super::WeakPairMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct PairIter<'m, K: SharedRef, V: SharedRef>(
    pub(super) Snapshot<'m, ByKey<Address>, Both<K, V>, (), Address>,
);

type Both<K, V> = Pair<SharedWatchFor<K>, SharedWatchFor<V>>;
type Identities<K, V> = Table<ByKey<Address, true>, SharedWatchFor<K>, V>;
type Contents<K, V> = Table<ByContent<K>, SharedWatchFor<K>, V>;

/// The snapshot of a collection with weak keys, by identity or by content.
pub(super) enum Keyed<'m, K: SharedRef, V> {
    ByIdentity(Snapshot<'m, ByKey<Address, true>, SharedWatchFor<K>, V, Address>),
    ByContent(Snapshot<'m, ByContent<K>, SharedWatchFor<K>, V, Address>),
}

impl<'m, K: SharedRef, V> From<&'m Identities<K, V>> for Keyed<'m, K, V> {
    fn from(table: &'m Identities<K, V>) -> Self {
        Keyed::ByIdentity(Snapshot::<ByKey<_, true>, _, _, _>::new(table))
    }
}

impl<'m, K: SharedRef, V> From<&'m Contents<K, V>> for Keyed<'m, K, V> {
    fn from(table: &'m Contents<K, V>) -> Self {
        Keyed::ByContent(Snapshot::<ByContent<_>, _, _, _>::new(table))
    }
}

impl<K: SharedRef, V> Keyed<'_, K, V> {
    fn next<R>(&mut self, show: impl Fn(&SharedWatchFor<K>, &V) -> Option<R>) -> Option<R> {
        match self {
            Keyed::ByIdentity(entries) => entries.next(show).map(|(_, shown)| shown),
            Keyed::ByContent(entries) => entries.next(show),
        }
    }

    fn left(&self) -> usize {
        match self {
            Keyed::ByIdentity(entries) => entries.left(),
            Keyed::ByContent(entries) => entries.left(),
        }
    }
}

macro_rules! snapshot {
    ([$($generics:tt)*] $name:ty, $item:ty, |$entries:ident| $next:expr) => {
        impl<$($generics)*> Iterator for $name {
            type Item = $item;

            fn next(&mut self) -> Option<$item> {
                let $entries = &mut self.0;
                $next
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, Some(self.0.left()))
            }
        }

        impl<$($generics)*> FusedIterator for $name {}

        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Snapshot")
                    .field("left", &self.0.left())
                    .finish()
            }
        }
    };
}

snapshot!([K: SharedRef, V: Clone] Iter<'_, K, V>, (K, V), |entries| {
    entries.next(|watch, value| watch.upgrade().map(|key| (key, value.clone())))
});
snapshot!([K: SharedRef, V] Keys<'_, K, V>, K, |entries| entries.next(|watch, _| watch.upgrade()));
snapshot!([K: Eq, V: SharedRef] ValueIter<'_, K, V>, (K, V), |entries| {
    entries.next(|watch, ()| watch.upgrade())
});
snapshot!([K: SharedRef, V: SharedRef] PairIter<'_, K, V>, (K, V), |entries| {
    let both = entries.next(|Pair(key, value), ()| key.upgrade().zip(value.upgrade()));
    both.map(|(_, both)| both)
});
