//! Entries whose values the collection owns.

use core::fmt;

use super::super::shown::Given;
use super::keys;
use super::text::texts;
use crate::reference::{Owned, Slot, Watch, WeakKey};
use crate::table::{Found, Vacant};

/// The place of a key in a map: occupied or vacant.
pub enum Entry<'a, G: Given<K>, K: Slot, V> {
    /// The key has a value.
    Occupied(OccupiedEntry<'a, G, K, V>),
    /// The key has no value.
    Vacant(VacantEntry<'a, G, K, V>),
}

/// The place of a key that has a value.
pub struct OccupiedEntry<'a, G: Given<K>, K: Slot, V> {
    pub(crate) found: Found<'a, K, Owned<V>>,
    pub(crate) key: G,
}

/// The place of a key that has no value.
pub struct VacantEntry<'a, G: Given<K>, K: Slot, V> {
    pub(crate) vacant: Vacant<'a, K, Owned<V>>,
    pub(crate) key: G,
}

/// The error of `try_insert`: the key already has a value.
pub struct OccupiedError<'a, G: Given<K>, K: Slot, V> {
    /// The key's entry.
    pub entry: OccupiedEntry<'a, G, K, V>,
    /// The value that was not inserted.
    pub value: V,
}

impl<'a, G: Given<K>, K: Slot, V> Entry<'a, G, K, V> {
    keys::either!();

    /// Returns the value. If there is no value, inserts `default` first.
    #[inline]
    pub fn or_insert(self, default: V) -> &'a mut V {
        self.or_insert_with(|| default)
    }

    /// Returns the value. If there is no value, inserts the result of `make` first.
    ///
    /// # Panics
    /// If `make` panics. The map is then unchanged.
    #[inline]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(make()),
        }
    }

    /// Returns the value. If there is no value, inserts the default first.
    #[inline]
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Applies `change` to the value, if there is a value.
    #[inline]
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Entry::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// Sets the value, and returns the occupied entry.
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, G, K, V>
    where
        G: Copy,
    {
        match self {
            Entry::Occupied(mut entry) => {
                entry.insert(value);
                entry
            }
            Entry::Vacant(entry) => entry.insert_entry(value),
        }
    }
}

impl<'a, K: Watch, V> Entry<'a, &K::Key, K, V> {
    /// Returns the value. If there is no value, inserts the result of `make` first. `make` gets a
    /// weak handle to the key.
    ///
    /// # Errors
    /// The error of `make`. The map is then unchanged.
    #[inline]
    pub fn or_try_insert_with_key<E>(
        self,
        make: impl FnOnce(&<K::Key as WeakKey>::Weak) -> Result<V, E>,
    ) -> Result<&'a mut V, E> {
        match self {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let value = make(&K::Key::downgrade(entry.key))?;
                Ok(entry.insert(value))
            }
        }
    }

    /// Returns the value. If there is no value, inserts the result of `make` first. `make` gets the
    /// key as a weak handle, so that the value can refer to its key without keeping the key alive.
    ///
    /// # Panics
    /// If `make` panics. The map is then unchanged.
    #[inline]
    pub fn or_insert_with_key(
        self,
        make: impl FnOnce(&<K::Key as WeakKey>::Weak) -> V,
    ) -> &'a mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert_with_key(make),
        }
    }
}

impl<'a, G: Given<K>, K: Slot, V> OccupiedEntry<'a, G, K, V> {
    keys::occupied!();

    /// Returns a reference to the value.
    #[must_use]
    #[inline]
    pub fn get(&self) -> &V {
        &self.found.get().value.0
    }

    /// Returns a mutable reference to the value.
    #[must_use]
    #[inline]
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.found.get_mut().value.0
    }

    /// Returns a mutable reference to the value, for as long as the map is borrowed.
    #[must_use]
    #[inline]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.found.into_mut().value.0
    }

    /// Sets the value, and returns the old value. In a map keyed by content, the passed key
    /// replaces the key of the entry.
    #[inline]
    pub fn insert(&mut self, value: V) -> V {
        self.found.set_owned(&self.key, value)
    }

    /// Removes the entry, and returns its value.
    #[inline]
    pub fn remove(self) -> V {
        self.found.remove().take_value(())
    }

    /// Removes the entry, and returns the key, as it was passed, and the value.
    pub fn remove_entry(self) -> (G, V) {
        (self.key, self.found.remove().take_value(()))
    }
}

impl<'a, G: Given<K>, K: Slot, V> VacantEntry<'a, G, K, V> {
    keys::vacant!();

    /// Inserts a value, and returns a reference to the value.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V {
        &mut self.vacant.set_owned(self.key, value).into_mut().value.0
    }

    /// Inserts a value, and returns the occupied entry.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, G, K, V>
    where
        G: Copy,
    {
        OccupiedEntry {
            found: self.vacant.set_owned(self.key, value),
            key: self.key,
        }
    }
}

impl<'a, K: Watch, V> VacantEntry<'a, &K::Key, K, V> {
    /// Inserts the value that `make` returns for a weak handle to the key.
    ///
    /// # Panics
    /// If `make` panics. The map is then unchanged.
    pub fn insert_with_key(self, make: impl FnOnce(&<K::Key as WeakKey>::Weak) -> V) -> &'a mut V {
        let value = make(&K::Key::downgrade(self.key));
        self.insert(value)
    }
}

texts!([] entry value);
