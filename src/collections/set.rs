//! The weak set, keyed by identity.

use core::fmt;

use super::algebra::{algebra, operators, set_comparing, set_methods, set_traits};
use super::common::{housekeeping, keys_weak, resizing};
use super::lookup::By;
use super::store::Store;
use super::traits::{by_identity, cloning, collecting};
use crate::ptr::{Anchor, Flavour};
use crate::reference::{Identify, Owned, StrongRef, WeakKey};
use crate::table::Place;

/// The iterators of [`WeakSet`].
pub mod names {
    use crate::reference::Owned;
    use crate::reference::WeakKey;

    crate::collections::algebra::set_names!(<K as WeakKey>::Watch);
}
use names::*;

/// A hash set of weak handles, keyed by identity: the objects that have been visited, are dirty, or
/// are subscribed.
///
/// A `WeakSet` is a [`WeakMap`](crate::WeakMap) without values; the documentation of `WeakMap` also
/// holds here. Elements disappear when they die. Iteration is in arbitrary order: for the order of
/// insertion, see [`WeakMap`](crate::WeakMap#order).
///
/// ```
/// use weakly::{Strong, WeakSet};
///
/// let (a, b) = (Strong::new("same"), Strong::new("same"));
/// let mut dirty = WeakSet::new();
/// assert!(dirty.insert(&a));
/// assert!(!dirty.insert(&a));
/// assert!(!dirty.contains(&b));
/// drop(a);
/// assert!(dirty.is_empty());
/// ```
pub struct WeakSet<K: WeakKey> {
    store: Store<K::Watch, Owned<()>>,
}

by_identity!([K: WeakKey] WeakSet<K>);

impl<K: WeakKey> WeakSet<K> {
    housekeeping!();
    resizing!();
    keys_weak!();

    /// Returns whether the set contains the object. O(1). See
    /// [`WeakMap::get`](crate::WeakMap::get).
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.store.contains_key(By(Q::addr(key)))
    }

    /// Adds an object. Returns whether the object was added. O(1) amortised.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1))` the only handle is dropped
    /// at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&mut self, key: &K) -> bool {
        self.store.table.prefetch_notified();
        let lookup = By(K::addr(key));
        let is_new = match self.store.find_place(lookup, &mut (), |_| Some(())) {
            Place::Found(..) => false,
            Place::Vacant(vacant) => {
                vacant.set_owned(key, ());
                true
            }
        };
        self.store.table.tidy();
        is_new
    }

    /// Removes an object. Returns whether the set contained the object. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> bool {
        self.store.remove(By(Q::addr(key))).is_some()
    }
}

/// Methods that return elements, as strong or weak handles, and methods over all elements.
impl<K: StrongRef> WeakSet<K> {
    algebra!(|other, key| other.contains(key));
    set_methods!();

    /// Returns the element, as a strong handle. O(1). Returns `None` in the destructor of the
    /// element.
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<K> {
        let (key, _) = self.store.get_key_value(By(Q::addr(key)))?;
        Some(key)
    }

    /// Removes an object, and returns the object as a strong handle. O(1).
    pub fn take<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<K> {
        let (key, ()) = self.store.remove_entry(By(Q::addr(key)))?;
        Some(key)
    }
}

set_traits!([K: StrongRef] WeakSet<K>);
operators!([K: StrongRef] WeakSet<K>, []);

/// Shows only the number of elements: an anchor has nothing to show.
impl<F: Flavour> fmt::Debug for WeakSet<Anchor<F>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSet")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

cloning!([K: StrongRef] WeakSet<K>);
set_comparing!([K: StrongRef] WeakSet<K>, |other, key| other.contains(key));
collecting!(
    /// Each handle is dropped as soon as its entry is made. If an object has no other owner, the
    /// object dies then, and its entry dies too.
    [K: StrongRef] WeakSet<K>, from [K: StrongRef] WeakSet<K>, where [], [],
    K: |set, key| set.insert(&key));
collecting!(['a, K: WeakKey] WeakSet<K>, from ['a, K: WeakKey] WeakSet<K>, where [], [],
    &'a K: |set, key| set.insert(key));
