//! The map whose values are weak.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::common::{collecting, housekeeping, weak_values};
use super::shown::Shown as _;
use super::store::{Store, by_key};
use crate::hash::DefaultHashBuilder;
use crate::ptr::Expired;
use crate::reference::{StrongRef, Watch as _};
use crate::table::{Owned, Place};

/// The entries and iterators of [`WeakValueMap`].
pub mod names {
    use crate::collections::{entry, iter};
    use crate::reference::WeakKey;
    use crate::table::Owned;

    type Watch<V> = <V as WeakKey>::Watch;

    /// The place of a key.
    pub type Entry<'a, K, V> = entry::WeakEntry<'a, K, Owned<K>, V>;
    /// The place of a key that has a live value.
    pub type OccupiedEntry<'a, K, V> = entry::WeakOccupiedEntry<'a, K, Owned<K>, V>;
    /// The place of a key that has no live value.
    pub type VacantEntry<'a, K, V> = entry::WeakVacantEntry<'a, K, Owned<K>, V>;
    /// The error of [`WeakValueMap::try_insert`](crate::WeakValueMap::try_insert).
    pub type OccupiedError<'a, K, V> = entry::WeakOccupiedError<'a, K, Owned<K>, V>;
    /// See [`WeakValueMap::weak_values`](crate::WeakValueMap::weak_values).
    pub type WeakValues<'a, K, V> = iter::WeakValues<'a, Owned<K>, Watch<V>>;
    /// See [`WeakValueMap::drain_dead`](crate::WeakValueMap::drain_dead).
    pub type DrainDead<'a, K, V> = iter::DrainDead<'a, Owned<K>, Watch<V>>;
    crate::collections::common::iterator_names!(Owned<K>, Watch<V>);
}
use names::*;

/// A hash map with owned keys and weak values: "the one live object of this name, if there is one".
/// For assets, connections, open documents, interned objects.
///
/// An entry lives as long as its value; the map keeps no value alive. So whoever inserts must keep the
/// value, or hand it to somebody who does: [`insert`](Self::insert) takes it by reference, and what
/// gives one out ([`get`](Self::get), [`get_or_insert_with`](Self::get_or_insert_with)) gives a strong
/// pointer. The death of a value that has been replaced touches nothing.
///
/// Values are [`Strong`](crate::Strong), [`local::Strong`](crate::local::Strong),
/// [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or a pointer of your own ([`StrongRef`]). Keys are
/// hashed as in std's map, and found by [`Equivalent`] ones (`&str` for `String`). If `Hash` or `Eq` of
/// a key change while it is in the map, or contradict each other, lookups may miss; nothing worse.
///
/// # When a dead value's key is destroyed
///
/// From the value's death on, its entry is not found, and reads as vacant; with `Strong` and
/// `local::Strong` it does not count either. Its **key**, which the map owns, is destroyed by the map's
/// own next operations, as the values of a [`WeakMap`](crate::WeakMap#when-a-dead-keys-value-is-destroyed)
/// are: up to 16 at each `&mut self` method, all at [`purge`](Self::purge), at growth, and with the
/// map; or only when [asked for](crate::Reclaim::OnRequest). Methods that take `&self` destroy no key; but the strong pointer that they make, or drop
/// because the key did not fit, may turn out to be the last.
///
/// ```
/// use weakly::{Strong, WeakValueMap};
///
/// let mut textures = WeakValueMap::new();
/// let load = |name: &&str| Strong::new(format!("pixels of {name}"));
/// let one = textures.get_or_insert_with("wood", load);
/// let other = textures.get_or_insert_with("wood", load);
/// assert!(Strong::ptr_eq(&one, &other)); // loaded once
/// drop((one, other));
/// assert!(textures.get("wood").is_none()); // and gone with its last user
/// assert!(textures.is_empty());
/// ```
pub struct WeakValueMap<K, V: StrongRef, S = DefaultHashBuilder> {
    store: Store<Owned<K>, V::Watch, S>,
}

