//! Iterators over snapshots of shared collections. A snapshot keeps no object alive.

use core::fmt;
use core::iter::FusedIterator;
use std::vec;

use crate::holders::Caller;
use crate::reference::{StrongRef, WeakRef};

/// The entries that a map had when the iterator was made, without those whose key has died since, with clones of
/// the values they had then. See [`WeakMap::iter`](super::WeakMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Iter<K: StrongRef, V>(pub(super) vec::IntoIter<(K::Weak, V)>);

/// The pointers that a collection had when the iterator was made, without those whose object has died since.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Keys<K: StrongRef>(pub(super) vec::IntoIter<K::Weak>);

/// The entries that a map had when the iterator was made, without those whose value has died since. See
/// [`WeakValueMap::iter`](super::WeakValueMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct ValueIter<K, V: StrongRef>(pub(super) vec::IntoIter<(K, V::Weak)>);

/// The entries that a map had when the iterator was made, without those of which either side has died since. See
/// [`WeakPairMap::iter`](super::WeakPairMap::iter).
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct PairIter<K: StrongRef, V: StrongRef>(pub(super) vec::IntoIter<(K::Weak, V::Weak)>);

macro_rules! snapshot {
    ([$($generics:tt)*] $name:ty, $item:ty, |$entry:pat_param| $live:expr) => {
        impl<$($generics)*> Iterator for $name {
            type Item = $item;

            #[cfg_attr(feature = "holders", track_caller)]
            fn next(&mut self) -> Option<$item> {
                let _caller = Caller::enter();
                self.0.by_ref().find_map(|$entry| $live)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, self.0.size_hint().1)
            }
        }

        impl<$($generics)*> FusedIterator for $name {}

        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Snapshot")
                    .field("left", &self.0.len())
                    .finish()
            }
        }
    };
}

snapshot!([K: StrongRef, V] Iter<K, V>, (K, V), |(key, value)| key.upgrade().map(|key| (key, value)));
snapshot!([K: StrongRef] Keys<K>, K, |key| key.upgrade());
snapshot!([K, V: StrongRef] ValueIter<K, V>, (K, V), |(key, value)| value.upgrade().map(|value| (key, value)));
snapshot!([K: StrongRef, V: StrongRef] PairIter<K, V>, (K, V), |(key, value)| key.upgrade().zip(value.upgrade()));
