//! Operations with a hash computed beforehand, on the collections that are keyed by content.

use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::hash_map::WeakHashMap;
use super::hash_map::names::Entry;
use super::hash_set::WeakHashSet;
use super::interner::Interner;
use super::store::by_hashed_content;
use crate::hash::HashValue;
use crate::holders::Caller;
use crate::reference::{Content, Matching};

/// # With a hash computed beforehand
///
/// For contents whose hash is at hand, or that can be compared before they are made: what hashbrown's `HashTable`
/// and raw entries are for. `hash` has to be what [`hasher()`](Self::hasher)`.hash_one(content)` returns. `is_match`
/// tells whether a content is the one that is looked for. It is called with contents of live keys, at least with
/// those of that hash, until it returns true; perhaps twice with the same one.
///
/// With another hash, or if the closure does not agree with the content's `Eq`, lookups may miss, and equal contents
/// may have several entries; nothing worse happens. If the closure panics, the map is unchanged, except for the dead
/// it has reclaimed.
///
/// ```
/// use std::hash::BuildHasher;
/// use weakly::{Strong, WeakHashMap};
///
/// let word: Strong<str> = "word".into();
/// let mut uses = WeakHashMap::new();
/// let hash = uses.hasher().hash_one("word");
/// *uses.entry_hashed(hash, &word).or_insert(0) += 1;
/// assert_eq!(uses.get_hashed(hash, |there| there == "word"), Some(&1));
/// assert_eq!(uses["word"], 1);
/// ```
impl<K: Content, V, S: BuildHasher> WeakHashMap<K, V, S>
where
    K::Target: Eq + Hash,
{
    /// Returns the value of the live key with this hash whose content is a match. O(1). See
    /// [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[doc(alias = "raw_entry")]
    #[doc(alias = "find")]
    pub fn get_hashed(&self, hash: u64, is_match: impl FnMut(&K::Target) -> bool) -> Option<&V> {
        Some(self.get_key_value_hashed(hash, is_match)?.1)
    }

    /// Returns the live key with this hash whose content is a match, as a strong pointer, and its value. O(1). See
    /// [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get_key_value_hashed(
        &self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<(K, &V)> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let found = self
            .store
            .table
            .find_by_content(HashValue::fold(hash), &sought);
        drop(sought);
        let (entry, pinned) = found?;
        Some((pinned, &entry.value.0))
    }

    /// Returns the value of the live key with this hash whose content is a match, mutably. O(1). Drains no notices,
    /// so it destroys no other value. See [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[doc(alias = "find_mut")]
    pub fn get_mut_hashed(
        &mut self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<&mut V> {
        let (sought, mut pinned) = (Matching::new(is_match), None);
        let (hash, eq) = by_hashed_content(HashValue::fold(hash), &sought, &mut pinned);
        Some(&mut self.store.table.find_mut(hash, eq)?.value.0)
    }

    /// Returns the place of a key, as [`entry`](Self::entry) does, whose content has this hash. O(1) amortised. The
    /// content is compared, and not hashed. See [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[doc(alias = "raw_entry_mut")]
    #[doc(alias = "from_key_hashed_nocheck")]
    pub fn entry_hashed<'k>(&mut self, hash: u64, key: &'k K) -> Entry<'_, 'k, K, V> {
        let mut pinned = None;
        let lookup = by_hashed_content(HashValue::fold(hash), K::content(key), &mut pinned);
        self.place(lookup, key)
    }

    /// Removes the live key with this hash whose content is a match, and returns it, as a strong pointer, with its
    /// value. O(1). See [above](#with-a-hash-computed-beforehand).
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn remove_entry_hashed(
        &mut self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<(K, V)> {
        let _caller = Caller::enter();
        self.store.table.tidy();
        let (sought, mut pinned) = (Matching::new(is_match), None);
        let lookup = by_hashed_content(HashValue::fold(hash), &sought, &mut pinned);
        let value = self.store.remove(lookup);
        drop(sought);
        Some((pinned?, value?))
    }
}

