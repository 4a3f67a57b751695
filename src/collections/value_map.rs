//! The map with weak values.

use core::hash::{BuildHasher, Hash};

use super::common::{
    entries, housekeeping, keys_of, lookups, resizing, values, weak_entries, weak_values,
};
use super::lookup::By;
use super::store::Store;
use super::traits::{by_hash, cloning, collecting, comparing, iterating};
use super::weak_values::weak_making;
use crate::hash::DefaultHashBuilder;
use crate::reference::Upgrade as _;
use crate::reference::{Owned, Query, StrongRef};
use crate::table::Entry as Sides;
use crate::table::Place;

/// The entries and iterators of [`WeakValueMap`].
pub mod names {
    use crate::collections::names::weak_names;
    use crate::reference::{Owned, WeakKey};

    /// See [`WeakValueMap::drain_dead`](crate::WeakValueMap::drain_dead).
    pub type DrainDead<'a, K, V> =
        crate::collections::iter::DrainDead<'a, Owned<K>, <V as WeakKey>::Watch>;
    weak_names!([] K, Owned<K>);
}
use names::*;

/// A hash map with owned keys and weak values: the live object for a name, if there is one. Use it
/// for assets, connections, open documents, interned objects.
///
/// An entry lives as long as its value; the map keeps no value alive. So the caller that inserts a
/// value must keep the value alive, or pass it to an owner. [`insert`](Self::insert) takes the
/// value by reference; [`get`](Self::get) and [`get_or_insert_with`](Self::get_or_insert_with)
/// return a strong handle. If a value was replaced, its death changes nothing.
///
/// Values are [`Strong`](crate::Strong), [`local::Strong`](crate::local::Strong),
/// [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or your own handles ([`StrongRef`]). Keys are
/// hashed as in std's map, and found by [`Equivalent`](crate::Equivalent) queries (`&str` for
/// `String`). If the `Hash` or `Eq` of a key changes while the key is in the map, or if both
/// contradict each other, lookups may miss; nothing worse happens.
///
/// # When a dead value's key is destroyed
///
/// From the death of the value on, no lookup finds the entry, and the place of the key is vacant;
/// with `Strong` and `local::Strong`, `len` does not count the entry either. The map owns the
/// **key**, and the next operations of the map destroy the key, like the values of a
/// [`WeakMap`](crate::WeakMap#when-a-dead-keys-value-is-destroyed): up to 16 keys in an operation,
/// and all keys in [`purge`](Self::purge), at growth, and when the map is dropped.
/// With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest), keys are destroyed only on request.
/// Methods that take `&self` destroy no key. But they may create a strong handle, and drop it if
/// the key did not match: if all other handles are dropped meanwhile, the value dies there.
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
    pub(super) store: Store<Owned<K>, V::Watch, S>,
}

by_hash!([K, V: StrongRef] WeakValueMap<K, V>);

impl<K, V: StrongRef, S> WeakValueMap<K, V, S> {
    housekeeping!();

    /// Removes dead values, and returns their keys instead of destroying the keys: the keys of all
    /// values that are dead now, and of all values that die while the iterator runs. If the
    /// iterator is dropped early, the remaining keys stay in the map. Costs as much as
    /// [`purge`](Self::purge). By default, other operations destroy keys, too: to get all keys, set
    /// [`Reclaim::OnRequest`](crate::Reclaim::OnRequest).
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

    values!();
    weak_values!();
    entries!();
    keys_of! {
        /// ```
        /// use weakly::{Strong, WeakValueMap};
        ///
        /// let (wood, stone) = (Strong::new("wood"), Strong::new("stone"));
        /// let mut textures = WeakValueMap::from([("floor", &wood), ("wall", &stone), ("door", &wood)]);
        /// let mut wooden: Vec<_> = textures.keys_of(&wood).collect();
        /// wooden.sort();
        /// assert_eq!(wooden, [&"door", &"floor"]);
        /// assert_eq!(textures.remove_value(&wood), 2);
        /// assert!(textures.keys().eq(&["wall"]));
        /// ```
    }
    weak_entries!();
}

