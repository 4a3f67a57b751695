//! A table with its hasher, and all code that the collections have in common. The faces only choose
//! the slots, the kind of lookup, and the promises of their documentation.
//!
//! Here and in the faces, destructors of users run before the result of a function is in its place.
//! If a local is dropped later and its destructor panics, the compiler leaks the result.

use alloc::collections::TryReserveError;
use core::marker::PhantomData;

use super::iter::{
    Drain, DrainDead, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, IterWeak, Keys,
    KeysOf, KeysWeak, Values, ValuesMut,
};
use super::lookup::Lookup;
use super::shown::{Copied, Given, Shown};
use crate::hash::HashValue;
use crate::reference::{Owned, Slot, Watch};
use crate::table::{Entry, Walk};
use crate::table::{Found, IntoEntries, Place, Table, Vacant};

pub(crate) struct Store<K: Slot, V: Slot, S = ()> {
    pub(crate) table: Table<K, V>,
    pub(crate) hasher: S,
}

impl<K: Slot, V: Slot, S> Store<K, V, S> {
    #[inline]
    pub(crate) const fn with_hasher(hasher: S) -> Self {
        Store {
            table: Table::new(),
            hasher,
        }
    }

    #[track_caller]
    pub(crate) fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        Store {
            table: Table::with_capacity(capacity),
            hasher,
        }
    }
}

impl<K: Slot, V: Slot, S> Store<K, V, S> {
    #[track_caller]
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.table.tidy();
        self.table.reserve(additional);
    }

    pub(crate) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.table.tidy();
        self.table.try_reserve(additional)
    }

    pub(crate) fn shrink_to(&mut self, min_capacity: usize) {
        self.table.shrink_to(min_capacity);
    }

    /// Finds the place of a key. The caller may keep the place while the store is borrowed.
    /// Reclaims some dead entries first.
    #[inline]
    pub(crate) fn place<R>(
        &mut self,
        lookup: impl Lookup<K, S>,
        pin: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Place<'_, K, V, R> {
        self.table.tidy();
        let mut pinned = Default::default();
        let place = self.find_place(lookup, &mut pinned, pin);
        drop(pinned);
        place
    }

    /// Like [`place`](Self::place), but does not reclaim dead entries. An insertion that completes
    /// at once reclaims dead entries afterwards, when the memory of the first has been prefetched:
    /// see [`prefetch_notified`](Table::prefetch_notified).
    #[inline]
    pub(crate) fn find_place<L: Lookup<K, S>, R>(
        &mut self,
        lookup: L,
        pinned: &mut L::Pin,
        pin: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Place<'_, K, V, R> {
        let hash = lookup.hash(&self.hasher);
        let is = move |key: &K| lookup.is(hash, key, pinned);
        self.table.place(hash, is, pin)
    }
}

impl<K: Slot, V: Slot, S> Store<K, V, S> {
    #[inline]
    fn find<'s, L: Lookup<K, S>, R>(
        &'s self,
        lookup: L,
        then: impl FnOnce(&'s Entry<K, V>, L::Pin) -> Option<R>,
    ) -> Option<R> {
        let hash = lookup.hash(&self.hasher);
        lookup.find(hash, &self.table, then)
    }

    #[inline]
    pub(crate) fn find_entry<L: Lookup<K, S>>(
        &mut self,
        lookup: L,
        pinned: &mut L::Pin,
    ) -> Option<Found<'_, K, V>> {
        let hash = lookup.hash(&self.hasher);
        self.table
            .find_entry(hash, move |key| lookup.is(hash, key, pinned))
    }

    /// Returns whether the entry that the lookup finds has a live value.
    #[inline]
    pub(crate) fn contains_key(&self, lookup: impl Lookup<K, S>) -> bool {
        self.find(lookup, |entry, _| (!entry.value.is_expired()).then_some(()))
            .is_some()
    }

    pub(crate) fn len_live(&self) -> usize {
        let live = |entry: &&Entry<K, V>| !entry.is_expired();
        self.table.entries.iter().filter(live).count()
    }

    pub(crate) fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        DrainDead::new(&mut self.table)
    }

    pub(crate) fn iter_weak(&self) -> IterWeak<'_, K, V> {
        IterWeak(self.table.entries.iter())
    }

    pub(crate) fn keys_weak(&self) -> KeysWeak<'_, K, V> {
        KeysWeak(self.table.entries.iter())
    }
}

