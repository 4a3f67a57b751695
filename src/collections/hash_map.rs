//! The map with weak keys, keyed by content.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::ops::Index;

use super::common::{
    collecting, extending, filling, housekeeping, iter_weak, making, only_values, owned_values,
};
use super::store::{Store, by_content};
use crate::hash::DefaultHashBuilder;
use crate::reference::{AsContent, ByContent, Content, Hashed, Owned, Query, StrongRef, hash_of};
use crate::table::Place;

/// The entries and iterators of [`WeakHashMap`].
pub mod names {
    use crate::collections::{entry, iter};
    use crate::reference::ByContent;
    use crate::reference::Owned;

    /// The place of a key.
    pub type Entry<'a, 'k, K, V> = entry::Entry<'a, &'k K, ByContent<K>, V>;
    /// The place of a key that has a value.
    pub type OccupiedEntry<'a, 'k, K, V> = entry::OccupiedEntry<'a, &'k K, ByContent<K>, V>;
    /// The place of a key that has no value.
    pub type VacantEntry<'a, 'k, K, V> = entry::VacantEntry<'a, &'k K, ByContent<K>, V>;
    /// The error of [`WeakHashMap::try_insert`](crate::WeakHashMap::try_insert).
    pub type OccupiedError<'a, 'k, K, V> = entry::OccupiedError<'a, &'k K, ByContent<K>, V>;
    /// See [`WeakHashMap::iter_mut`](crate::WeakHashMap::iter_mut).
    pub type IterMut<'a, K, V> = iter::IterMut<'a, ByContent<K>, Owned<V>>;
    /// See [`WeakHashMap::values_mut`](crate::WeakHashMap::values_mut).
    pub type ValuesMut<'a, K, V> = iter::ValuesMut<'a, ByContent<K>, Owned<V>>;
    /// See [`WeakHashMap::drain_dead`](crate::WeakHashMap::drain_dead).
    pub type DrainDead<'a, K, V> = iter::DrainDead<'a, ByContent<K>, Owned<V>>;
    crate::collections::common::iterator_names!(ByContent<K>, Owned<V>);
}
use names::*;

/// A hash map with weak keys, keyed by the `Eq + Hash` of their content, and owned values: data about a
/// content, for as long as a key object with that content is live.
///
/// An entry lives as long as the key object that it was inserted with. Any object with equal content finds it,
/// through a pointer of any kind, and so does any [`Equivalent`](crate::Equivalent) borrowed content: `&str` for
/// `Strong<str>` or `Strong<String>`. See [`Query`]. But only the life of that one object counts.
/// [`insert`](Self::insert) with another object of equal content replaces the key, so that the value lives as long
/// as the key that it was last given with; [`entry`](Self::entry) keeps the old key.
///
/// The map stores each key's hash. Only lookups call the content's `Hash` and `Eq`, and only on live keys. A
/// lookup keeps a strong pointer meanwhile. If that turns out to be the last, the key dies in the lookup, after
/// the search of the table. Inside a key's own destructor its content finds nothing. If a content's `Hash` or
/// `Eq` change while it is in the map, or contradict each other, lookups may miss; nothing worse happens.
///
/// The section of [`WeakMap`](crate::WeakMap#when-a-dead-keys-value-is-destroyed), the map keyed by identity,
/// also holds here: when a dead key's value is destroyed, and how `Arc` and `Rc` keys differ.
///
/// ```
/// use weakly::{Strong, WeakHashMap};
///
/// let word: Strong<str> = "word".into();
/// let mut uses = WeakHashMap::new();
/// uses.insert(&word, 1);
/// *uses.get_mut("word").unwrap() += 1;
/// assert_eq!(uses["word"], 2);
/// drop(word);
/// assert_eq!(uses.get("word"), None);
/// ```
pub struct WeakHashMap<K: StrongRef, V, S = DefaultHashBuilder> {
    pub(super) store: Store<ByContent<K>, Owned<V>, S>,
}

