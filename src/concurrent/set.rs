//! The shared weak set, by identity.

use core::fmt;
use core::iter::FusedIterator;

use super::common::{elements, iterating, showing, without_hasher};
use super::identity::{Address, ByAddress, stays};
use super::iter::Keys;
use super::table::Table;
use super::watch::{SharedKey, SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use crate::collections::traits::collecting;
use crate::ptr::{Anchor, Atomic};
use crate::reference::{Identify, WeakKey};

/// A set of objects, by identity, shared between threads behind `&self`. The set keeps no object
/// alive.
///
/// See [the module](crate::concurrent) and [`WeakMap`](super::WeakMap): a `WeakSet` is a `WeakMap`
/// without values.
///
/// ```
/// use weakly::{Strong, concurrent::WeakSet};
///
/// let seen = WeakSet::new();
/// let node = Strong::new("node");
/// assert!(seen.insert(&node));
/// assert!(!seen.insert(&node));
/// drop(node);
/// assert!(seen.is_empty());
/// ```
pub struct WeakSet<K: SharedKey> {
    table: Table<ByAddress<K, ()>>,
}

without_hasher!([K: SharedKey] WeakSet<K>);

impl<K: SharedKey> WeakSet<K> {
    elements!();

    /// Returns whether the object is in the set. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.table
            .look_at::<K, Q, _, _>(key, |_, ()| Some(()), stays, |(), ()| ())
            .is_some()
    }

    /// Inserts an object; returns true if the object was not in the set. O(1) amortised. If several
    /// threads insert the same object, one thread gets true.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1))` the only handle is dropped
    /// at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&self, key: &K) -> bool {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let put = || {
            let watch = SharedWatchFor::<K>::new(key);
            let hold = |_: &_, (): &()| Some(());
            self.table.put(hash, address, watch, (), hold, |(), ()| ())
        };
        !self.contains(key) && put().is_none()
    }

    /// Removes an object; returns whether the object was in the set. O(1).
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.table
            .take::<K, Q, _, _>(key, |_| Some(()), |(), ()| ())
            .is_some()
    }
}

/// Methods that show or return objects.
impl<K: SharedRef> WeakSet<K> {
    /// Returns the object, if it is in the set. O(1), lock-free. Also returns `None` during the
    /// object's destructor.
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<K> {
        self.table
            .look_at::<K, Q, _, _>(key, |watch, ()| watch.upgrade(), stays, |key, ()| key)
    }

    /// Removes an object, and returns it. O(1). Returns `None` during the object's destructor, and
    /// removes the object all the same.
    pub fn take<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<K> {
        let hold = |entry: Option<(&SharedWatchFor<K>, &())>| {
            Some(entry.and_then(|(watch, ())| watch.upgrade()))
        };
        self.table.take::<K, Q, _, _>(key, hold, |key, ()| key)?
    }

    /// Keeps the objects for which the closure returns true. O(capacity). See
    /// [`WeakMap::retain`](super::WeakMap::retain).
    pub fn retain(&self, mut keep: impl FnMut(&K) -> bool) {
        self.table
            .retain(|_, watch, ()| watch.upgrade().is_none_or(|key| keep(&key)));
    }
}

showing!([K: SharedRef + fmt::Debug] WeakSet<K>,
    debug_set: |set, _, watch, ()| watch.upgrade().map(|key| _ = set.entry(&key)));

/// Shows the number of objects: an anchor has nothing to show.
impl fmt::Debug for WeakSet<Anchor<Atomic>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSet")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

iterating!([K: SharedRef] WeakSet<K>, K, Keys<'m, K>);
collecting!(['k, K: SharedKey] WeakSet<K>, from ['k, K: SharedKey] WeakSet<K>, where [], [],
    &'k K: |set, key| set.insert(key));