impl<K: Slot, V: Watch, S> Store<K, V, S> {
    pub(crate) fn keys_of(&self, value: &V::Key) -> KeysOf<'_, K, V> {
        KeysOf(self.table.entries_of(value).into_iter())
    }

    pub(crate) fn remove_value(&mut self, value: &V::Key) -> usize {
        self.table.tidy();
        self.table.remove_of(value)
    }
}

impl<K: Slot, V: Shown, S> Store<K, V, S> {
    /// Returns the value of the entry that the lookup finds. Does not check whether the key is
    /// live.
    #[inline]
    pub(crate) fn get(&self, lookup: impl Lookup<K, S>) -> Option<V::Ref<'_>> {
        self.find(lookup, |entry, pinned| {
            let value = V::show(&entry.value, V::pin(&entry.value)?);
            drop(pinned);
            Some(value)
        })
    }

    /// Returns the values of the entries that several lookups find. Does not check whether the keys
    /// are live.
    ///
    /// # Panics
    /// If two lookups find the same entry, and its value is live.
    #[track_caller]
    pub(crate) fn get_disjoint_mut<const N: usize>(
        &mut self,
        lookups: [impl Lookup<K, S>; N],
    ) -> [Option<V::Mut<'_>>; N] {
        let mut pinned = [(); N].map(|()| Default::default());
        let hashes = lookups.each_ref().map(|lookup| lookup.hash(&self.hasher));
        let is_live = |n: usize, entry: &Entry<K, V>| {
            lookups[n].is(hashes[n], &entry.key, &mut pinned[n]) && !entry.value.is_expired()
        };
        let values = self.table.find_disjoint_mut(hashes, is_live).map(|entry| {
            let value = &mut entry?.value;
            let guard = V::pin(value)?;
            Some(V::show_mut(value, guard))
        });
        drop(pinned);
        values
    }

    /// Removes the entry that the lookup finds, and returns its value. Does not check whether the
    /// key is live.
    #[inline]
    pub(crate) fn remove(&mut self, lookup: impl Lookup<K, S>) -> Option<V::Item> {
        self.remove_if(lookup, |_| true)
    }

    /// Removes the entry that the lookup finds if its value is `wanted`, and returns the value.
    /// Does not check whether the key is live.
    #[inline]
    pub(crate) fn remove_if(
        &mut self,
        lookup: impl Lookup<K, S>,
        wanted: impl FnOnce(&V::Item) -> bool,
    ) -> Option<V::Item> {
        self.table.tidy();
        let mut pinned = Default::default();
        let found = self.find_entry(lookup, &mut pinned)?;
        let guard = V::pin(&found.get().value)?;
        if !wanted(V::peek(&found.get().value, &guard)) {
            return None;
        }
        let value = found.remove().take_value(guard);
        drop(pinned);
        Some(value)
    }

    /// Removes each entry with a live key if `keep` returns false for the value.
    pub(crate) fn retain_values(&mut self, mut keep: impl FnMut(&mut V::Item) -> bool) {
        self.table.tidy();
        let mut walk = Walk::default();
        while let Some((guard, entry)) = self.table.take_next(&mut walk, |entry| {
            if entry.key.is_expired() {
                return None;
            }
            let mut guard = V::pin(&entry.value)?;
            (!keep(V::peek_mut(&mut entry.value, &mut guard))).then_some(guard)
        }) {
            drop(V::take(entry.value, guard));
        }
    }

    pub(crate) fn values(&self) -> Values<'_, K, V> {
        Values(self.table.entries.iter())
    }

    pub(crate) fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut(self.table.entries.iter_mut())
    }

    pub(crate) fn into_values(self) -> IntoValues<K, V> {
        IntoValues(IntoEntries::new(self.table))
    }
}

