//! The shared weak set, by content.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;

use super::common::{elements, iterating, showing, with_hasher};
use super::content::Contents;
use super::iter::Keys;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use crate::collections::traits::collecting;
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{Content, Query, Sought, hash_of};

/// A hash set of weak handles, by content (`Eq + Hash`), shared between threads behind `&self`.
///
/// See [the module](crate::concurrent) and [`WeakHashMap`](super::WeakHashMap): a `WeakHashSet` is
/// a `WeakHashMap` without values, except that [`insert`](Self::insert) leaves a live element of
/// equal content in place. For "the one handle for this content", use an
/// [`Interner`](super::Interner).
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
    pub(super) table: Table<Contents<K, ()>>,
    hasher: S,
}

with_hasher! {
    /// See [`WeakHashMap::with_hasher`](super::WeakHashMap::with_hasher) for an example.
    [K: SharedRef] WeakHashSet<K>
}

/// Methods over all elements.
impl<K: SharedRef, S> WeakHashSet<K, S> {
    elements!();

    /// Keeps the elements for which the closure returns true. O(capacity). See
    /// [`WeakHashMap::retain`](super::WeakHashMap::retain).
    pub fn retain(&self, mut keep: impl FnMut(&K) -> bool) {
        self.table
            .retain(|_, watch, ()| watch.upgrade().is_none_or(|key| keep(&key)));
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> WeakHashSet<K, S> {
    /// Returns whether a live element has this content. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> bool {
        self.get(query).is_some()
    }

    /// Returns the live element with this content. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        let sought = Q::content(query);
        self.find(hash_of(&self.hasher, sought), sought)
    }

    #[inline]
    fn find<Q: ?Sized + Sought<K::Target>>(&self, hash: HashValue, sought: &Q) -> Option<K> {
        let found = self.table.look_up(hash, sought, |()| ());
        found.map(|(key, ())| key)
    }

    /// Inserts an element, unless a live element has equal content; returns whether the element was
    /// inserted. O(1) amortised. An element that is there already stays, and if it dies, its
    /// content leaves the set, too: use [`replace`](Self::replace) if the life of the new element
    /// is to count. If several threads insert the same content, one thread gets true, as long as
    /// its element lives.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1))` the only handle is dropped
    /// at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&self, key: &K) -> bool {
        self.insert_hashed(self.hasher.hash_one(K::content(key)), key)
    }

    /// Inserts an element whose content has the given hash, as [`insert`](Self::insert) does. The
    /// hash must come from the [hasher](Self::hasher). O(1) amortised. The content is compared, and
    /// not hashed: see [`Hashed`](crate::Hashed).
    #[inline]
    #[doc(alias = "insert_unique")]
    pub fn insert_hashed(&self, hash: u64, key: &K) -> bool {
        let hash = HashValue::fold(hash);
        self.find(hash, K::content(key)).is_none() && self.table.add(hash, key, ()).is_none()
    }

    /// Inserts an element, and returns the replaced live element of equal content. O(1) amortised.
    pub fn replace(&self, key: &K) -> Option<K> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.table
            .set(hash, key, (), |watch, ()| watch.upgrade(), |old, ()| old)
    }

    /// Removes the live element with this content; returns whether there was such an element. O(1).
    pub fn remove<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> bool {
        self.take(query).is_some()
    }

    /// Removes the live element with this content, and returns the element. O(1).
    pub fn take<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        let sought = Q::content(query);
        let hash = hash_of(&self.hasher, sought);
        self.table
            .take(hash, sought, |_| true, |()| ())
            .map(|(key, ())| key)
    }
}

showing!([K: SharedRef + fmt::Debug, S] WeakHashSet<K, S>,
    debug_set: |set, (), watch, ()| watch.upgrade().map(|key| _ = set.entry(&key)));
iterating!([K: SharedRef, S] WeakHashSet<K, S>, K, Keys<'m, K>);
collecting!(['k, K: Content + SharedRef, S] WeakHashSet<K, S>, from ['k, K: Content + SharedRef] WeakHashSet<K>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    &'k K: |set, key| set.insert(key));
