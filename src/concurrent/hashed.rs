//! Operations with a hash computed beforehand, on the shared collections that are keyed by content.

use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::hash_map::{WeakHashMap, without_key};
use super::hash_set::WeakHashSet;
use super::interner::Interner;
use super::watch::SharedRef;
use crate::collections::interner::assert_same_content;
use crate::hash::HashValue;
use crate::holders::Caller;
use crate::reference::{Content, Matching};

/// # With a hash computed beforehand
///
/// For contents whose hash is at hand, or that can be compared before they are made: what hashbrown's `HashTable`
/// and raw entries are for. `hash` has to be what [`hasher()`](Self::hasher)`.hash_one(content)` returns. `is_match`
/// tells whether a content is the one that is looked for. It is called with contents of live keys, at least with
/// those of that hash, until it returns true; with the same one again when other threads change entries of that hash.
/// It runs under no lock, so it may use the map.
///
/// With another hash, or if the closure does not agree with the content's `Eq`, lookups may miss, and equal contents
/// may have several entries; nothing worse happens.
///
/// ```
/// use std::hash::BuildHasher;
/// use weakly::{Strong, concurrent::WeakHashMap};
///
/// let word: Strong<str> = "word".into();
/// let uses = WeakHashMap::new();
/// let hash = uses.hasher().hash_one("word");
/// assert!(uses.insert_hashed(hash, &word, 1));
/// assert_eq!(uses.get_hashed(hash, |there| there == "word"), Some(1));
/// assert_eq!(uses.get("word"), Some(1));
/// ```
impl<K: Content<Target: Eq + Hash> + SharedRef, V, S: BuildHasher> WeakHashMap<K, V, S> {
    /// Shows the value of the live key with this hash whose content is a match to a closure, as
    /// [`with`](Self::with) does. O(1), lock-free. See [above](#with-a-hash-computed-beforehand).
    #[inline]
    pub fn with_hashed<R>(
        &self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
        look: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        let sought = Matching::new(is_match);
        let seen = self.table.look_up(HashValue::fold(hash), &sought, look);
        let seen = seen.map(without_key);
        drop(sought);
        seen
    }

    /// Sets the value of a key whose content has this hash, as [`insert`](Self::insert) does; returns true if no live
    /// key of equal content had one. O(1) amortised. The content is compared, and not hashed. See
    /// [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[doc(alias = "insert_hashed_nocheck")]
    pub fn insert_hashed(&self, hash: u64, key: &K, value: V) -> bool {
        self.put(HashValue::fold(hash), key, value, |_| ())
            .is_none()
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V: Clone, S: BuildHasher> WeakHashMap<K, V, S> {
    /// A clone of the value of the live key with this hash whose content is a match. O(1), lock-free. See
    /// [above](#with-a-hash-computed-beforehand).
    #[inline]
    #[doc(alias = "find")]
    #[doc(alias = "raw_entry")]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get_hashed(&self, hash: u64, is_match: impl FnMut(&K::Target) -> bool) -> Option<V> {
        let _caller = Caller::enter();
        self.with_hashed(hash, is_match, V::clone)
    }

    /// The live key with this hash whose content is a match, and a clone of its value. O(1), lock-free. See
    /// [above](#with-a-hash-computed-beforehand).
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn get_key_value_hashed(
        &self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<(K, V)> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let found = self.table.look_up(HashValue::fold(hash), &sought, V::clone);
        drop(sought);
        found
    }

    /// The value of the live key of equal content; if there is none, a value is made for this key, whose content has
    /// this hash. O(1) amortised. The content is compared, and not hashed. Otherwise as
    /// [`get_or_insert_with`](Self::get_or_insert_with). See [above](#with-a-hash-computed-beforehand).
    ///
    /// # Panics
    /// If the closure asks for the value that it makes, or for one whose making waits for it, on any thread.
    #[inline]
    #[track_caller]
    #[doc(alias = "from_key_hashed_nocheck")]
    pub fn get_or_insert_with_hashed(&self, hash: u64, key: &K, make: impl FnOnce() -> V) -> V {
        let _caller = Caller::enter();
        self.value_or_make(HashValue::fold(hash), K::content(key), key, make)
    }

    /// Removes the live key with this hash whose content is a match, and returns it with a clone of its value. O(1).
    /// See [above](#with-a-hash-computed-beforehand).
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn remove_entry_hashed(
        &self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
    ) -> Option<(K, V)> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let removed = self
            .table
            .take(HashValue::fold(hash), &sought, |_| true, V::clone);
        drop(sought);
        removed
    }
}