impl<K, V: StrongRef> WeakValueMap<K, V> {
    /// An empty map. Allocates nothing before the first insert.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<K: Eq + Hash, V: StrongRef> WeakValueMap<K, V> {
    /// An empty map with room for `capacity` entries.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K, V: StrongRef, S> WeakValueMap<K, V, S> {
    /// An empty map with a hasher of yours.
    #[must_use]
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        WeakValueMap {
            store: Store::with_hasher(hasher),
        }
    }

    /// The hasher.
    #[must_use]
    #[inline]
    pub fn hasher(&self) -> &S {
        &self.store.hasher
    }
}

impl<K: Eq + Hash, V: StrongRef, S: BuildHasher> WeakValueMap<K, V, S> {
    /// An empty map with a hasher of yours and room for `capacity` entries.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let mut map = Self::with_hasher(hasher);
        map.reserve(capacity);
        map
    }

    housekeeping!();

    /// Hands out the keys of dead values instead of destroying them: all that are dead now and, while
    /// the iterator runs, those that die. What it has not handed out when it is dropped stays.
    /// Costs what [`purge`](Self::purge) does. That it is really all, and no other operation destroys some,
    /// takes [`Reclaim::OnRequest`](crate::Reclaim::OnRequest).
    ///
    /// ```
    /// use weakly::{Strong, WeakValueMap};
    ///
    /// let connection = Strong::new("socket");
    /// let mut open = WeakValueMap::from([("example.org", &connection)]);
    /// drop(connection);
    /// assert!(open.drain_dead().eq(["example.org"]));
    /// ```
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        self.store.drain_dead()
    }

    /// Whether the key has a live value. O(1). A moment's answer where other threads hold the value: to
    /// use it, [`get`](Self::get) it.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> bool {
        let (hash, eq) = by_key(&self.store.hasher, key);
        let entry = self.store.table.find(hash, eq);
        entry.is_some_and(|entry| !entry.value.is_expired())
    }

    /// The live value of a key, as a strong pointer. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<V> {
        self.store.get(by_key(&self.store.hasher, key))
    }

    /// The key that is in the map, and its live value as a strong pointer. O(1).
    pub fn get_key_value<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<(&K, V)> {
        self.store.get_key_value(by_key(&self.store.hasher, key))
    }

    /// The live value of a key that is known to have one. O(1).
    ///
    /// # Panics
    /// If it has none; the message is that of [`Expired`], which says what to look for.
    #[must_use]
    #[track_caller]
    pub fn expect<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> V {
        // Not in a closure, which would be the caller that the panic names.
        let Some(value) = self.get(key) else {
            Expired::of::<V::Target>().panic()
        };
        value
    }

    /// The place of a key, to look at, fill or clear it with one lookup. A dead value reads as vacant.
    /// O(1) amortised.
    ///
    /// ```
    /// use weakly::{Strong, WeakValueMap};
    ///
    /// let mut names = WeakValueMap::new();
    /// let one = names.entry("a").or_insert_with(|| Strong::new(1));
    /// assert_eq!(*names.entry("a").or_insert_with(|| Strong::new(2)), 1);
    /// drop(one);
    /// assert_eq!(*names.entry("a").or_insert_with(|| Strong::new(3)), 3);
    /// ```
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let (hash, eq) = by_key(&self.store.hasher, &key);
        match self.store.place((hash, eq), |entry| entry.value.pin()) {
            Place::Found(found, value) => Entry::Occupied(OccupiedEntry { found, key, value }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the live one that it had. O(1) amortised. The map takes no
    /// strong pointer: keep the value, or the entry goes at once.
    #[inline]
    pub fn insert(&mut self, key: K, value: &V) -> Option<V> {
        self.store.table.look_ahead();
        let lookup = by_key(&self.store.hasher, &key);
        let old = match self.store.find_place(lookup, |entry| entry.value.pin()) {
            Place::Found(mut found, old) => {
                found.set_weak(&key, value);
                Some(old)
            }
            Place::Vacant(vacant) => {
                vacant.set_weak(key, value);
                None
            }
        };
        self.store.table.tidy();
        old
    }

    /// Sets the value of a key that has no live one. O(1) amortised.
    ///
    /// # Errors
    /// If it has one, the error holds its entry.
    pub fn try_insert(&mut self, key: K, value: &V) -> Result<(), OccupiedError<'_, K, V>> {
        match self.entry(key) {
            Entry::Occupied(entry) => Err(OccupiedError { entry }),
            Entry::Vacant(entry) => {
                entry.insert(value);
                Ok(())
            }
        }
    }

    /// The live value of a key, or `value`, which then becomes its value. O(1) amortised.
    pub fn get_or_insert(&mut self, key: K, value: V) -> V {
        self.entry(key).or_insert(value)
    }

    /// The live value of a key, or the one that `make` makes, which then becomes its value. O(1)
    /// amortised, one lookup.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce(&K) -> V) -> V {
        self.entry(key).or_insert_with_key(make)
    }

    /// The live value of a key, or the one that `make` makes, which then becomes its value. O(1)
    /// amortised, one lookup.
    ///
    /// # Errors
    /// That of `make`; the map is then as before.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    ///
    /// ```
    /// use weakly::{Strong, WeakValueMap};
    ///
    /// let mut numbers = WeakValueMap::new();
    /// let parse = |text: &&str| text.parse::<i32>().map(Strong::new);
    /// assert!(numbers.try_get_or_insert_with("x", parse).is_err());
    /// assert!(numbers.is_empty());
    /// assert_eq!(*numbers.try_get_or_insert_with("5", parse)?, 5);
    /// # Ok::<(), std::num::ParseIntError>(())
    /// ```
    pub fn try_get_or_insert_with<E>(
        &mut self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        self.entry(key).or_try_insert_with_key(make)
    }

    /// Removes a key, and returns its value, if that lives. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<V> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key, and returns it with its value, if that lives. O(1).
    pub fn remove_entry<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.table.tidy();
        let lookup = by_key(&self.store.hasher, key);
        self.store.remove_entry(lookup)
    }

    weak_values!();

    /// All live entries, values as strong pointers, in no order. O(capacity).
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.store.iter()
    }

    /// The keys of all live values, in no order. O(capacity); upgrades nobody.
    pub fn keys(&self) -> Keys<'_, K, V> {
        self.store.keys()
    }
}

