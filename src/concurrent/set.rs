//! The shared weak set, by identity.

use core::fmt;
use core::task::Waker;

use super::iter::Keys;
use super::map::WeakMap;
use super::watch::{SharedKey, SharedRef};
use crate::ptr::{Anchor, Atomic};
use crate::reference::Identify;
use crate::table::Reclaim;

/// A set of objects, by identity, shared between threads behind `&self`. It keeps none of them alive.
///
/// See [the module](crate::concurrent) and [`WeakMap`]: this is one without values.
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
    map: WeakMap<K, ()>,
}

impl<K: SharedKey> WeakSet<K> {
    /// An empty set, also for a `static`. Allocates nothing before the first insertion.
    #[must_use]
    pub const fn new() -> Self {
        let map = WeakMap::new();
        WeakSet { map }
    }

    /// An empty set with room for `capacity` elements.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        WeakSet {
            map: WeakMap::with_capacity(capacity),
        }
    }

    /// Whether the object is in the set. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.map.contains_key(key)
    }

    /// Inserts an object; returns true if it was not in the set. O(1) amortised. Of several threads that insert
    /// the same object, one gets true.
    #[inline]
    pub fn insert(&self, key: &K) -> bool {
        !self.contains(key) && self.map.insert(key, ())
    }

    /// Removes an object; returns whether it was in the set. O(1).
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.map.remove_if(key, |()| true)
    }

    /// The number of objects. See [`WeakMap::len`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The number of live objects, found by checking each. O(capacity).
    #[must_use]
    pub fn len_live(&self) -> usize {
        self.map.len_live()
    }

    /// The number of objects that are gone and whose entries are not yet destroyed. O(1). See
    /// [`WeakMap::pending_dead`].
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.map.pending_dead()
    }

    /// When it destroys what dead entries own. See [`set_reclaim`](Self::set_reclaim).
    #[must_use]
    pub fn reclaim(&self) -> Reclaim {
        self.map.reclaim()
    }

    /// Chooses when it destroys what dead entries own: in a set, nothing. See
    /// [`WeakMap::set_reclaim`](crate::concurrent::WeakMap::set_reclaim).
    pub fn set_reclaim(&self, reclaim: Reclaim) {
        self.map.set_reclaim(reclaim);
    }

    /// Reclaims all dead entries. See [`WeakMap::purge`].
    pub fn purge(&self) {
        self.map.purge();
    }

    /// Sets what is called when an object has died and there is something to [purge](Self::purge), or removes it. See
    /// [`WeakMap::set_waker`].
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.map.set_waker(waker);
    }

    /// Gives back memory that is not needed. See
    /// [`WeakMap::shrink_to_fit`](crate::concurrent::WeakMap::shrink_to_fit).
    pub fn shrink_to_fit(&self) {
        self.map.shrink_to_fit();
    }

    /// Removes all objects. See [`WeakMap::clear`].
    pub fn clear(&self) {
        self.map.clear();
    }
}

/// Methods that show or return objects.
impl<K: SharedRef> WeakSet<K> {
    /// Keeps the objects for which the closure returns true. See [`WeakMap::retain`].
    pub fn retain(&self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }

    /// The live objects of the set, as a snapshot. See [`WeakMap::keys`].
    pub fn iter(&self) -> Keys<'_, K> {
        self.map.keys()
    }
}

impl<K: SharedKey> Default for WeakSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: SharedRef + fmt::Debug> fmt::Debug for WeakSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Shows how many there are: an anchor says nothing.
impl fmt::Debug for WeakSet<Anchor<Atomic>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSet")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'m, K: SharedRef> IntoIterator for &'m WeakSet<K> {
    type Item = K;
    type IntoIter = Keys<'m, K>;

    fn into_iter(self) -> Keys<'m, K> {
        self.iter()
    }
}

impl<'k, K: SharedKey> Extend<&'k K> for WeakSet<K> {
    fn extend<Keys: IntoIterator<Item = &'k K>>(&mut self, keys: Keys) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<'k, K: SharedKey> FromIterator<&'k K> for WeakSet<K> {
    fn from_iter<Keys: IntoIterator<Item = &'k K>>(keys: Keys) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}
