//! The shared interner: one live object for each content.

use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;
use equivalent::Equivalent;

use super::common::{elements, iterating, showing, with_hasher};
use super::content::ByContent;
use super::iter::Keys;
use super::limits::floor;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{Content, Hashed, Query, Sought, assert_same_content, hash_of};

/// Interning shared between threads behind `&self`: handles that are returned for equal contents,
/// on any thread, point to the same object, as long as any of them lives. Contents that are not
/// used any more go.
///
/// See [the module](crate::concurrent) for what all shared collections have in common, and
/// [`weakly::Interner`](crate::Interner) for the interner of a single owner. Where hardly ever two
/// threads intern at once, and most contents are new, that one is better even behind a `Mutex`: see
/// [one thread, or many](crate::guide::interning#one-thread-or-many).
///
/// A content that is there is found without a lock, except that its handle is upgraded. `Hash` is
/// called once for each operation, and `Eq` only on live contents, under no lock. If the upgraded
/// handle turns out to be the last, its content is destroyed there. If two threads intern the same
/// new content at once, both may make an object, and one is dropped again: making is not worth
/// waiting for here.
///
/// ```
/// use weakly::{Strong, concurrent::Interner};
///
/// let words = Interner::<Strong<str>>::new();
/// let one = words.intern_ref("word");
/// let other = std::thread::scope(|scope| scope.spawn(|| words.intern_ref("word")).join().unwrap());
/// assert!(Strong::ptr_eq(&one, &other));
/// drop((one, other));
/// assert!(words.is_empty());
/// ```
pub struct Interner<K: SharedRef, S = DefaultHashBuilder> {
    table: Table<ByContent<K>, SharedWatchFor<K>, ()>,
    hasher: S,
}

with_hasher! {
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use weakly::{Strong, concurrent::Interner};
    ///
    /// type Hasher = BuildHasherDefault<DefaultHasher>;
    /// static NAMES: Interner<Strong<str>, Hasher> = Interner::with_hasher(Hasher::new());
    /// assert!(NAMES.get("name").is_none());
    /// ```
    [K: SharedRef] Interner<K>
}

/// Methods over all contents.
impl<K: SharedRef, S> Interner<K, S> {
    elements!();
    floor!(K);
}

impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> Interner<K, S> {
    /// Returns the live object with this content, if there is one. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        let sought = Q::content(query);
        self.find(hash_of(&self.hasher, sought), sought)
    }

    /// Returns the one object with this content: the live one, or else the one that the value is
    /// converted into. O(1) amortised. See [`weakly::Interner::intern`](crate::Interner::intern).
    ///
    /// # Panics
    /// If the content of the converted value is not the one that it borrowed as, as far as the hash
    /// shows.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern<T: Borrow<K::Target> + Into<K>>(&self, value: T) -> K {
        let hash = self.hasher.hash_one(value.borrow());
        let is = |value: &T, there: &K::Target| value.borrow() == there;
        self.intern_or_make(hash, value, is, T::into)
    }

    /// Returns the one object with this content, which is copied only if there is none. O(1)
    /// amortised.
    ///
    /// # Panics
    /// If the copy has another content.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern_ref<Q>(&self, content: &Q) -> K
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
        K: for<'q> From<&'q Q>,
    {
        self.intern_with(content, |content| K::from(content))
    }

    /// Returns the one object with this content: the live one, or else the one that is converted
    /// from what `make` returns. O(1) amortised. `make` is called with the query, and only if there
    /// is no live object; under no lock, so it may use the interner.
    ///
    /// # Panics
    /// If `make` panics: then nothing is added. If it returns another content than the one it was
    /// called for.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::Interner};
    ///
    /// let paths = Interner::<Strong<[String]>>::new();
    /// let parts = ["usr", "lib"].map(String::from);
    /// let path = paths.intern_with(&parts[..], |parts| parts.to_vec());
    /// let same = paths.intern_with(&path, |_| -> Vec<String> { unreachable!("it is there") });
    /// assert!(Strong::ptr_eq(&path, &same));
    /// ```
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern_with<'q, Q, M, T>(&self, query: &'q Q, make: impl FnOnce(&'q Q) -> T) -> K
    where
        Q: ?Sized + Query<K::Target, M>,
        T: Into<K>,
    {
        let sought = Q::content(query);
        let hash = hash_of(&self.hasher, sought);
        if let Some(there) = self.find(hash, sought) {
            drop(make);
            return there;
        }
        let key = make(query).into();
        assert_same_content(Sought::is(sought, K::content(&key)));
        self.add(hash, key)
    }

    /// Returns the handle for a content that is made from `input`: the live one, or else a new one,
    /// converted from what `make` makes of the input, which it may take apart. O(1) amortised.
    /// `make` is called only if there is no live handle; under no lock, so it may use the interner.
    /// See [`weakly::Interner::intern_or_make`](crate::Interner::intern_or_make).
    ///
    /// # Panics
    /// If a closure panics: then nothing is added. If what `make` returns has another hash.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern_or_make<I, T: Into<K>>(
        &self,
        hash: u64,
        input: I,
        is: impl Fn(&I, &K::Target) -> bool,
        make: impl FnOnce(I) -> T,
    ) -> K {
        let sought = Hashed(hash, |there: &K::Target| is(&input, there));
        let hash = HashValue::fold(hash);
        if let Some(there) = self.find(hash, &sought) {
            drop((input, is, make));
            return there;
        }
        let key = make(input).into();
        // Equal contents have equal hashes.
        assert_same_content(HashValue::of(&self.hasher, K::content(&key)) == hash);
        self.add(hash, key)
    }

    #[inline]
    fn find<Q>(&self, hash: HashValue, sought: &Q) -> Option<K>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        self.table
            .look_up(hash, sought, |()| ())
            .map(|(key, ())| key)
    }

    #[inline]
    fn add(&self, hash: HashValue, key: K) -> K {
        let Some(there) = self.table.add(hash, &key, ()) else {
            return key;
        };
        // T5 of the table.
        drop(key);
        there
    }
}

showing!([K: SharedRef + fmt::Debug, S] Interner<K, S>,
    debug_set: |set, (), watch, ()| watch.upgrade().map(|key| _ = set.entry(&key)));
iterating!([K: SharedRef, S] Interner<K, S>, K, Keys<'m, K>);