/// # With a hash computed beforehand
///
/// See [`WeakHashMap`](WeakHashMap#with-a-hash-computed-beforehand) for what holds of `hash` and `is_match`.
///
/// ```
/// use std::hash::BuildHasher;
/// use weakly::{Strong, WeakHashSet};
///
/// let word: Strong<str> = "word".into();
/// let mut words = WeakHashSet::new();
/// let hash = words.hasher().hash_one("word");
/// assert!(words.insert_hashed(hash, &word));
/// assert!(words.get_hashed(hash, |there| there == "word").is_some());
/// assert!(words.take_hashed(hash, |there| there == "word").is_some());
/// assert!(words.is_empty());
/// ```
impl<K: Content, S: BuildHasher> WeakHashSet<K, S>
where
    K::Target: Eq + Hash,
{
    /// Returns the live element with this hash whose content is a match, as a strong pointer. O(1).
    #[inline]
    #[doc(alias = "find")]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get_hashed(&self, hash: u64, is_match: impl FnMut(&K::Target) -> bool) -> Option<K> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let found = self
            .store
            .table
            .find_by_content(HashValue::fold(hash), &sought);
        let found = found.map(|(_, pinned)| pinned);
        drop(sought);
        found
    }

    /// Adds an element whose content has this hash, as [`insert`](Self::insert) does. Returns whether it was added.
    /// O(1) amortised. The content is compared, and not hashed.
    #[inline]
    #[doc(alias = "insert_unique")]
    pub fn insert_hashed(&mut self, hash: u64, key: &K) -> bool {
        self.store.table.prefetch_notified();
        let mut pinned = None;
        let lookup = by_hashed_content(HashValue::fold(hash), K::content(key), &mut pinned);
        self.add(lookup, key)
    }

    /// Removes the live element with this hash whose content is a match, and returns it as a strong pointer. O(1).
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn take_hashed(
        &mut self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<K> {
        let _caller = Caller::enter();
        self.store.table.tidy();
        let (sought, mut pinned) = (Matching::new(is_match), None);
        let lookup = by_hashed_content(HashValue::fold(hash), &sought, &mut pinned);
        let removed = self.store.remove(lookup);
        drop(sought);
        removed.and(pinned)
    }
}

/// # With a hash computed beforehand
///
/// See [`WeakHashMap`](crate::WeakHashMap#with-a-hash-computed-beforehand) for what holds of `hash` and `is_match`.
///
/// A term whose children are interned can be looked up by its parts, before it is made:
///
/// ```
/// use std::hash::{BuildHasher, Hash, Hasher};
/// use weakly::{Interner, Strong};
///
/// #[derive(PartialEq, Eq)]
/// struct Call { name: String, arguments: Vec<u32> }
/// fn hash_of<H: Hasher>(name: &str, arguments: &[u32], state: &mut H) {
///     (name, arguments).hash(state);
/// }
/// impl Hash for Call {
///     fn hash<H: Hasher>(&self, state: &mut H) {
///         hash_of(&self.name, &self.arguments, state);
///     }
/// }
///
/// let mut calls = Interner::<Strong<Call>>::new();
/// let mut call = |name: &str, arguments: &[u32]| {
///     let mut hasher = calls.hasher().build_hasher();
///     hash_of(name, arguments, &mut hasher);
///     calls.intern_hashed(
///         hasher.finish(),
///         |call| call.name == name && call.arguments == arguments,
///         || Call { name: name.into(), arguments: arguments.into() },
///     )
/// };
/// let one = call("max", &[1, 2]);
/// let other = call("max", &[1, 2]); // allocates nothing
/// assert!(Strong::ptr_eq(&one, &other));
/// ```
impl<K: Content, S: BuildHasher> Interner<K, S>
where
    K::Target: Eq + Hash,
{
    /// Returns the live handle with this hash whose content is a match, if there is one. O(1).
    #[inline]
    #[doc(alias = "find")]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get_hashed(&self, hash: u64, is_match: impl FnMut(&K::Target) -> bool) -> Option<K> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let found = self.find(HashValue::fold(hash), &sought);
        drop(sought);
        found
    }

    /// Returns the handle with this hash whose content is a match: the live one, or else a new one, converted from
    /// what `make` returns. O(1) amortised. `make` is called only if there is no live handle.
    ///
    /// # Panics
    /// If a closure panics: then nothing is added. If what `make` returns is no match.
    #[inline]
    #[track_caller]
    pub fn intern_hashed<T: Into<K>>(
        &mut self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
        make: impl FnOnce() -> T,
    ) -> K {
        let _caller = Caller::enter();
        let (hash, sought) = (HashValue::fold(hash), Matching::new(is_match));
        if let Some(there) = self.find(hash, &sought) {
            self.store.table.reclaim_some_notified();
            drop((sought, make));
            return there;
        }
        let agrees = move |key: &K, _: &S| sought.equivalent(K::content(key));
        self.add(hash, || make().into(), agrees)
    }
}
