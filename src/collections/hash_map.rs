//! The map with weak keys, keyed by content.

use core::hash::{BuildHasher, Hash};
use core::ops::Index;

use super::common::{
    entries, filling, housekeeping, lookups, making, owned_entries, owned_values, resizing, values,
};
use super::lookup::OfContent;
use super::store::Store;
use super::traits::{by_hash, cloning, collecting, comparing, extending, iterating, iterating_mut};
use crate::hash::DefaultHashBuilder;
use crate::reference::{AsContent, ByContent, Content, Hashed, Owned, Query, StrongRef};
use crate::table::Place;

/// The entries and iterators of [`WeakHashMap`].
pub mod names {
    use crate::collections::names::owned_names;

    owned_names!(crate::reference::ByContent<K>);
}
use names::*;

/// A hash map with weak keys, keyed by the `Eq + Hash` of their content, and owned values: data
/// about a content, for as long as a key object with this content is live.
///
/// An entry lives as long as the key object with which it was inserted. Any object with equal
/// content finds the entry, through a handle of any kind, and so does any
/// [`Equivalent`](crate::Equivalent) borrowed content: `&str` for `Strong<str>` or
/// `Strong<String>`. See [`Query`]. But only the life of the one key object counts.
/// [`insert`](Self::insert) with another object of equal content replaces the key object, so that
/// the value lives as long as the key with which it was last set. [`entry`](Self::entry) keeps the
/// old key.
///
/// The map stores the hash of each key. Only lookups call the content's `Hash` and `Eq`, and only
/// for live keys. During a lookup, a strong handle keeps the key alive. If all other handles are
/// dropped meanwhile, the key dies in the lookup, after the search of the table. Inside the key's
/// own destructor, its content finds nothing. If the `Hash` or `Eq` of a content changes while the
/// content is in the map, or if both contradict each other, lookups may miss; nothing worse
/// happens.
///
/// Two facts about [`WeakMap`](crate::WeakMap#when-a-dead-keys-value-is-destroyed), the map keyed
/// by identity, also hold here: when the value of a dead key is destroyed, and how `Arc` and `Rc`
/// keys differ.
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
///
/// # In a static
///
/// A map can be made at compile time if its hasher can:
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
pub struct WeakHashMap<K: StrongRef, V, S = DefaultHashBuilder> {
    pub(super) store: Store<ByContent<K>, Owned<V>, S>,
}

by_hash!([K: StrongRef, V] WeakHashMap<K, V>);

impl<K: StrongRef, V, S> WeakHashMap<K, V, S> {
    housekeeping!();
    resizing!();

    /// Removes dead keys, and returns their values instead of destroying the values. See
    /// [`WeakMap::drain_dead`](crate::WeakMap::drain_dead).
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        self.store.drain_dead()
    }

    values!();
    owned_values!();
    entries!();
    owned_entries!();
}

impl<K: Content, V, S: BuildHasher> WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    lookups! {
        [Q: ?Sized + Query<K::Target, M>, M], |key| OfContent(Q::content(key)), &mut V,
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
    }

    /// Returns the value of the live key with this content. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<&V> {
        self.store.get(OfContent(Q::content(key)))
    }

    /// Returns the value of the live key with this content, mutably. O(1). Drains no notices, so no
    /// value of a dead key is destroyed.
    #[inline]
    pub fn get_mut<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<&mut V> {
        self.store.get_mut(OfContent(Q::content(key)))
    }

    /// Returns the live key with this content, as a strong handle, and its value. O(1).
    #[inline]
    pub fn get_key_value<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, &V)> {
        self.store.get_key_value(OfContent(Q::content(key)))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. O(1) amortised. If
    /// the map has a key object of equal content, the old key object stays until a value is
    /// inserted over its value.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let hash = self.store.hasher.hash_one(K::content(key));
        self.entry_hashed(hash, key)
    }

    /// Returns the place of a key whose content has this hash, like [`entry`](Self::entry). The
    /// hash must be the hash that the [hasher](Self::hasher) computes for the content. O(1)
    /// amortised. The content is compared, and not hashed: see [`Hashed`].
    #[inline]
    #[doc(alias = "raw_entry_mut")]
    #[doc(alias = "from_key_hashed_nocheck")]
    pub fn entry_hashed<'k>(&mut self, hash: u64, key: &'k K) -> Entry<'_, 'k, K, V> {
        let sought = Hashed(hash, |there: &K::Target| *K::content(key) == *there);
        self.store.table.tidy();
        let (lookup, mut pinned) = (OfContent(&sought), None);
        match self.store.find_place(lookup, &mut pinned, |_| Some(())) {
            Place::Found(found, ()) => Entry::Occupied(OccupiedEntry { found, key }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old value of this key or of a live key with equal
    /// content. O(1) amortised. From now on, the entry lives as long as this key. The key is passed
    /// by reference: the map takes no strong handle.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1), …)` the only handle is
    /// dropped at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&mut self, key: &K, value: V) -> Option<V> {
        self.store.table.prefetch_notified();
        let mut pinned = None;
        let lookup = OfContent(K::content(key));
        let place = self.store.find_place(lookup, &mut pinned, |_| Some(()));
        let old = place.set_owned(key, value);
        self.store.table.tidy();
        drop(pinned);
        old
    }

    super::common::transferring! {
        [Q: ?Sized + Query<K::Target, M>, M], |to, value| value; OfContent(K::content(to)),
        ///
        /// If both have equal content, the value stays, and lives as long as `to`; the method
        /// returns `None`.
        ///
        /// # Panics
        /// If `Hash` or `Eq` panics. All keys are looked up before the first change, so the map is
        /// unchanged. But `to` is looked up once more: if only this lookup panics, the value is
        /// lost.
        ///
        /// ```
        /// use weakly::{Strong, WeakHashMap};
        ///
        /// let [old, new] = ["old", "new"].map(Strong::<str>::from);
        /// let mut uses = WeakHashMap::from([(&old, 3), (&new, 1)]);
        /// assert_eq!(uses.transfer("old", &new), Some(1));
        /// drop(old);
        /// assert_eq!(uses["new"], 3);
        /// ```
    }

    filling!();
    making!();

    /// Removes the live key with this content, and returns the key, as a strong handle, with its
    /// value. O(1).
    pub fn remove_entry<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.remove_entry(OfContent(Q::content(key)))
    }
}

cloning!([K: StrongRef, V: Clone, S: Clone] WeakHashMap<K, V, S>);
comparing!([K: Content<Target: Eq + Hash>, V, S: BuildHasher] WeakHashMap<K, V, S>, |key| &key);
iterating!([K: StrongRef, V, S] WeakHashMap<K, V, S>, (K, V), (K, &'a V));
iterating_mut!([K: StrongRef, V, S] WeakHashMap<K, V, S>);

/// Takes only contents: for a key, write `map[&*key]`.
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

collecting!(
    /// The handles of an item are dropped as soon as its entry is made. If an object has no other
    /// owner, the object dies then, and its entry dies too.
    [K: Content, V, S] WeakHashMap<K, V, S>, from [K: Content, V] WeakHashMap<K, V>,
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
