//! The standard traits of [`WeakMap`](super::WeakMap).

use core::fmt;
use core::ops::Index;

use super::WeakMap;
use crate::reference::{Identify, StrongRef};

impl<K: StrongRef, V> Default for WeakMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// The same live keys with clones of the values; each map forgets by itself.
impl<K: StrongRef, V: Clone> Clone for WeakMap<K, V> {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        copy.extend(self.iter().map(|(key, value)| (key, value.clone())));
        copy
    }
}

/// The same live keys, by identity, with equal values.
impl<K: StrongRef, V: PartialEq> PartialEq for WeakMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let mut live = 0;
        self.iter().all(|(key, value)| {
            live += 1;
            other.get(&key) == Some(value)
        }) && live == other.len_live()
    }
}

impl<K: StrongRef, V: Eq> Eq for WeakMap<K, V> {}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug> fmt::Debug for WeakMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// # Panics
/// If the key has no value.
impl<K: StrongRef, V, Q: ?Sized + Identify<K>> Index<&Q> for WeakMap<K, V> {
    type Output = V;

    #[track_caller]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no value for this key")
    }
}

/// The handles are dropped as they go in: those that nobody else holds leave nothing.
impl<K: StrongRef, V> Extend<(K, V)> for WeakMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(&key, value);
        }
    }
}

impl<'a, K: StrongRef, V> Extend<(&'a K, V)> for WeakMap<K, V> {
    fn extend<I: IntoIterator<Item = (&'a K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: StrongRef, V> FromIterator<(K, V)> for WeakMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<'a, K: StrongRef, V> FromIterator<(&'a K, V)> for WeakMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (&'a K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: StrongRef, V, const N: usize> From<[(K, V); N]> for WeakMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        Self::from_iter(entries)
    }
}

impl<'a, K: StrongRef, V, const N: usize> From<[(&'a K, V); N]> for WeakMap<K, V> {
    fn from(entries: [(&'a K, V); N]) -> Self {
        Self::from_iter(entries)
    }
}
