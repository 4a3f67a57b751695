//! The map with weak keys, keyed by content, and weak values.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use super::common::{collecting, housekeeping, iter_weak, only_weak_values, weak_values};
use super::pairing::{pair_iterators, pair_making};
use super::store::{Store, by_content};
use crate::hash::DefaultHashBuilder;
use crate::ptr::Expired;
use crate::reference::Upgrade as _;
use crate::reference::{ByContent, Content, Query, Slot as _, StrongRef, hash_of};
use crate::table::Place;

/// The entries and iterators of [`WeakHashPairMap`].
pub mod names {
    use crate::collections::entry;
    use crate::reference::{ByContent, WeakKey};

    type Watch<V> = <V as WeakKey>::Watch;

    /// The place of a key.
    pub type Entry<'a, 'k, K, V> = entry::WeakEntry<'a, &'k K, ByContent<K>, V>;
    /// The place of a key that has a live value.
    pub type OccupiedEntry<'a, 'k, K, V> = entry::WeakOccupiedEntry<'a, &'k K, ByContent<K>, V>;
    /// The place of a key that has no live value.
    pub type VacantEntry<'a, 'k, K, V> = entry::WeakVacantEntry<'a, &'k K, ByContent<K>, V>;
    /// The error of [`WeakHashPairMap::try_insert`](crate::WeakHashPairMap::try_insert).
    pub type OccupiedError<'a, 'k, K, V> = entry::WeakOccupiedError<'a, &'k K, ByContent<K>, V>;
    crate::collections::common::iterator_names!(ByContent<K>, Watch<V>);
}
use names::*;

/// A hash map with weak keys, keyed by the `Eq + Hash` of their content, and weak values: which object stands for
/// a content, while both that content and that object are in use.
///
/// An entry lives while both the key object that it was inserted with and its value are live. The first death of
/// the two ends it; a half-dead entry is never shown. Any object with equal content finds an entry, and so does
/// any [`Equivalent`](crate::Equivalent) borrowed content. What sets a value replaces the key object by the one that
/// it was given, [`entry`](Self::entry) and [`get_or_insert_with`](Self::get_or_insert_with) leave it. The documentation of
/// [`WeakHashMap`](crate::WeakHashMap) about keys and lookups, and that of [`WeakValueMap`](crate::WeakValueMap)
/// about values, also holds here. The map owns no user data, so reclaiming dead entries runs no user code.
///
/// For keys by identity, use a [`WeakPairMap`](crate::WeakPairMap).
///
/// ```
/// use weakly::{Strong, WeakHashPairMap};
///
/// let (name, style) = (Strong::<str>::from("title"), Strong::new("bold"));
/// let mut styles = WeakHashPairMap::new();
/// styles.insert(&name, &style);
/// assert_eq!(styles.get("title").as_deref(), Some(&"bold"));
/// drop(name); // or the style
/// assert!(styles.get("title").is_none());
/// assert!(styles.is_empty());
/// ```
pub struct WeakHashPairMap<K: StrongRef, V: StrongRef, S = DefaultHashBuilder> {
    store: Store<ByContent<K>, V::Watch, S>,
}

impl<K: StrongRef, V: StrongRef> WeakHashPairMap<K, V> {
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

impl<K: StrongRef, V: StrongRef, S> WeakHashPairMap<K, V, S> {
    /// Creates an empty map that uses the given hasher. See
    /// [`WeakHashMap::with_hasher`](crate::WeakHashMap::with_hasher) for one in a `static`.
    #[must_use]
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        WeakHashPairMap {
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
    only_weak_values!();
    iter_weak!();
    weak_values!();

    pair_iterators!();
}

impl<K: Content, V: StrongRef, S: BuildHasher> WeakHashPairMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    /// Whether a live key with this content has a live value. O(1). If other threads own the two, the answer may
    /// be outdated at once.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> bool {
        let sought = Q::content(key);
        let hash = hash_of(&self.store.hasher, sought);
        let found = self.store.table.find_by_content(hash, sought);
        found.is_some_and(|(entry, _pinned)| !entry.value.is_expired())
    }