impl<K: StrongRef, V> WeakHashMap<K, V> {
    /// Creates an empty map. Allocates nothing before the first insert.
    ///
    /// Not `const`, since each map has its own seeds: see [`with_hasher`](Self::with_hasher).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty map with room for `capacity` entries.
    ///
    /// # Panics
    /// If the size exceeds the address space.
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K: StrongRef, V, S> WeakHashMap<K, V, S> {
    /// Creates an empty map that uses the given hasher. At compile time, for a `static`, if the hasher is made then:
    ///
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use std::sync::Mutex;
    /// use weakly::{Strong, WeakHashMap};
    ///
    /// type Hasher = BuildHasherDefault<DefaultHasher>;
    /// type Uses = WeakHashMap<Strong<str>, u32, Hasher>;
    /// static USES: Mutex<Uses> = Mutex::new(WeakHashMap::with_hasher(Hasher::new()));
    /// assert!(USES.lock().unwrap().is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        WeakHashMap {
            store: Store::with_hasher(hasher),
        }
    }

    /// Creates an empty map with room for `capacity` entries that uses the given hasher.
    ///
    /// # Panics
    /// If the size exceeds the address space.
    #[must_use]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let mut map = Self::with_hasher(hasher);
        map.reserve(capacity);
        map
    }

    /// Returns a reference to the hasher.
    #[must_use]
    #[inline]
    pub fn hasher(&self) -> &S {
        &self.store.hasher
    }

    housekeeping!();

    /// Removes dead keys, and returns their values instead of destroying them. See
    /// [`WeakMap::drain_dead`](crate::WeakMap::drain_dead).
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        self.store.drain_dead()
    }

    only_values!();
    iter_weak!();
    owned_values!();
}

impl<K: Content, V, S: BuildHasher> WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    /// Whether a live key has this content. O(1).
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> bool {
        self.get(key).is_some()
    }

    /// Returns the value of the live key with this content. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<&V> {
        Some(self.get_key_value(key)?.1)
    }

    /// Returns the value of the live key with this content, mutably. O(1). Drains no notices, so it destroys no
    /// other value.
    #[inline]
    pub fn get_mut<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<&mut V> {
        let mut pinned = None;
        let (hash, eq) = by_content(&self.store.hasher, Q::content(key), &mut pinned);
        Some(&mut self.store.table.find_mut(hash, eq)?.value.0)
    }

    /// Returns the values of the live keys with these contents, mutably; `None` for a content without one. O(N).
    /// Drains no notices.
    ///
    /// # Panics
    /// If two of the contents have the same value.
    ///
    /// ```
    /// use weakly::{Strong, WeakHashMap};
    ///
    /// let words: [Strong<str>; 2] = ["from", "to"].map(Strong::from);
    /// let mut uses = WeakHashMap::from([(&words[0], 1), (&words[1], 2)]);
    /// let [Some(from), Some(to), None] = uses.get_disjoint_mut(["from", "to", "other"]) else {
    ///     panic!("two of them have uses");
    /// };
    /// *to += core::mem::take(from);
    /// assert_eq!((uses["from"], uses["to"]), (0, 3));
    /// ```
    #[track_caller]
    pub fn get_disjoint_mut<Q: ?Sized + Query<K::Target, M>, M, const N: usize>(
        &mut self,
        keys: [&Q; N],
    ) -> [Option<&mut V>; N] {
        // Dropped when the table is not searched any more: each may be the last.
        let mut pinned = [const { None }; N];
        let contents = keys.map(Q::content);
        let hashes = contents.map(|sought| hash_of(&self.store.hasher, sought));
        let is_key = |n: usize, slot: &ByContent<K>| {
            slot.has_content(hashes[n], contents[n], &mut pinned[n])
        };
        let entries = self.store.table.find_disjoint_mut(hashes, is_key);
        entries.map(|entry| entry.map(|entry| &mut entry.value.0))
    }

    /// Returns the live key with this content, as a strong pointer, and its value. O(1).
    #[inline]
    pub fn get_key_value<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, &V)> {
        let sought = Q::content(key);
        let hash = hash_of(&self.store.hasher, sought);
        let (entry, pinned) = self.store.table.find_by_content(hash, sought)?;
        Some((pinned, &entry.value.0))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. O(1) amortised. If the map has
    /// a key object of equal content, it stays, unless a value is inserted over its own.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let hash = self.store.hasher.hash_one(K::content(key));
        self.entry_hashed(hash, key)
    }

    /// Returns the place of a key, as [`entry`](Self::entry) does, whose content has this hash: what the
    /// [hasher](Self::hasher) makes of it. O(1) amortised. The content is compared, and not hashed: see [`Hashed`].
    #[inline]
    #[doc(alias = "raw_entry_mut")]
    #[doc(alias = "from_key_hashed_nocheck")]
    pub fn entry_hashed<'k>(&mut self, hash: u64, key: &'k K) -> Entry<'_, 'k, K, V> {
        let sought = Hashed(hash, |there: &K::Target| *K::content(key) == *there);
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, &sought, &mut pinned);
        match self.store.place(lookup, |_| Some(())) {
            Place::Found(found, ()) => Entry::Occupied(OccupiedEntry { found, key }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old value of this key or of one with equal content. O(1)
    /// amortised. From now on the entry lives as long as this key. The key is passed by reference: the map
    /// takes no strong pointer.
    #[inline]
    pub fn insert(&mut self, key: &K, value: V) -> Option<V> {
        self.store.table.prefetch_notified();
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, K::content(key), &mut pinned);
        let old = self
            .store
            .find_place(lookup, |_| Some(()))
            .set_owned(key, value);
        self.store.table.tidy();
        drop(pinned);
        old
    }

    filling!();
    making!();

    /// Removes the live key with this content, and returns its value. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<V> {
        let (key, value) = self.remove_entry(key)?;
        drop(key);
        Some(value)
    }

    /// Removes the live key with this content if `wanted` returns true for its value, and returns the value. O(1).
    ///
    /// # Panics
    /// If `wanted` panics. The entry then stays.
    pub fn remove_if<Q: ?Sized + Query<K::Target, M>, M>(
        &mut self,
        key: &Q,
        wanted: impl FnOnce(&V) -> bool,
    ) -> Option<V> {
        self.store.table.tidy();
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, Q::content(key), &mut pinned);
        let removed = self.store.remove_if(lookup, wanted);
        drop(pinned);
        removed
    }

    /// Removes the live key with this content, and returns it, as a strong pointer, with its value. O(1).
    pub fn remove_entry<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.table.tidy();
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, Q::content(key), &mut pinned);
        let value = self.store.remove(lookup)?;
        Some((pinned?, value))
    }
}

