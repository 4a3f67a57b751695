//! Entries whose values are held weakly. A value that is dead is none: its place is vacant.

use core::error::Error;
use core::fmt;

use super::super::shown::Given;
use super::text;
use crate::reference::StrongRef;
use crate::table::{Found, Slot, Vacant};

/// The place of a key.
pub enum Entry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    /// The key has a live value.
    Occupied(OccupiedEntry<'a, G, K, V>),
    /// It has none.
    Vacant(VacantEntry<'a, G, K, V>),
}

/// The place of a key that has a live value; it lives at least as long as this.
pub struct OccupiedEntry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    pub(crate) found: Found<'a, K, V::Watch>,
    pub(crate) key: G,
    pub(crate) value: V,
}

/// The place of a key that has no live value.
pub struct VacantEntry<'a, G: Given<K>, K: Slot, V: StrongRef> {
    pub(crate) vacant: Vacant<'a, K, V::Watch>,
    pub(crate) key: G,
}

/// The error of `try_insert`: the key has a live value already.
pub struct OccupiedError<'a, G: Given<K>, K: Slot, V: StrongRef> {
    /// The key's entry.
    pub entry: OccupiedEntry<'a, G, K, V>,
}

impl<'a, G: Given<K>, K: Slot, V: StrongRef> Entry<'a, G, K, V> {
    /// The key, as it was given.
    #[must_use]
    pub fn key(&self) -> &G {
        match self {
            Entry::Occupied(entry) => &entry.key,
            Entry::Vacant(entry) => &entry.key,
        }
    }

    /// The live value, or `default`, which then becomes the key's value.
    #[inline]
    pub fn or_insert(self, default: V) -> V {
        self.or_insert_with(|| default)
    }

    /// The live value, or the one that `make` makes, which then becomes the key's value.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    #[inline]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> V {
        self.or_insert_with_key(|_| make())
    }

    /// The live value, or the one that `make` makes from the key, which then becomes the key's value.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    #[inline]
    pub fn or_insert_with_key(self, make: impl FnOnce(&G) -> V) -> V {
        match self {
            Entry::Occupied(entry) => entry.value,
            Entry::Vacant(entry) => {
                let value = make(&entry.key);
                entry.insert(&value);
                value
            }
        }
    }

    /// The live value, or the one that `make` makes from the key, which then becomes the key's value.
    ///
    /// # Errors
    /// That of `make`; the map is then as before.
    #[inline]
    pub fn or_try_insert_with_key<E>(self, make: impl FnOnce(&G) -> Result<V, E>) -> Result<V, E> {
        match self {
            Entry::Occupied(entry) => Ok(entry.value),
            Entry::Vacant(entry) => {
                let value = make(&entry.key)?;
                entry.insert(&value);
                Ok(value)
            }
        }
    }

    /// The live value, or the pointer type's default, which then becomes the key's value.
    #[inline]
    pub fn or_default(self) -> V
    where
        V: Default,
    {
        self.or_insert_with(Default::default)
    }

    /// Does something with the live value, if there is one.
    #[inline]
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&V)) -> Self {
        if let Entry::Occupied(entry) = &self {
            change(&entry.value);
        }
        self
    }
}

impl<G: Given<K>, K: Slot, V: StrongRef> OccupiedEntry<'_, G, K, V> {
    /// The key, as it was given.
    #[must_use]
    pub fn key(&self) -> &G {
        &self.key
    }

    /// The value.
    #[must_use]
    #[inline]
    pub fn get(&self) -> &V {
        &self.value
    }

    /// The value, for as long as you like.
    #[must_use]
    #[inline]
    pub fn into_value(self) -> V {
        self.value
    }

    /// Sets the value, and returns the old one.
    #[inline]
    pub fn insert(mut self, value: &V) -> V {
        self.found.set_weak(&self.key, value);
        self.value
    }

    /// Removes the entry, and returns its value.
    #[inline]
    pub fn remove(self) -> V {
        drop(self.found.remove());
        self.value
    }

    /// Removes the entry, and returns the key, as it was given, and the value.
    pub fn remove_entry(self) -> (G, V) {
        drop(self.found.remove());
        (self.key, self.value)
    }
}

impl<G: Given<K>, K: Slot, V: StrongRef> VacantEntry<'_, G, K, V> {
    /// The key, as it was given.
    #[must_use]
    pub fn key(&self) -> &G {
        &self.key
    }

    /// The key, as it was given.
    #[must_use]
    pub fn into_key(self) -> G {
        self.key
    }

    /// Sets the key's value. The map takes no strong pointer: somebody else has to keep it.
    #[inline]
    pub fn insert(self, value: &V) {
        self.vacant.set_weak(self.key, value);
    }
}

impl<G, K, V> fmt::Debug for Entry<'_, G, K, V>
where
    G: Given<K> + fmt::Debug,
    K: Slot,
    V: StrongRef + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Occupied(entry) => f.debug_tuple("Entry").field(entry).finish(),
            Entry::Vacant(entry) => f.debug_tuple("Entry").field(entry).finish(),
        }
    }
}

impl<G, K, V> fmt::Debug for OccupiedEntry<'_, G, K, V>
where
    G: Given<K> + fmt::Debug,
    K: Slot,
    V: StrongRef + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::show(f, &self.key, &self.value)
    }
}

impl<G: Given<K> + fmt::Debug, K: Slot, V: StrongRef> fmt::Debug for VacantEntry<'_, G, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key).finish()
    }
}

impl<G, K, V> fmt::Debug for OccupiedError<'_, G, K, V>
where
    G: Given<K> + fmt::Debug,
    K: Slot,
    V: StrongRef + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedError")
            .field("entry", &self.entry)
            .finish()
    }
}

impl<G: Given<K>, K: Slot, V: StrongRef> fmt::Display for OccupiedError<'_, G, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(text::OCCUPIED)
    }
}

impl<G, K, V> Error for OccupiedError<'_, G, K, V>
where
    G: Given<K> + fmt::Debug,
    K: Slot,
    V: StrongRef + fmt::Debug,
{
}
