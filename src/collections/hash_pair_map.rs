//! The map with weak keys, keyed by content, and weak values.

use core::hash::{BuildHasher, Hash};

use super::common::{
    entries, housekeeping, keys_of, lookups, resizing, values, weak_entries, weak_values,
};
use super::lookup::OfContent;
use super::store::Store;
use super::traits::{by_hash, cloning, collecting, comparing, iterating};
use super::weak_values::weak_making;
use crate::hash::DefaultHashBuilder;
use crate::reference::Upgrade as _;
use crate::reference::{ByContent, Content, Query, StrongRef};
use crate::table::Entry as Sides;
use crate::table::Place;

/// The entries and iterators of [`WeakHashPairMap`].
pub mod names {
    use crate::collections::names::weak_names;

    weak_names!(['k] &'k K, crate::reference::ByContent<K>);
}
use names::*;

/// A hash map with weak keys, keyed by the `Eq + Hash` of their content, and weak values: the
/// object that belongs to a content, while both a key with this content and the object are in use.
///
/// An entry lives while both its value and the key object with which it was inserted are live. The
/// first death ends the entry; a half-dead entry is never shown. Any object with equal content
/// finds an entry, and so does any [`Equivalent`](crate::Equivalent) borrowed content. Methods that
/// set a value also replace the key object by the passed key object; [`entry`](Self::entry) and
/// [`get_or_insert_with`](Self::get_or_insert_with) leave the key object of a live value. The
/// documentation of [`WeakHashMap`](crate::WeakHashMap) about keys and lookups also holds here, and
/// so does the documentation of [`WeakValueMap`](crate::WeakValueMap) about values. The map owns no
/// user data, so reclaiming dead entries runs no user code.
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

by_hash!([K: StrongRef, V: StrongRef] WeakHashPairMap<K, V>);

impl<K: StrongRef, V: StrongRef, S> WeakHashPairMap<K, V, S> {
    housekeeping!();
    resizing!();
    values!();
    weak_values!();
    entries!();
    keys_of! {
        /// ```
        /// use weakly::{Strong, WeakHashPairMap};
        ///
        /// let [title, body] = ["title", "body"].map(Strong::<str>::from);
        /// let bold = Strong::new("bold");
        /// let mut styles = WeakHashPairMap::from([(&title, &bold), (&body, &bold)]);
        /// assert_eq!(styles.keys_of(&bold).count(), 2);
        /// drop(body);
        /// assert!(styles.keys_of(&bold).eq([title]));
        /// ```
    }
    weak_entries!();
}

impl<K: Content, V: StrongRef, S: BuildHasher> WeakHashPairMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    lookups! {
        [Q: ?Sized + Query<K::Target, M>, M], |key| OfContent(Q::content(key)), V,
        /// ```
        /// use weakly::{Strong, WeakHashPairMap};
        ///
        /// let [title, body] = ["title", "body"].map(Strong::<str>::from);
        /// let bold = Strong::new("bold");
        /// let mut styles = WeakHashPairMap::from([(&title, &bold), (&body, &bold)]);
        /// drop(title);
        /// assert_eq!(styles.get_disjoint_mut(["title", "body"]), [None, Some(bold)]);
        /// ```
    }

    /// Returns the live value of the live key with this content, as a strong handle. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<V> {
        self.store.get(OfContent(Q::content(key)))
    }

    /// Returns the live key with this content and its live value, as strong handles. O(1).
    #[inline]
    pub fn get_key_value<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, V)> {
        self.store.get_key_value(OfContent(Q::content(key)))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. A key whose value
    /// is dead has a vacant entry. If the map has a live key object of equal content, the old key
    /// object stays until a value is inserted over its value. O(1) amortised.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let lookup = OfContent(K::content(key));
        match self.store.place(lookup, |entry| entry.value.upgrade()) {
            Place::Found(found, value) => Entry::Occupied(OccupiedEntry::new(found, key, value)),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key. Returns the old value of this key, or of a live key with equal
    /// content, if the old value is live. O(1) amortised. From now on, the entry lives no longer
    /// than this key. Key and value are passed by reference: the map takes no strong handle.
    ///
    /// In `insert(&key, &Strong::new(1))` the entry dies at the end of the statement: see
    /// [`WeakValueMap::insert`](crate::WeakValueMap::insert).
    #[inline]
    pub fn insert(&mut self, key: &K, value: &V) -> Option<V> {
        self.store.table.prefetch_notified();
        let mut pinned = None;
        let lookup = OfContent(K::content(key));
        let live = |entry: &Sides<_, V::Watch>| entry.value.upgrade();
        let old = self
            .store
            .find_place(lookup, &mut pinned, live)
            .set_weak(key, value);
        self.store.table.tidy();
        drop(pinned);
        old
    }

    super::common::transferring! {
        [Q: ?Sized + Query<K::Target, M>, M], |to, value| &value; OfContent(K::content(to)),
        ///
        /// If a value takes the place of another value, insert the new value for each of the
        /// [`keys_of`](Self::keys_of) the old.
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
        /// use weakly::{Strong, WeakHashPairMap};
        ///
        /// let ([old, new], bold) = (["old", "new"].map(Strong::<str>::from), Strong::new("bold"));
        /// let mut styles = WeakHashPairMap::from([(&old, &bold)]);
        /// assert!(styles.transfer("old", &new).is_none());
        /// assert_eq!((styles.get("old"), styles.get("new")), (None, Some(bold)));
        /// ```
    }

    weak_making!(['k] &'k K, [Q: ?Sized + Query<K::Target, M>, M]);

    /// Removes the live key with this content, and returns the key with its value, if the value is
    /// live. O(1).
    pub fn remove_entry<Q: ?Sized + Query<K::Target, M>, M>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.remove_entry(OfContent(Q::content(key)))
    }
}

cloning!([K: StrongRef, V: StrongRef, S: Clone] WeakHashPairMap<K, V, S>);
comparing!([K: Content<Target: Eq + Hash>, V: StrongRef, S: BuildHasher] WeakHashPairMap<K, V, S>, |key| &key);
iterating!([K: StrongRef, V: StrongRef, S] WeakHashPairMap<K, V, S>, (K, V), (K, V));

collecting!(
    /// The handles of an item are dropped as soon as its entry is made. If an object has no other
    /// owner, the object dies then, and its entry dies too.
    [K: Content, V: StrongRef, S] WeakHashPairMap<K, V, S>,
    from [K: Content, V: StrongRef] WeakHashPairMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(&key, &value));
collecting!(['a, K: Content, V: StrongRef, S] WeakHashPairMap<K, V, S>,
    from ['a, K: Content, V: StrongRef] WeakHashPairMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (&'a K, &'a V): |map, (key, value)| map.insert(key, value));
