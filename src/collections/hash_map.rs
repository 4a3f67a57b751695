//! The map whose keys are weak, by content.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::ops::Index;
use equivalent::Equivalent;

use super::common::{collecting, filling, housekeeping, making, owned_values};
use super::store::{Store, by_content};
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{ByContent, Content, StrongRef};
use crate::table::{Owned, Place};

/// The entries and iterators of [`WeakHashMap`].
pub mod names {
    use crate::collections::{entry, iter};
    use crate::reference::ByContent;
    use crate::table::Owned;

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
    /// See [`WeakHashMap::weak_keys`](crate::WeakHashMap::weak_keys).
    pub type WeakKeys<'a, K, V> = iter::WeakKeys<'a, ByContent<K>, Owned<V>>;
    /// See [`WeakHashMap::drain_dead`](crate::WeakHashMap::drain_dead).
    pub type DrainDead<'a, K, V> = iter::DrainDead<'a, ByContent<K>, Owned<V>>;
    crate::collections::common::iterator_names!(ByContent<K>, Owned<V>);
}
use names::*;

/// A hash map with weak keys, told apart by their content's `Eq + Hash`, and owned values: data about
/// what is said, for as long as somebody says it.
///
/// An entry lives as long as the key object that it was made with. Any object that says the same finds
/// it, and so does any [`Equivalent`] borrowed content: `&str` for `Strong<str>` or `Strong<String>`.
/// But it is that one object's life that counts: [`insert`](Self::insert) with another object of the
/// same content puts the new one in its place, so that the value lives as long as the key that it was
/// last given with; [`entry`](Self::entry) leaves it.
///
/// The map keeps each key's hash. The content's `Hash` and `Eq` are called on live keys only, by
/// lookups, which keep a strong pointer for that moment: it may turn out to be the last, and then the
/// key dies in the lookup, when the table is not looked at any more. Inside a key's own destructor its content finds nothing. If a
/// content's `Hash` or `Eq` change while it is in the map, or contradict each other, lookups may miss;
/// nothing worse.
///
/// When a dead key's value is destroyed, and what `Arc` and `Rc` keys mean, is as for
/// [`WeakMap`](crate::WeakMap#when-a-dead-keys-value-is-destroyed), whose keys are told apart by
/// identity.
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
    store: Store<ByContent<K>, Owned<V>, S>,
}

impl<K: StrongRef, V> WeakHashMap<K, V> {
    /// An empty map. Allocates nothing before the first insert.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

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

impl<K: StrongRef, V, S> WeakHashMap<K, V, S> {
    /// An empty map with a hasher of yours.
    #[must_use]
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        WeakHashMap {
            store: Store::with_hasher(hasher),
        }
    }

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

    /// The hasher.
    #[must_use]
    #[inline]
    pub fn hasher(&self) -> &S {
        &self.store.hasher
    }

    housekeeping!();

    /// Hands out the values of dead keys instead of destroying them. See
    /// [`WeakMap::drain_dead`](crate::WeakMap::drain_dead).
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        self.store.drain_dead()
    }

    owned_values!();
}

impl<K: Content, V, S: BuildHasher> WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    /// Whether a live key says this. O(1).
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, key: &Q) -> bool {
        self.get(key).is_some()
    }

    /// The value of the live key that says this. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, key: &Q) -> Option<&V> {
        Some(self.get_key_value(key)?.1)
    }

    /// The value of the live key that says this. O(1). Works off no notices: what you get is what is
    /// there.
    #[inline]
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<K::Target>>(&mut self, key: &Q) -> Option<&mut V> {
        let mut held = None;
        let (hash, eq) = by_content(&self.store.hasher, key, &mut held);
        Some(&mut self.store.table.find_mut(hash, eq)?.value.0)
    }

    /// The live key that says this, as a strong pointer, and its value. O(1).
    #[inline]
    pub fn get_key_value<Q: ?Sized + Hash + Equivalent<K::Target>>(
        &self,
        key: &Q,
    ) -> Option<(K, &V)> {
        let hash = HashValue::of(&self.store.hasher, key);
        let (entry, held) = self.store.table.find_by_content(hash, key)?;
        Some((held, &entry.value.0))
    }

    /// The place of a key, to look at, fill or clear it with one lookup. O(1) amortised. A key object
    /// that is there and says the same stays, unless a value is inserted over its own.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let mut held = None;
        let lookup = by_content(&self.store.hasher, K::content(key), &mut held);
        match self.store.place(lookup, |_| Some(())) {
            Place::Found(found, ()) => Entry::Occupied(OccupiedEntry { found, key }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the one that it, or a key that says the same, had. O(1)
    /// amortised. From now on the entry lives as long as this key. It goes in by reference: the map
    /// takes no strong pointer.
    #[inline]
    pub fn insert(&mut self, key: &K, value: V) -> Option<V> {
        self.store.table.look_ahead();
        let mut held = None;
        let lookup = by_content(&self.store.hasher, K::content(key), &mut held);
        let old = match self.store.find_place(lookup, |_| Some(())) {
            Place::Found(mut found, ()) => Some(found.own(&key, value)),
            Place::Vacant(vacant) => {
                vacant.own(key, value);
                None
            }
        };
        self.store.table.tidy();
        old
    }

    filling!();
    making!();

    /// Removes the live key that says this, and returns its value. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Hash + Equivalent<K::Target>>(&mut self, key: &Q) -> Option<V> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes the live key that says this, and returns it, as a strong pointer, with its value. O(1).
    pub fn remove_entry<Q: ?Sized + Hash + Equivalent<K::Target>>(
        &mut self,
        key: &Q,
    ) -> Option<(K, V)> {
        self.store.table.tidy();
        let mut held = None;
        let lookup = by_content(&self.store.hasher, key, &mut held);
        let value = self.store.remove(lookup)?;
        Some((held?, value))
    }
}

impl<K: StrongRef, V, S: Default> Default for WeakHashMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

/// The same live keys with clones of the values; each map forgets by itself.
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

/// Live keys that say the same, with equal values.
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

/// # Panics
/// If no live key says this.
impl<K: Content, V, S: BuildHasher, Q> Index<&Q> for WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
    Q: ?Sized + Hash + Equivalent<K::Target>,
{
    type Output = V;

    #[track_caller]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no value for this key")
    }
}

// The handles are dropped as they go in: those that nobody else holds leave nothing.
collecting!([K: Content, V, S] WeakHashMap<K, V, S>, from [K: Content, V] WeakHashMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(&key, value));
collecting!(['a, K: Content, V, S] WeakHashMap<K, V, S>, from ['a, K: Content, V] WeakHashMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (&'a K, V): |map, (key, value)| map.insert(key, value));

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