impl<K, V: StrongRef, S: Default> Default for WeakValueMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

/// The same live values under clones of the keys; each map forgets by itself.
impl<K: Clone + Eq + Hash, V: StrongRef, S: Clone + BuildHasher> Clone for WeakValueMap<K, V, S> {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity_and_hasher(self.len(), self.hasher().clone());
        copy.set_reclaim(self.reclaim());
        copy.extend(self.iter().map(|(key, value)| (key.clone(), value)));
        copy
    }
}

/// The same keys with equal live values (as the pointers compare: by what they point to).
impl<K: Eq + Hash, V: StrongRef + PartialEq, S: BuildHasher> PartialEq for WeakValueMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        let mut live = 0;
        self.iter().all(|(key, value)| {
            live += 1;
            other.get(key).is_some_and(|other| other == value)
        }) && live == other.len_live()
    }
}

impl<K: Eq + Hash, V: StrongRef + Eq, S: BuildHasher> Eq for WeakValueMap<K, V, S> {}

impl<K: fmt::Debug, V: StrongRef + fmt::Debug, S> fmt::Debug for WeakValueMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

// The handles are dropped as they go in: those that nobody else holds leave nothing.
collecting!([K, V: StrongRef, S] WeakValueMap<K, V, S>, from [K, V: StrongRef] WeakValueMap<K, V>,
    where [K: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(key, &value));
collecting!(['a, K, V: StrongRef, S] WeakValueMap<K, V, S>, from ['a, K, V: StrongRef] WeakValueMap<K, V>,
    where [K: Eq + Hash,], [S: BuildHasher,],
    (K, &'a V): |map, (key, value)| map.insert(key, value));

impl<K, V: StrongRef, S> IntoIterator for WeakValueMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        self.store.into_iter()
    }
}

impl<'a, K, V: StrongRef, S> IntoIterator for &'a WeakValueMap<K, V, S> {
    type Item = (&'a K, V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.store.iter()
    }
}
