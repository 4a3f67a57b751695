//! The weak set, keyed by content.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use super::algebra::{algebra, operators, set_comparing, set_methods, set_traits};
use super::common::{housekeeping, keys_weak, resizing};
use super::lookup::OfContent;
use super::store::Store;
use super::traits::{by_hash, cloning, collecting};
use crate::hash::DefaultHashBuilder;
use crate::reference::{ByContent, Content, Hashed, Owned, Query, StrongRef};
use crate::table::Place;

/// The iterators of [`WeakHashSet`].
pub mod names {
    use crate::reference::ByContent;
    use crate::reference::Owned;

    crate::collections::algebra::set_names!(ByContent<K>);
}
use names::*;

/// A hash set of weak handles, keyed by the `Eq + Hash` of their content.
///
/// A `WeakHashSet` is a [`WeakHashMap`](crate::WeakHashMap) without values; the documentation of
/// `WeakHashMap` also holds here. Elements disappear when they die. For one canonical handle per
/// content, use an [`Interner`](crate::Interner).
///
/// ```
/// use weakly::{Strong, WeakHashSet};
///
/// let (one, other) = (Strong::<str>::from("same"), Strong::<str>::from("same"));
/// let mut words = WeakHashSet::new();
/// assert!(words.insert(&one));
/// assert!(!words.insert(&other));
/// assert!(words.contains("same"));
/// drop(one); // `other` was not added
/// assert!(words.is_empty());
/// ```
pub struct WeakHashSet<K: StrongRef, S = DefaultHashBuilder> {
    pub(super) store: Store<ByContent<K>, Owned<()>, S>,
}

by_hash!([K: StrongRef] WeakHashSet<K>);

impl<K: StrongRef, S> WeakHashSet<K, S> {
    housekeeping!();
    resizing!();
    keys_weak!();
    set_methods!();
}

impl<K: Content, S: BuildHasher> WeakHashSet<K, S>
where
    K::Target: Eq + Hash,
{
    algebra!(|other, key| other.contains(K::content(key)));

    /// Returns whether a live element has this content. O(1).
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> bool {
        self.store.contains_key(OfContent(Q::content(query)))
    }

    /// Returns the live element with this content, as a strong handle. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        let lookup = OfContent(Q::content(query));
        Some(self.store.get_key_value(lookup)?.0)
    }

    /// Adds an element, unless a live element has equal content. Returns whether the element was
    /// added. O(1) amortised. If the set has a live element of equal content, the old element
    /// stays, and the content leaves the set when the old element dies. Use
    /// [`replace`](Self::replace) if the life of the new element is to count.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1))` the only handle is dropped
    /// at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&mut self, key: &K) -> bool {
        let hash = self.store.hasher.hash_one(K::content(key));
        self.insert_hashed(hash, key)
    }

    /// Adds an element whose content has this hash, like [`insert`](Self::insert). The hash must be
    /// the hash that the [hasher](Self::hasher) computes for the content. Returns whether the
    /// element was added. O(1) amortised. The content is compared, and not hashed: see [`Hashed`].
    #[inline]
    #[doc(alias = "insert_unique")]
    pub fn insert_hashed(&mut self, hash: u64, key: &K) -> bool {
        self.store.table.prefetch_notified();
        let sought = Hashed(hash, |there: &K::Target| *K::content(key) == *there);
        let mut pinned = None;
        let lookup = OfContent(&sought);
        let is_new = match self.store.find_place(lookup, &mut pinned, |_| Some(())) {
            Place::Found(..) => false,
            Place::Vacant(vacant) => {
                vacant.set_owned(key, ());
                true
            }
        };
        self.store.table.tidy();
        is_new
    }

    /// Adds an element, and removes and returns the live element with equal content, if there is
    /// one. O(1) amortised.
    pub fn replace(&mut self, key: &K) -> Option<K> {
        self.store.table.tidy();
        let mut pinned = None;
        let lookup = OfContent(K::content(key));
        match self.store.find_place(lookup, &mut pinned, |_| Some(())) {
            Place::Found(mut found, ()) => {
                found.set_owned(&key, ());
                pinned
            }
            // If hashes are equal, an element of another content may be pinned.
            Place::Vacant(vacant) => {
                vacant.set_owned(key, ());
                None
            }
        }
    }

    /// Removes the live element with this content. Returns whether there was one. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Query<K::Target, M>, M>(&mut self, query: &Q) -> bool {
        self.store.remove(OfContent(Q::content(query))).is_some()
    }

    /// Removes the live element with this content, and returns the element as a strong handle.
    /// O(1).
    pub fn take<Q: ?Sized + Query<K::Target, M>, M>(&mut self, query: &Q) -> Option<K> {
        let lookup = OfContent(Q::content(query));
        let (key, ()) = self.store.remove_entry(lookup)?;
        Some(key)
    }
}

set_traits!([K: StrongRef, S] WeakHashSet<K, S>);
operators!([K: Content, S: BuildHasher] WeakHashSet<K, S>, [K::Target: Eq + Hash,]);

cloning!([K: StrongRef, S: Clone] WeakHashSet<K, S>);
set_comparing!([K: Content<Target: Eq + Hash>, S: BuildHasher] WeakHashSet<K, S>,
    |other, key| other.contains(K::content(key)));
collecting!(
    /// Each handle is dropped as soon as its entry is made. If an object has no other owner, the
    /// object dies then, and its entry dies too.
    [K: Content, S] WeakHashSet<K, S>, from [K: Content] WeakHashSet<K>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    K: |set, key| set.insert(&key));
collecting!(['a, K: Content, S] WeakHashSet<K, S>, from ['a, K: Content] WeakHashSet<K>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    &'a K: |set, key| set.insert(key));