    /// Returns the live value of the live key with this content, as a strong pointer. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<V> {
        let (key, value) = self.get_key_value(key)?;
        drop(key);
        Some(value)
    }

    /// Returns the live key with this content and its live value, as strong pointers. O(1).
    #[inline]
    pub fn get_key_value<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, V)> {
        let sought = Q::content(key);
        let hash = hash_of(&self.store.hasher, sought);
        let (entry, pinned) = self.store.table.find_by_content(hash, sought)?;
        Some((pinned, entry.value.upgrade()?))
    }

    /// Returns the live value of a content that is known to have one. O(1).
    ///
    /// # Panics
    /// If it has none. The message is that of [`Expired`], which explains what to look for.
    #[must_use]
    #[track_caller]
    pub fn expect<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> V {
        // Not in a closure: `#[track_caller]` would report the closure.
        let Some(value) = self.get(key) else {
            Expired::of::<V::Target>().panic()
        };
        value
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. A key whose value is dead has a
    /// vacant entry. If the map has a live key object of equal content, it stays, unless a value is inserted over
    /// its own. O(1) amortised.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, K::content(key), &mut pinned);
        let place = self.store.place(lookup, |entry| entry.value.upgrade());
        // It may be the last.
        drop(pinned);
        match place {
            Place::Found(found, value) => Entry::Occupied(OccupiedEntry::new(found, key, value)),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old one of this key, or of a live one of equal content, if it is
    /// live. O(1) amortised. From now on the entry lives no longer than this key. Both are passed by reference:
    /// the map takes no strong pointer.
    #[inline]
    pub fn insert(&mut self, key: &K, value: &V) -> Option<V> {
        self.store.table.prefetch_notified();
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, K::content(key), &mut pinned);
        let old = self
            .store
            .find_place(lookup, |entry| entry.value.upgrade())
            .set_weak(key, value);
        self.store.table.tidy();
        drop(pinned);
        old
    }

    pair_making!();

    /// Removes the live key with this content, and returns its value, if that is live. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<V> {
        let (key, value) = self.remove_entry(key)?;
        drop(key);
        Some(value)
    }

    /// Removes the live key with this content if `wanted` returns true for its live value, and returns the value. O(1).
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

    /// Removes the live key with this content, and returns it with its value, if that is live. O(1).
    pub fn remove_entry<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.table.tidy();
        let mut pinned = None;
        let lookup = by_content(&self.store.hasher, Q::content(key), &mut pinned);
        let value = self.store.remove(lookup)?;
        Some((pinned?, value))
    }
}

impl<K: StrongRef, V: StrongRef, S: Default> Default for WeakHashPairMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

/// Contains the same live entries. Each map drops its entries on its own.
impl<K: Content, V: StrongRef, S: Clone + BuildHasher> Clone for WeakHashPairMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity_and_hasher(self.len(), self.hasher().clone());
        copy.set_reclaim(self.reclaim());
        copy.extend(self.iter());
        copy
    }
}

/// Compares the live keys by content, and the values as the pointers compare: by their targets.
impl<K: Content, V: StrongRef + PartialEq, S: BuildHasher> PartialEq for WeakHashPairMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    fn eq(&self, other: &Self) -> bool {
        let mut live = 0;
        self.iter().all(|(key, value)| {
            live += 1;
            other
                .get(K::content(&key))
                .is_some_and(|other| other == value)
        }) && live == other.len_live()
    }
}

impl<K: Content, V: StrongRef + Eq, S: BuildHasher> Eq for WeakHashPairMap<K, V, S> where
    K::Target: Eq + Hash
{
}

impl<K, V, S> fmt::Debug for WeakHashPairMap<K, V, S>
where
    K: StrongRef + fmt::Debug,
    V: StrongRef + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

// The handles are dropped after each insert: an entry with a handle that was the last dies at once.
collecting!([K: Content, V: StrongRef, S] WeakHashPairMap<K, V, S>,
    from [K: Content, V: StrongRef] WeakHashPairMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(&key, &value));
collecting!(['a, K: Content, V: StrongRef, S] WeakHashPairMap<K, V, S>,
    from ['a, K: Content, V: StrongRef] WeakHashPairMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (&'a K, &'a V): |map, (key, value)| map.insert(key, value));

impl<K: StrongRef, V: StrongRef, S> IntoIterator for WeakHashPairMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        self.store.into_iter()
    }
}

impl<'a, K: StrongRef, V: StrongRef, S> IntoIterator for &'a WeakHashPairMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}
