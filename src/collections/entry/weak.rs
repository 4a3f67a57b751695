//! Entries whose values the collection refers to weakly. A key whose value is dead has a vacant
//! entry.

use core::fmt;

use super::super::shown::Given;
use super::keys;
use super::text::texts;
use crate::reference::{Slot, StrongRef};
use crate::table::{Found, Vacant};

/// The place of a key in a map: occupied or vacant.
pub enum Entry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    /// The key has a live value.
    Occupied(OccupiedEntry<'a, G, K, V>),
    /// The key has no live value.
    Vacant(VacantEntry<'a, G, K, V>),
}

/// The place of a key that has a live value. The entry keeps the value alive.
pub struct OccupiedEntry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    pub(crate) found: Found<'a, K, V::Watch>,
    /// The key as it was passed. If the map owns its keys and the key was inserted, the map has the
    /// key.
    pub(crate) key: G::Kept,
    pub(crate) value: V,
}

/// The place of a key that has no live value.
pub struct VacantEntry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    pub(crate) vacant: Vacant<'a, K, V::Watch>,
    pub(crate) key: G,
}

/// The error of `try_insert`: the key already has a live value.
pub struct OccupiedError<'a, G: Given<K>, K: Slot, V: StrongRef> {
    /// The key's entry.
    pub entry: OccupiedEntry<'a, G, K, V>,
}

impl<'a, G: Given<K>, K: Slot, V: StrongRef> Entry<'a, G, K, V> {
    keys::either!();

    /// Returns the live value, or inserts and returns `default`.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn or_insert(self, default: V) -> V {
        self.or_insert_with(|| default)
    }

    /// Returns the live value, or inserts and returns the result of `make`.
    ///
    /// # Panics
    /// If `make` panics. The map is then unchanged.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> V {
        self.or_insert_with_key(|_| make())
    }

    /// Returns the live value, or inserts and returns the result of `make` for the key.
    ///
    /// # Panics
    /// If `make` panics. The map is then unchanged.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn or_insert_with_key(self, make: impl FnOnce(&G::Key) -> V) -> V {
        match self {
            Entry::Occupied(entry) => {
                drop(make);
                entry.into_value()
            }
            Entry::Vacant(entry) => {
                let value = make(G::key(&entry.key));
                entry.insert(&value);
                value
            }
        }
    }

    /// Returns the live value, or inserts and returns the result of `make` for the key.
    ///
    /// # Errors
    /// The error of `make`. The map is then unchanged.
    #[inline]
    pub fn or_try_insert_with_key<E>(
        self,
        make: impl FnOnce(&G::Key) -> Result<V, E>,
    ) -> Result<V, E> {
        match self {
            Entry::Occupied(entry) => {
                drop(make);
                Ok(entry.into_value())
            }
            Entry::Vacant(entry) => {
                let made = make(G::key(&entry.key));
                match &made {
                    Ok(value) => entry.insert(value),
                    Err(_) => drop(entry),
                }
                made
            }
        }
    }

    /// Returns the live value, or inserts and returns the default of the handle type.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn or_default(self) -> V
    where
        V: Default,
    {
        self.or_insert_with(Default::default)
    }

    /// Calls `change` with the live value, if there is a live value.
    #[inline]
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&V)) -> Self {
        match &self {
            Entry::Occupied(entry) => change(&entry.value),
            Entry::Vacant(_) => drop(change),
        }
        self
    }

    /// Sets the value, and returns the occupied entry, which keeps the value alive.
    #[must_use = "the returned entry may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, G, K, V> {
        match self {
            Entry::Occupied(mut entry) => {
                entry.set(&value);
                entry.value = value;
                entry
            }
            Entry::Vacant(entry) => entry.insert_entry(value),
        }
    }
}

impl<'a, G: Given<K>, K: Slot, V: StrongRef> OccupiedEntry<'a, G, K, V> {
    #[inline]
    pub(crate) fn new(found: Found<'a, K, V::Watch>, key: G, value: V) -> Self {
        let key = G::keep(key);
        OccupiedEntry { found, key, value }
    }

    /// Returns the key, as it was passed.
    #[must_use]
    pub fn key(&self) -> &G {
        G::find(&self.key, &self.found.get().key)
    }

    #[inline]
    fn set(&mut self, value: &V) {
        self.found.set_weak(G::kept(&self.key), value);
    }

    /// Returns the value.
    #[must_use]
    #[inline]
    pub fn get(&self) -> &V {
        &self.value
    }

    /// Returns the value, independent of the borrow of the map.
    #[must_use]
    #[inline]
    pub fn into_value(self) -> V {
        drop(self.key);
        self.value
    }

    /// Sets the value, and returns the old value.
    #[inline]
    pub fn insert(mut self, value: &V) -> V {
        self.set(value);
        self.into_value()
    }

    /// Removes the entry, and returns its value.
    #[inline]
    pub fn remove(self) -> V {
        drop(self.found.remove());
        drop(self.key);
        self.value
    }

    /// Removes the entry, and returns the key, as it was passed, and the value.
    pub fn remove_entry(self) -> (G, V) {
        let key = G::take(self.key, self.found.remove().key);
        (key, self.value)
    }
}

impl<'a, G: Given<K>, K: Slot, V: StrongRef> VacantEntry<'a, G, K, V> {
    keys::vacant!();

    /// Sets the key's value. The map takes no strong handle: the caller must keep the value alive.
    #[inline]
    pub fn insert(self, value: &V) {
        self.vacant.set_weak(self.key, value);
    }

    /// Sets the key's value, and returns the occupied entry, which keeps the value alive.
    ///
    /// ```
    /// use weakly::{Strong, WeakValueMap, collections::weak_value_map::Entry};
    ///
    /// let mut names = WeakValueMap::new();
    /// let Entry::Vacant(entry) = names.entry(String::from("one")) else { unreachable!() };
    /// let entry = entry.insert_entry(Strong::new(1));
    /// assert_eq!((entry.key().as_str(), **entry.get()), ("one", 1));
    /// let one = entry.into_value(); // whose owner we are now
    /// assert!(names.contains_key("one"));
    /// drop(one);
    /// assert!(!names.contains_key("one"));
    /// ```
    #[must_use = "the returned entry may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, G, K, V> {
        let (given, key) = G::split(self.key);
        let found = self.vacant.set_weak(given, &value);
        OccupiedEntry { found, key, value }
    }
}

texts!([StrongRef] entry);
