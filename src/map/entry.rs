//! The entry interface of [`WeakMap`](super::WeakMap), as std and hashbrown have it.

use core::error::Error;
use core::fmt;

use crate::reference::{StrongRef, Watching};
use crate::table::{Found, Owned, Vacant};

/// The place of a key in a [`WeakMap`](super::WeakMap).
pub enum Entry<'a, 'k, K: StrongRef, V> {
    /// The key has a value.
    Occupied(OccupiedEntry<'a, 'k, K, V>),
    /// It has none.
    Vacant(VacantEntry<'a, 'k, K, V>),
}

/// The place of a key that has a value.
pub struct OccupiedEntry<'a, 'k, K: StrongRef, V> {
    pub(super) found: Found<'a, K::Watch, Owned<V>>,
    pub(super) key: &'k K,
}

/// The place of a key that has no value.
pub struct VacantEntry<'a, 'k, K: StrongRef, V> {
    pub(super) vacant: Vacant<'a, K::Watch, Owned<V>>,
    pub(super) key: &'k K,
}

/// The error of [`WeakMap::try_insert`](super::WeakMap::try_insert): the key has a value already.
pub struct OccupiedError<'a, 'k, K: StrongRef, V> {
    /// The key's entry.
    pub entry: OccupiedEntry<'a, 'k, K, V>,
    /// The value that was not inserted.
    pub value: V,
}

impl<'a, 'k, K: StrongRef, V> Entry<'a, 'k, K, V> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &'k K {
        match self {
            Entry::Occupied(entry) => entry.key,
            Entry::Vacant(entry) => entry.key,
        }
    }

    /// The value, which becomes `default` if there is none.
    #[inline]
    pub fn or_insert(self, default: V) -> &'a mut V {
        self.or_insert_with(|| default)
    }

    /// The value, made by `make` if there is none.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    #[inline]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(make()),
        }
    }

    /// The value, made by `make` if there is none. `make` gets the key as a weak handle, so that the
    /// value can refer to it without keeping it alive.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    #[inline]
    pub fn or_insert_with_key(self, make: impl FnOnce(&K::Weak) -> V) -> &'a mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert_with_key(make),
        }
    }

    /// The value, which becomes the default if there is none.
    #[inline]
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value, if there is one.
    #[inline]
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Entry::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// Sets the value, and returns its entry.
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, 'k, K, V> {
        match self {
            Entry::Occupied(mut entry) => {
                entry.insert(value);
                entry
            }
            Entry::Vacant(entry) => entry.insert_entry(value),
        }
    }
}

impl<'a, 'k, K: StrongRef, V> OccupiedEntry<'a, 'k, K, V> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &'k K {
        self.key
    }

    /// The value.
    #[must_use]
    #[inline]
    pub fn get(&self) -> &V {
        &self.found.get().value.0
    }

    /// The value.
    #[must_use]
    #[inline]
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.found.get_mut().value.0
    }

    /// The value, for as long as the map is borrowed.
    #[must_use]
    #[inline]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.found.into_mut().value.0
    }

    /// Sets the value, and returns the old one.
    #[inline]
    pub fn insert(&mut self, value: V) -> V {
        core::mem::replace(self.get_mut(), value)
    }

    /// Removes the entry, and returns its value.
    #[inline]
    pub fn remove(self) -> V {
        self.found.remove().value.0
    }

    /// Removes the entry, and returns key and value.
    pub fn remove_entry(self) -> (&'k K, V) {
        (self.key, self.remove())
    }
}

impl<'a, 'k, K: StrongRef, V> VacantEntry<'a, 'k, K, V> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &'k K {
        self.key
    }

    /// Inserts a value.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V {
        self.insert_entry(value).into_mut()
    }

    /// Inserts the value that `make` makes from a weak handle to the key.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    pub fn insert_with_key(self, make: impl FnOnce(&K::Weak) -> V) -> &'a mut V {
        let value = make(&K::downgrade(self.key));
        self.insert(value)
    }

    /// Inserts a value, and returns its entry.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, 'k, K, V> {
        let key = self.key;
        let watch = |hash, deaths: &mut _| K::Watch::watch(key, hash, deaths);
        let found = self.vacant.fill(watch, Owned(value));
        OccupiedEntry { found, key }
    }
}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug> fmt::Debug for Entry<'_, '_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Occupied(entry) => f.debug_tuple("Entry").field(entry).finish(),
            Entry::Vacant(entry) => f.debug_tuple("Entry").field(entry).finish(),
        }
    }
}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedEntry<'_, '_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry")
            .field("key", self.key)
            .field("value", self.get())
            .finish()
    }
}

impl<K: StrongRef + fmt::Debug, V> fmt::Debug for VacantEntry<'_, '_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(self.key).finish()
    }
}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedError<'_, '_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedError")
            .field("entry", &self.entry)
            .field("value", &self.value)
            .finish()
    }
}

impl<K: StrongRef, V> fmt::Display for OccupiedError<'_, '_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key has a value already, and the new one was not inserted")
    }
}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug> Error for OccupiedError<'_, '_, K, V> {}