impl<K: Eq + Hash, V: StrongRef, S: BuildHasher> WeakValueMap<K, V, S> {
    resizing!();

    lookups! {
        [Q: ?Sized + Query<K, M>, M], |key| By(Q::content(key)), V,
        /// ```
        /// use weakly::{Strong, WeakValueMap};
        ///
        /// let (wood, stone) = (Strong::new("wood"), Strong::new("stone"));
        /// let mut textures = WeakValueMap::from([("floor", &wood), ("wall", &stone)]);
        /// let found = textures.get_disjoint_mut(["wall", "roof", "floor"]);
        /// assert_eq!(found, [Some(stone), None, Some(wood)]);
        /// ```
    }

    /// Returns the live value of a key, as a strong handle. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<V> {
        self.store.get(By(Q::content(key)))
    }

    /// Returns the stored key, and its live value as a strong handle. O(1).
    pub fn get_key_value<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<(&K, V)> {
        self.store.get_key_value(By(Q::content(key)))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. A key whose value
    /// is dead has a vacant entry. O(1) amortised.
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
        let live = |entry: &Sides<_, V::Watch>| entry.value.upgrade();
        match self.store.place(By(&key), live) {
            Place::Found(found, value) => Entry::Occupied(OccupiedEntry::new(found, key, value)),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old value if it is live. O(1) amortised. The map
    /// takes no strong handle: keep the value alive, or the entry dies at once.
    ///
    /// If a handle is passed by value, rustc proposes `&`. Do not follow for a new object: in
    /// `insert(key, &Strong::new(1))` the only handle is dropped at the end of the statement, and
    /// the entry dies with the object. [`get_or_insert`](Self::get_or_insert) takes the handle, and
    /// returns it.
    ///
    /// ```
    /// use weakly::{Strong, WeakValueMap};
    ///
    /// let mut numbers = WeakValueMap::new();
    /// numbers.insert("one", &Strong::new(1));
    /// assert!(numbers.is_empty()); // nobody owns the 1
    /// let two = numbers.get_or_insert("two", Strong::new(2));
    /// assert_eq!(numbers.get("two"), Some(two));
    /// ```
    #[inline]
    pub fn insert(&mut self, key: K, value: &V) -> Option<V> {
        self.store.table.prefetch_notified();
        let live = |entry: &Sides<_, V::Watch>| entry.value.upgrade();
        let old = self
            .store
            .find_place(By(&key), &mut (), live)
            .set_weak(key, value);
        self.store.table.tidy();
        old
    }

    weak_making!([] K, [Q: ?Sized + Query<K, M>, M]);

    /// Removes a key, and returns the key with its value, if the value is live. O(1).
    pub fn remove_entry<Q: ?Sized + Query<K, M>, M>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.remove_entry(By(Q::content(key)))
    }
}

cloning!([K: Clone + Hash, V: StrongRef, S: Clone + BuildHasher] WeakValueMap<K, V, S>);
comparing!([K: Eq + Hash, V: StrongRef, S: BuildHasher] WeakValueMap<K, V, S>, |key| key);
iterating!([K, V: StrongRef, S] WeakValueMap<K, V, S>, (K, V), (&'a K, V));

collecting!(
    /// The handles of an item are dropped as soon as its entry is made. If an object has no other
    /// owner, the object dies then, and its entry dies too.
    [K, V: StrongRef, S] WeakValueMap<K, V, S>, from [K, V: StrongRef] WeakValueMap<K, V>,
    where [K: Eq + Hash,], [S: BuildHasher,],
    (K, V): |map, (key, value)| map.insert(key, &value));
collecting!(['a, K, V: StrongRef, S] WeakValueMap<K, V, S>, from ['a, K, V: StrongRef] WeakValueMap<K, V>,
    where [K: Eq + Hash,], [S: BuildHasher,],
    (K, &'a V): |map, (key, value)| map.insert(key, value));
