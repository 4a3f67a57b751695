//! The set of contents that live, that threads share.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::content::ContentKey;
use super::housekeeping::shared_housekeeping;
use super::iter::Keys;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, WatchesOne};
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::Content;

/// A hash set of weak pointers, told apart by their content's `Eq + Hash`, that threads share behind `&self`.
/// See [the module](crate::concurrent) and [`WeakHashMap`](super::WeakHashMap), which it is, with nothing to say,
/// but for one thing: [`insert`](Self::insert) leaves a live element that says the same where it is. For "the
/// one handle for this content", take an [`Interner`](super::Interner).
///
/// ```
/// use weakly::{Strong, concurrent::WeakHashSet};
///
/// let (one, other) = (Strong::<str>::from("same"), Strong::<str>::from("same"));
/// let words = WeakHashSet::new();
/// assert!(words.insert(&one));
/// assert!(!words.insert(&other));
/// assert!(words.contains("same"));
/// drop(one); // `other` was not taken in
/// assert!(words.is_empty());
/// ```
pub struct WeakHashSet<K: SharedRef, S = DefaultHashBuilder> {
    table: Table<ContentKey<K>, SharedWatchFor<K>, ()>,
    hasher: S,
}

impl<K: Content<Target: Eq + Hash> + SharedRef> WeakHashSet<K> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set with room for `capacity` elements.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> WeakHashSet<K, S> {
    /// An empty set with a hasher of yours.
    #[must_use]
    pub fn with_hasher(hasher: S) -> Self {
        Self::with_capacity_and_hasher(0, hasher)
    }

    /// An empty set with a hasher of yours and room for `capacity` elements.
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let table = Table::with_capacity(capacity);
        WeakHashSet { table, hasher }
    }

    /// The hasher.
    #[must_use]
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    shared_housekeeping!();

    /// Whether a live element says this. O(1), lock-free.
    #[inline]
    pub fn contains<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, content: &Q) -> bool {
        self.get(content).is_some()
    }

    /// The live element that says this. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, content: &Q) -> Option<K> {
        self.find(HashValue::of(&self.hasher, content), content)
    }

    #[inline]
    fn find<Q: ?Sized + Equivalent<K::Target>>(&self, hash: HashValue, content: &Q) -> Option<K> {
        self.table
            .look_up(hash, content, |()| ())
            .map(|(key, ())| key)
    }

    /// Adds an element, if no live one says the same; says whether it did. O(1) amortised. An element that is
    /// there stays, and if it dies, the content goes with it: [`replace`](Self::replace) if the life of this one
    /// is to count. Of several threads that add the same content, one is told yes, as long as its element
    /// lives.
    #[inline]
    pub fn insert(&self, key: &K) -> bool {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.find(hash, K::content(key)).is_none() && self.table.add(hash, key, ()).is_none()
    }

    /// Adds an element in the place of the live one that says the same, which is given out. O(1) amortised.
    pub fn replace(&self, key: &K) -> Option<K> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.table.set(hash, key, (), |watch, ()| watch.upgrade())?
    }

    /// Removes the live element that says this; says whether there was one. O(1).
    pub fn remove<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, content: &Q) -> bool {
        self.take(content).is_some()
    }

    /// Removes the live element that says this, and gives it out. O(1).
    pub fn take<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, content: &Q) -> Option<K> {
        let hash = HashValue::of(&self.hasher, content);
        self.table
            .take(hash, content, |()| true, |()| ())
            .map(|(key, ())| key)
    }

    /// Keeps the elements that the closure says yes to. O(capacity). See
    /// [`WeakHashMap::retain`](super::WeakHashMap::retain).
    pub fn retain(&self, mut keep: impl FnMut(&K) -> bool) {
        self.table
            .retain(|_, watch, ()| watch.upgrade().is_none_or(|key| keep(&key)));
    }

    /// The live elements that are there now, in no order, as a snapshot that holds none of them. O(capacity).
    pub fn iter(&self) -> Keys<K> {
        Keys(self.table.weak_keys())
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher + Default> Default
    for WeakHashSet<K, S>
{
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: SharedRef + fmt::Debug, S> fmt::Debug for WeakHashSet<K, S>
where
    K: Content<Target: Eq + Hash>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = Keys::<K>(self.table.weak_keys());
        f.debug_set().entries(elements).finish()
    }
}

impl<K, S: BuildHasher> IntoIterator for &WeakHashSet<K, S>
where
    K: Content<Target: Eq + Hash> + SharedRef,
{
    type Item = K;
    type IntoIter = Keys<K>;

    fn into_iter(self) -> Keys<K> {
        self.iter()
    }
}

impl<'k, K, S: BuildHasher> Extend<&'k K> for WeakHashSet<K, S>
where
    K: Content<Target: Eq + Hash> + SharedRef,
{
    fn extend<Keys: IntoIterator<Item = &'k K>>(&mut self, keys: Keys) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<'k, K, S: BuildHasher + Default> FromIterator<&'k K> for WeakHashSet<K, S>
where
    K: Content<Target: Eq + Hash> + SharedRef,
{
    fn from_iter<Keys: IntoIterator<Item = &'k K>>(keys: Keys) -> Self {
        let mut set = Self::default();
        set.extend(keys);
        set
    }
}