/// # With a hash computed beforehand
///
/// See [`WeakHashMap`](WeakHashMap#with-a-hash-computed-beforehand) for what holds of `hash` and `is_match`.
///
/// ```
/// use std::hash::BuildHasher;
/// use weakly::{Strong, concurrent::WeakHashSet};
///
/// let word: Strong<str> = "word".into();
/// let words = WeakHashSet::new();
/// let hash = words.hasher().hash_one("word");
/// assert!(words.insert_hashed(hash, &word));
/// assert!(words.get_hashed(hash, |there| there == "word").is_some());
/// assert!(words.take_hashed(hash, |there| there == "word").is_some());
/// assert!(words.is_empty());
/// ```
impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> WeakHashSet<K, S> {
    /// The live element with this hash whose content is a match. O(1), lock-free.
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

    /// Inserts an element whose content has this hash, as [`insert`](Self::insert) does; returns whether it did. O(1)
    /// amortised. The content is compared, and not hashed.
    #[inline]
    #[doc(alias = "insert_unique")]
    pub fn insert_hashed(&self, hash: u64, key: &K) -> bool {
        self.add(HashValue::fold(hash), key)
    }

    /// Removes the live element with this hash whose content is a match, and returns it. O(1).
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn take_hashed(&self, hash: u64, is_match: impl FnMut(&K::Target) -> bool) -> Option<K> {
        let _caller = Caller::enter();
        let sought = Matching::new(is_match);
        let taken = self
            .table
            .take(HashValue::fold(hash), &sought, |()| true, |()| ());
        drop(sought);
        taken.map(|(key, ())| key)
    }
}

/// # With a hash computed beforehand
///
/// See [`WeakHashMap`](WeakHashMap#with-a-hash-computed-beforehand) for what holds of `hash` and `is_match`, and
/// [`weakly::Interner`](crate::Interner#with-a-hash-computed-beforehand) for an example.
impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> Interner<K, S> {
    /// The live object with this hash whose content is a match, if there is one. O(1), lock-free.
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

    /// The one object with this hash whose content is a match: the live one, or else the one that is converted from
    /// what `make` returns. O(1) amortised. `make` is called only if there is no live object; under no lock, so it may
    /// use the interner.
    ///
    /// # Panics
    /// If a closure panics: then nothing is added. If what `make` returns is no match.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    /// use weakly::{Strong, concurrent::Interner};
    ///
    /// let words = Interner::<Strong<str>>::new();
    /// let hash = words.hasher().hash_one("word");
    /// let word = words.intern_hashed(hash, |there| there == "word", || "word");
    /// assert!(words.get("word").is_some_and(|there| Strong::ptr_eq(&there, &word)));
    /// ```
    #[inline]
    #[track_caller]
    pub fn intern_hashed<T: Into<K>>(
        &self,
        hash: u64,
        is_match: impl FnMut(&K::Target) -> bool,
        make: impl FnOnce() -> T,
    ) -> K {
        let _caller = Caller::enter();
        let (hash, sought) = (HashValue::fold(hash), Matching::new(is_match));
        if let Some(there) = self.find(hash, &sought) {
            drop((sought, make));
            return there;
        }
        let key = make().into();
        assert_same_content(sought.equivalent(K::content(&key)));
        drop(sought);
        self.add(hash, key)
    }
}