impl<K: Shown, V: Shown, S> Store<K, V, S> {
    /// Returns the entry that the lookup finds, if both its key and its value are live.
    #[inline]
    pub(crate) fn get_key_value<L: Lookup<K, S>>(
        &self,
        lookup: L,
    ) -> Option<(K::Ref<'_>, V::Ref<'_>)> {
        self.find(lookup, |entry, pinned| {
            let key = K::show(&entry.key, L::pin(pinned, &entry.key)?);
            Some((key, V::show(&entry.value, V::pin(&entry.value)?)))
        })
    }

    /// Removes the entry that the lookup finds, if both its key and its value are live.
    pub(crate) fn remove_entry<L: Lookup<K, S>>(
        &mut self,
        lookup: L,
    ) -> Option<(K::Item, V::Item)> {
        self.table.tidy();
        let mut pinned = Default::default();
        let found = self.find_entry(lookup, &mut pinned)?;
        let entry = found.get();
        let guards = (L::pin(pinned, &entry.key)?, V::pin(&entry.value)?);
        Some(found.remove().take(guards))
    }

    /// Returns whether `has` finds each live entry in the other store, and the other store has no
    /// more live entries.
    pub(crate) fn equals<'a>(
        &'a self,
        other: &Self,
        mut has: impl FnMut(K::Ref<'a>, V::Ref<'a>) -> bool,
    ) -> bool {
        let mut live = 0;
        self.iter().all(|(key, value)| {
            live += 1;
            has(key, value)
        }) && live == other.len_live()
    }

    pub(crate) fn pop(&mut self) -> Option<(K::Item, V::Item)> {
        self.table.tidy();
        let (guard, entry) = self.table.pop(|entry| entry.pin())?;
        Some(entry.take(guard))
    }

    pub(crate) fn extract_if<F>(&mut self, take: F) -> ExtractIf<'_, K, V, F>
    where
        F: FnMut(&K::Item, &mut V::Item) -> bool,
    {
        self.table.tidy();
        ExtractIf::new(&mut self.table, take)
    }

    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.table.entries.iter())
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.table.entries.iter_mut())
    }

    pub(crate) fn keys(&self) -> Keys<'_, K, V> {
        Keys(self.table.entries.iter())
    }

    pub(crate) fn drain(&mut self) -> Drain<'_, K, V> {
        Drain(
            IntoIter(IntoEntries::new(self.table.take_entries())),
            PhantomData,
        )
    }

    pub(crate) fn into_iter(self) -> IntoIter<K, V> {
        IntoIter(IntoEntries::new(self.table))
    }

    pub(crate) fn into_keys(self) -> IntoKeys<K, V> {
        IntoKeys(IntoEntries::new(self.table))
    }
}

impl<K: Slot, T, S> Store<K, Owned<T>, S> {
    /// Returns the value of the entry that the lookup finds. Does not check whether the key is
    /// live.
    #[inline]
    pub(crate) fn get_mut(&mut self, lookup: impl Lookup<K, S>) -> Option<&mut T> {
        let found = self.find_entry(lookup, &mut Default::default())?;
        Some(&mut found.into_mut().value.0)
    }
}

impl<'a, K: Slot, T> Vacant<'a, K, Owned<T>> {
    /// Inserts a key and an owned value.
    #[inline]
    pub(crate) fn set_owned(self, key: impl Given<K>, value: T) -> Found<'a, K, Owned<T>> {
        self.fill(|watch| Entry {
            key: Given::enter(key, watch.hash, watch.keys),
            value: Owned(value),
        })
    }
}

impl<K: Slot, T> Found<'_, K, Owned<T>> {
    /// Sets the value. If keys are found by content, the passed key replaces the key of the entry:
    /// the entry lives as long as the key with which its value was last set.
    #[inline]
    pub(crate) fn set_owned(&mut self, key: &impl Given<K>, value: T) -> T {
        let (entry, watch) = self.change();
        if K::BY_CONTENT {
            Given::replace(key, &mut entry.key, watch.hash, watch.keys);
        }
        core::mem::replace(&mut entry.value.0, value)
    }
}

