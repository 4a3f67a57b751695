//! A place in the table: where an entry is, or where it would be inserted.

use hashbrown::hash_table;

use super::entries::Table;
use super::entry::Entry;
use super::marks::Hints;
use super::room;
use crate::hash::HashValue;
use crate::reference::Slot;

/// The place of a key: where its entry is, or where it would be inserted.
pub(crate) enum Place<'a, K: Slot, V: Slot, R> {
    Found(Found<'a, K, V>, R),
    Vacant(Vacant<'a, K, V>),
}

/// An entry in its place.
pub(crate) struct Found<'a, K: Slot, V: Slot> {
    entry: hash_table::OccupiedEntry<'a, Entry<K, V>>,
    registrar: Registrar<'a, K, V>,
}

/// A free place for an entry.
pub(crate) struct Vacant<'a, K: Slot, V: Slot> {
    place: hash_table::VacantEntry<'a, Entry<K, V>>,
    registrar: Registrar<'a, K, V>,
}

/// Everything that is needed to register the slots of an entry.
pub(crate) struct Registrar<'a, K: Slot, V: Slot> {
    pub(crate) hash: HashValue,
    pub(crate) keys: &'a mut K::Queue,
    pub(crate) values: &'a mut V::Queue,
    hints: &'a mut Hints,
}

impl<K: Slot, V: Slot> Table<K, V> {
    /// Returns the entry of a key in its place. `eq` returns whether an entry belongs to the key.
    #[inline]
    pub(crate) fn find_entry(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<Found<'_, K, V>> {
        let found = self.entries.find_entry(hash.get(), |entry| eq(&entry.key));
        let registrar = Registrar {
            hash,
            keys: &mut self.keys,
            values: &mut self.values,
            hints: &mut self.hints,
        };
        Some(Found {
            entry: found.ok()?,
            registrar,
        })
    }

    /// Finds the place of a key, with room for its entry. `eq` returns whether an entry belongs to
    /// the key. `pin` returns `None` for an entry that has lost its value: the entry is removed at
    /// once, its place is reused, and its notice is *late* (see `queue::owner`): it finds no entry.
    /// The caller reclaims dead entries before or after ([`tidy`](Self::tidy)).
    #[inline]
    pub(crate) fn place<R>(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
        pin: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Place<'_, K, V, R> {
        if self.is_short_of(1) {
            self.tidy();
            if self.is_short_of(1) {
                self.make_more_room();
            }
        }
        let place = (self.entries).entry(hash.get(), |entry| eq(&entry.key), room::hash);
        let registrar = Registrar {
            hash,
            keys: &mut self.keys,
            values: &mut self.values,
            hints: &mut self.hints,
        };
        let place = match place {
            hash_table::Entry::Occupied(entry) => match pin(entry.get()) {
                Some(pinned) => return Place::Found(Found { entry, registrar }, pinned),
                None => {
                    let (mut dead, place) = entry.remove();
                    dead.deregister(registrar.keys, registrar.values);
                    // The table is consistent: the remains of the dead entry may be dropped here.
                    self.kept.reclaim(dead.into_remains());
                    place
                }
            },
            hash_table::Entry::Vacant(place) => place,
        };
        Place::Vacant(Vacant { place, registrar })
    }
}

impl<'a, K: Slot, V: Slot> Vacant<'a, K, V> {
    /// Inserts an entry.
    #[inline]
    pub(crate) fn fill(
        mut self,
        make: impl FnOnce(&mut Registrar<'a, K, V>) -> Entry<K, V>,
    ) -> Found<'a, K, V> {
        let entry = make(&mut self.registrar);
        let entry = self.place.insert(entry);
        // hashbrown stores the entries in front of the tags, the first entry last.
        let after = (entry.bucket_index() + 1).wrapping_mul(size_of::<Entry<K, V>>());
        let addr = core::ptr::from_ref(entry.get()).addr();
        self.registrar.hints.tags = addr.wrapping_add(after);
        if self.registrar.hints.marks.are_known() {
            self.registrar.hints.marks.set(entry.bucket_index());
        }
        Found {
            entry,
            registrar: self.registrar,
        }
    }
}

impl<'a, K: Slot, V: Slot> Found<'a, K, V> {
    #[inline]
    pub(crate) fn get(&self) -> &Entry<K, V> {
        self.entry.get()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Entry<K, V> {
        self.entry.get_mut()
    }

    /// Returns the entry, and everything that is needed to change its slots.
    #[inline]
    pub(crate) fn change(&mut self) -> (&mut Entry<K, V>, &mut Registrar<'a, K, V>) {
        (self.entry.get_mut(), &mut self.registrar)
    }

    #[inline]
    pub(crate) fn into_mut(self) -> &'a mut Entry<K, V> {
        self.entry.into_mut()
    }

    #[inline]
    pub(crate) fn remove(self) -> Entry<K, V> {
        let mut entry = self.entry.remove().0;
        entry.deregister(self.registrar.keys, self.registrar.values);
        entry
    }
}