impl<K: StrongRef, V, S: Default> Default for WeakHashMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

/// Contains the same live keys, with clones of the values. Each map drops its entries on its own.
impl<K: Content, V: Clone, S: Clone + BuildHasher> Clone for WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity_and_hasher(self.len(), self.hasher().clone());
        copy.set_reclaim(self.reclaim());
        copy.extend(self.iter().map(|(key, value)| (key, value.clone())));
        copy
    }
}

/// Compares the live keys by content, and their values.
impl<K: Content, V: PartialEq, S: BuildHasher> PartialEq for WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    fn eq(&self, other: &Self) -> bool {
        let mut live = 0;
        self.iter().all(|(key, value)| {
            live += 1;
            other.get(K::content(&key)) == Some(value)
        }) && live == other.len_live()
    }
}

impl<K: Content, V: Eq, S: BuildHasher> Eq for WeakHashMap<K, V, S> where K::Target: Eq + Hash {}

impl<K: StrongRef + fmt::Debug, V: fmt::Debug, S> fmt::Debug for WeakHashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Takes contents only: for a key, write `map[&*key]`.
///
/// # Panics
/// If no live key has this content.
impl<K: Content, V, S: BuildHasher, Q> Index<&Q> for WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
    Q: ?Sized + Query<K::Target, AsContent>,
{
    type Output = V;

    #[track_caller]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no value for this key")
    }
}

// The handles are dropped after each insert: an entry whose handle was the last dies at once.
collecting!([K: Content, V, S] WeakHashMap<K, V, S>, from [K: Content, V] WeakHashMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(&key, value));
collecting!(['a, K: Content, V, S] WeakHashMap<K, V, S>, from ['a, K: Content, V] WeakHashMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (&'a K, V): |map, (key, value)| map.insert(key, value));
extending!(['a, K: Content, V: Clone, S] WeakHashMap<K, V, S>,
    where [K::Target: Eq + Hash, S: BuildHasher,],
    (K, &'a V): |map, (key, value)| map.insert(&key, value.clone()));
extending!(['a, K: Content, V: Clone, S] WeakHashMap<K, V, S>,
    where [K::Target: Eq + Hash, S: BuildHasher,],
    (&'a K, &'a V): |map, (key, value)| map.insert(key, value.clone()));

impl<K: StrongRef, V, S> IntoIterator for WeakHashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        self.store.into_iter()
    }
}

impl<'a, K: StrongRef, V, S> IntoIterator for &'a WeakHashMap<K, V, S> {
    type Item = (K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K: StrongRef, V, S> IntoIterator for &'a mut WeakHashMap<K, V, S> {
    type Item = (K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