impl<K: Slot, T> Place<'_, K, Owned<T>, ()> {
    /// Sets the value of a key, and returns the old value.
    #[inline]
    pub(crate) fn set_owned(self, key: impl Given<K>, value: T) -> Option<T> {
        match self {
            Place::Found(mut found, ()) => Some(found.set_owned(&key, value)),
            Place::Vacant(vacant) => {
                vacant.set_owned(key, value);
                None
            }
        }
    }
}

impl<K: Slot, V: Watch, R> Place<'_, K, V, R> {
    /// Sets the value of a key, and returns `R`, which keeps the old value alive.
    #[inline]
    pub(crate) fn set_weak(self, key: impl Given<K>, value: &V::Key) -> Option<R> {
        match self {
            Place::Found(mut found, old) => {
                found.set_weak(Some(&key), value);
                drop(key);
                Some(old)
            }
            Place::Vacant(vacant) => {
                vacant.set_weak(key, value);
                None
            }
        }
    }
}

impl<'a, K: Slot, V: Watch> Vacant<'a, K, V> {
    /// Inserts a key and a weak value.
    #[inline]
    pub(crate) fn set_weak(self, key: impl Given<K>, value: &V::Key) -> Found<'a, K, V> {
        self.register(
            |hash, keys| Given::enter(key, hash, keys),
            |hash, values| V::watch(value, hash, values),
        )
    }
}

impl<'a, K: Slot, V: Slot> Vacant<'a, K, V> {
    /// Inserts an entry whose slots are made with the queues of the table: first the value, then
    /// the key.
    #[inline]
    fn register(
        self,
        key: impl FnOnce(HashValue, &mut K::Queue) -> K,
        value: impl FnOnce(HashValue, &mut V::Queue) -> V,
    ) -> Found<'a, K, V> {
        /// Deregisters the value if user code of the key's handle panics.
        struct Undo<'d, V: Slot>(Option<V>, &'d mut V::Queue);
        impl<V: Slot> Drop for Undo<'_, V> {
            fn drop(&mut self) {
                if let Some(value) = &mut self.0 {
                    value.deregister(self.1);
                }
            }
        }
        self.fill(|watch| {
            let value = value(watch.hash, watch.values);
            let mut undo = Undo(Some(value), watch.values);
            let key = key(watch.hash, watch.keys);
            let value = undo.0.take();
            Entry {
                key,
                value: value.unwrap_or_else(|| unreachable!("the value is still there")),
            }
        })
    }
}

impl<K: Copied, V: Copied, S: Clone> Store<K, V, S> {
    /// Returns a store with the same live entries, each under its hash.
    pub(crate) fn copy(&self) -> Self {
        let mut copy = Self::with_capacity_and_hasher(self.table.len(), self.hasher.clone());
        copy.table.set_reclaim(self.table.reclaim());
        for entry in self.table.entries.iter() {
            let Some((key, value)) = entry.pin() else {
                continue;
            };
            let place = copy.table.place(entry.hash(), |_| false, |_| Some(()));
            if let Place::Vacant(vacant) = place {
                vacant.register(
                    |hash, keys| K::copy_slot(&entry.key, &key, hash, keys),
                    |hash, values| V::copy_slot(&entry.value, &value, hash, values),
                );
            }
        }
        copy
    }
}

impl<K: Slot, V: Watch> Found<'_, K, V> {
    /// Sets the value. If keys are found by content, the passed key replaces the key of the entry.
    #[inline]
    pub(crate) fn set_weak(&mut self, key: Option<&impl Given<K>>, value: &V::Key) {
        let (entry, watch) = self.change();
        entry.value.rewatch(value, watch.hash, watch.values);
        if let Some(key) = key.filter(|_| K::BY_CONTENT) {
            Given::replace(key, &mut entry.key, watch.hash, watch.keys);
        }
    }
}
