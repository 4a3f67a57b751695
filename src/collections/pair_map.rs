//! The map with weak keys and weak values.

use super::common::{
    entries, housekeeping, keys_of, lookups, resizing, values, weak_entries, weak_values,
};
use super::lookup::By;
use super::store::Store;
use super::traits::{by_identity, cloning, collecting, comparing, iterating};
use super::weak_values::weak_making;
use crate::reference::Upgrade as _;
use crate::reference::{Identify, StrongRef, WeakKey};
use crate::table::Entry as Sides;
use crate::table::Place;

/// The entries and iterators of [`WeakPairMap`].
pub mod names {
    use crate::collections::names::weak_names;

    weak_names!(['k] &'k K, <K as crate::reference::WeakKey>::Watch);
}
use names::*;

/// A hash map with weak keys, keyed by identity, and weak values: a relation between objects,
/// neither of which you own.
///
/// An entry lives while both its key and its value are live. The first death ends the entry; a
/// half-dead entry is never shown. Key and value may be handles of different kinds, and the key may
/// be an [`Anchor`](crate::Anchor). The documentation of [`WeakMap`](crate::WeakMap) about keys and
/// lookups also holds here, and so does the documentation of [`WeakValueMap`](crate::WeakValueMap)
/// about values. The map owns no user data, so reclaiming dead entries runs no user code.
///
/// ```
/// use weakly::{Strong, WeakPairMap};
///
/// let (button, menu) = (Strong::new("button"), Strong::new("menu"));
/// let mut opens = WeakPairMap::new();
/// opens.insert(&button, &menu);
/// assert_eq!(opens.get(&button).as_deref(), Some(&"menu"));
/// drop(menu);
/// assert!(opens.get(&button).is_none());
/// assert!(opens.is_empty());
/// ```
pub struct WeakPairMap<K: WeakKey, V: StrongRef> {
    store: Store<K::Watch, V::Watch>,
}

by_identity!([K: WeakKey, V: StrongRef] WeakPairMap<K, V>);

impl<K: WeakKey, V: StrongRef> WeakPairMap<K, V> {
    housekeeping!();
    resizing!();

    lookups! {
        [Q: ?Sized + Identify<K>], |key| By(Q::addr(key)), V,
        /// ```
        /// use weakly::{Strong, WeakPairMap};
        ///
        /// let [open, print, quit] = ["open", "print", "quit"].map(Strong::new);
        /// let (file, help) = (Strong::new("file"), Strong::new("help"));
        /// let mut menus = WeakPairMap::from([(&open, &file), (&print, &help)]);
        /// drop(help);
        /// let found = menus.get_disjoint_mut([&open, &print, &quit]);
        /// assert_eq!(found, [Some(file), None, None]);
        /// ```
    }

    /// Returns the live value of a key, as a strong handle. O(1). Inside the key's own destructor,
    /// a reference to the key still finds the value.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.store.get(By(Q::addr(key)))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. A key whose value
    /// is dead has a vacant entry. O(1) amortised.
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        let live = |entry: &Sides<K::Watch, V::Watch>| entry.value.upgrade();
        match self.store.place(By(K::addr(key)), live) {
            Place::Found(found, value) => Entry::Occupied(OccupiedEntry::new(found, key, value)),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old value if it is live. O(1) amortised. Key and
    /// value are passed by reference: the map takes no strong handle.
    ///
    /// In `insert(&key, &Strong::new(1))` the entry dies at the end of the statement: see
    /// [`WeakValueMap::insert`](crate::WeakValueMap::insert).
    #[inline]
    pub fn insert(&mut self, key: &K, value: &V) -> Option<V> {
        self.store.table.prefetch_notified();
        let live = |entry: &Sides<K::Watch, V::Watch>| entry.value.upgrade();
        let place = self.store.find_place(By(K::addr(key)), &mut (), live);
        let old = place.set_weak(key, value);
        self.store.table.tidy();
        old
    }

    super::common::transferring! {
        [Q: ?Sized + Identify<K>], |to, value| &value,
        ///
        /// If both are the same object, nothing changes, and the method returns `None`.
        ///
        /// If a value takes the place of another value, insert the new value for each of the
        /// [`keys_of`](Self::keys_of) the old.
        ///
        /// ```
        /// use weakly::{Strong, WeakPairMap};
        ///
        /// let ([button, icon], menu) = (["button", "icon"].map(Strong::new), Strong::new("menu"));
        /// let mut opens = WeakPairMap::from([(&button, &menu)]);
        /// assert!(opens.transfer(&button, &icon).is_none());
        /// assert_eq!((opens.get(&button), opens.get(&icon)), (None, Some(menu)));
        /// ```
    }

    weak_making!(['k] &'k K, [Q: ?Sized + Identify<K>]);

    values!();
    weak_values!();
}

/// Methods that return keys, as strong or weak handles, and methods over all entries.
impl<K: StrongRef, V: StrongRef> WeakPairMap<K, V> {
    /// Returns the key and its live value, as strong handles. O(1). Returns `None` in the key's
    /// destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)> {
        self.store.get_key_value(By(Q::addr(key)))
    }

    /// Removes a key, and returns the key with its value, if both are live. O(1).
    pub fn remove_entry<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.remove_entry(By(Q::addr(key)))
    }

    entries!();
    keys_of! {
        /// ```
        /// use weakly::{Strong, WeakPairMap};
        ///
        /// let (open, print) = (Strong::new("open"), Strong::new("print"));
        /// let (file, help) = (Strong::new("file"), Strong::new("help"));
        /// let mut menus = WeakPairMap::from([(&open, &file), (&print, &file)]);
        /// assert_eq!(menus.keys_of(&file).count(), 2);
        /// assert_eq!(menus.keys_of(&help).count(), 0);
        /// drop(print);
        /// assert_eq!(menus.remove_value(&file), 1);
        /// assert!(menus.is_empty());
        /// ```
    }
    weak_entries!();
}

cloning!([K: StrongRef, V: StrongRef] WeakPairMap<K, V>);
comparing!([K: StrongRef, V: StrongRef] WeakPairMap<K, V>, |key| &key);
iterating!([K: StrongRef, V: StrongRef] WeakPairMap<K, V>, (K, V), (K, V));

collecting!(
    /// The handles of an item are dropped as soon as its entry is made. If an object has no other
    /// owner, the object dies then, and its entry dies too.
    [K: StrongRef, V: StrongRef] WeakPairMap<K, V>,
    from [K: StrongRef, V: StrongRef] WeakPairMap<K, V>, where [], [],
    (K, V): |map, (key, value)| map.insert(&key, &value));
collecting!(['a, K: WeakKey, V: StrongRef] WeakPairMap<K, V>,
    from ['a, K: WeakKey, V: StrongRef] WeakPairMap<K, V>, where [], [],
    (&'a K, &'a V): |map, (key, value)| map.insert(key, value));
