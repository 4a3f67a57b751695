//! A place in the table: where an entry is, or where it would go.

use hashbrown::hash_table;

use super::{Entry, Slot, Table};
use crate::hash::HashValue;

/// Where a key is, or would go.
pub(crate) enum Place<'a, K: Slot, V: Slot> {
    Found(Found<'a, K, V>),
    Vacant(Vacant<'a, K, V>),
}

/// An entry in its place.
pub(crate) struct Found<'a, K, V>(hash_table::OccupiedEntry<'a, Entry<K, V>>);

/// A place for an entry, and how to watch for its deaths.
pub(crate) struct Vacant<'a, K: Slot, V: Slot> {
    place: hash_table::VacantEntry<'a, Entry<K, V>>,
    hash: HashValue,
    keys: &'a mut K::Deaths,
}

impl<K: Slot, V: Slot> Table<K, V> {
    /// The place of a key, with room for it. `eq` says whether an entry may be the key's, by what
    /// the hash is made of; `is_its` whether it is. One that may be and is not is a dead one's, whose
    /// address has been used again before its notice was worked off: it goes now, its place is taken
    /// over, and its notice will find nothing.
    #[inline]
    pub(crate) fn place(
        &mut self,
        hash: HashValue,
        eq: impl Fn(&K) -> bool,
        is_its: impl Fn(&Entry<K, V>) -> bool,
        hasher: impl Fn(&K) -> HashValue,
    ) -> Place<'_, K, V> {
        self.tend();
        self.make_room(&hasher);
        let place = self.entries.entry(
            hash.get(),
            |entry| eq(&entry.key),
            |entry| hasher(&entry.key).get(),
        );
        let keys = &mut self.keys;
        let place = match place {
            hash_table::Entry::Occupied(entry) if is_its(entry.get()) => {
                return Place::Found(Found(entry));
            }
            // The table is whole when the dead one's value is dropped.
            hash_table::Entry::Occupied(entry) => entry.remove().1,
            hash_table::Entry::Vacant(place) => place,
        };
        Place::Vacant(Vacant { place, hash, keys })
    }
}

impl<'a, K: Slot, V: Slot> Vacant<'a, K, V> {
    /// Fills the place. `watch` makes the key's side.
    #[inline]
    pub(crate) fn fill(
        self,
        watch: impl FnOnce(HashValue, &mut K::Deaths) -> K,
        value: V,
    ) -> Found<'a, K, V> {
        let key = watch(self.hash, self.keys);
        Found(self.place.insert(Entry { key, value }))
    }
}

impl<'a, K, V> Found<'a, K, V> {
    #[inline]
    pub(crate) fn get(&self) -> &Entry<K, V> {
        self.0.get()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Entry<K, V> {
        self.0.get_mut()
    }

    #[inline]
    pub(crate) fn into_mut(self) -> &'a mut Entry<K, V> {
        self.0.into_mut()
    }

    #[inline]
    pub(crate) fn remove(self) -> Entry<K, V> {
        self.0.remove().0
    }
}
