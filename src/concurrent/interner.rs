//! The shared interner: one live object for each content.

use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;
use equivalent::Equivalent;

use super::common::{counting, elements, iterating, showing, with_hasher};
use super::content::Contents;
use super::iter::Keys;
use super::limits::floor;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::raw::Tally;
use crate::reference::{Content, Hashed, Query, Sought, assert_same_content, hash_of};

/// Interning shared between threads behind `&self`: all handles returned for equal contents, on any
/// thread, point to the same object, as long as any of these handles lives. (But
/// [`clear`](Self::clear) forgets contents in use, and the next request for one of them makes a
/// second object.) The interner keeps no unused content.
///
/// See [the module](crate::concurrent) for the common properties of all shared collections, and
/// [`weakly::Interner`](crate::Interner) for the interner of a single owner. If two threads hardly
/// ever intern at once, and most contents are new, the interner of a single owner is better even
/// behind a `Mutex`: see [one thread, or many](crate::guide::interning#one-thread-or-many).
///
/// A content in the interner is found without a lock, except that its handle is upgraded. `Hash` is
/// called once for each operation, and `Eq` only on live contents, under no lock. If the upgraded
/// handle turns out to be the last handle, its content is destroyed by this operation. If two
/// threads intern the same new content at once, both may make an object, and one object is dropped
/// again: here making an object is cheaper than waiting.
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
    table: Table<Contents<K, ()>>,
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
    counting!();
}

impl<K: Content<Target: Eq + Hash> + SharedRef, S: BuildHasher> Interner<K, S> {
    /// Returns the live object with this content, if there is one. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        let sought = Q::content(query);
        self.find(hash_of(&self.hasher, sought), sought)
    }

    /// Returns the live object with this content; if there is none, converts the value into a new
    /// object. O(1) amortised. See [`weakly::Interner::intern`](crate::Interner::intern).
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn intern<T: Borrow<K::Target> + Into<K>>(&self, value: T) -> K {
        let hash = self.hasher.hash_one(value.borrow());
        let is = |value: &T, there: &K::Target| value.borrow() == there;
        self.intern_or_make(hash, value, is, T::into)
    }

    /// Returns the live object with this content; if there is none, copies the content into a new
    /// object. O(1) amortised.
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

    /// Returns the live object with this content; if there is none, calls `make` with the query,
    /// and converts the result into a new object. O(1) amortised. `make` is called under no lock,
    /// so it may use the interner.
    ///
    /// # Panics
    /// If `make` panics: then nothing is added. If `make` returns another content than the content
    /// of the query.
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

    /// Returns the live handle for a content that is made from `input`; if there is none, calls
    /// `make` with the input, and converts the result into a new handle. O(1) amortised. `make` may
    /// take the input apart. `make` is called under no lock, so it may use the interner. See
    /// [`weakly::Interner::intern_or_make`](crate::Interner::intern_or_make).
    ///
    /// # Panics
    /// If a closure panics: then nothing is added.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
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
        drop(is);
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

    /// Inserts a key that a lookup has not found, and returns the key; or drops the key, and
    /// returns the present key with the same content.
    #[inline]
    fn add(&self, hash: HashValue, key: K) -> K {
        if self.table.bound().is_some() {
            self.table.nodes.tally(Tally::Miss);
        }
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
