//! One live handle for each content.

use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::common::{housekeeping, keys_weak, resizing};
use super::lookup::{Lookup, OfContent};
use super::store::Store;
use super::traits::by_hash;
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{
    ByContent, Content, Hashed, Owned, Query, Sought, StrongRef, assert_same_content, hash_of,
};
use crate::table::Place;

/// The iterators of [`Interner`].
pub mod names {
    use crate::collections::iter;
    use crate::reference::{ByContent, Owned};

    /// See [`Interner::iter`](crate::Interner::iter).
    pub type Iter<'a, K> = iter::Keys<'a, ByContent<K>, Owned<()>>;
    /// See [`Interner::iter_weak`](crate::Interner::iter_weak).
    pub type IterWeak<'a, K> = iter::KeysWeak<'a, ByContent<K>, Owned<()>>;
}
use names::*;

/// Interns contents: equal contents get the same handle. All handles returned for equal contents
/// point to one object for as long as any of these handles is live, so comparing addresses compares
/// contents. (But [`clear`](Self::clear) forgets contents in use, and the next request for one of
/// them makes a second object.) The interner keeps no object alive: an object dies at once when its
/// last handle is dropped.
///
/// An `Interner` works with every kind of handle: `Interner<Strong<str>>`, `Interner<Rc<Term>>`.
/// The documentation of [`WeakHashMap`](crate::WeakHashMap) about content, `Hash` and `Eq` also
/// holds here. (Threads share an `Interner` behind a `Mutex`, or a
/// [`concurrent::Interner`](crate::concurrent::Interner): see [one thread, or
/// many](crate::guide::interning#one-thread-or-many).)
///
/// ```
/// use weakly::{Interner, Strong};
///
/// let mut words = Interner::<Strong<str>>::new();
/// let one = words.intern_ref("word"); // allocates
/// let other = words.intern_ref("word"); // finds it
/// assert!(Strong::ptr_eq(&one, &other));
/// drop((one, other));
/// assert!(words.is_empty());
/// ```
///
/// # Deep terms
///
/// A term whose children are interned is interned in O(its own size), if its `Hash` and `Eq`
/// compare the children by identity: wrap the children in [`ByIdentity`](crate::ByIdentity). But
/// the drop glue of the term recurses through the children. To avoid the recursion, call
/// [`dismantle`](crate::dismantle) in the term's `Drop`. The example `hash_cons` builds and drops a
/// term of depth one million.
pub struct Interner<K: StrongRef, S = DefaultHashBuilder> {
    pub(super) store: Store<ByContent<K>, Owned<()>, S>,
}

by_hash!([K: StrongRef] Interner<K>);

impl<K: StrongRef, S> Interner<K, S> {
    housekeeping!();
    resizing!();
    keys_weak!();

    /// Iterates over all live handles, in arbitrary order. O(capacity).
    pub fn iter(&self) -> Iter<'_, K> {
        self.store.keys()
    }
}

impl<K: Content, S: BuildHasher> Interner<K, S>
where
    K::Target: Eq + Hash,
{
    /// Returns the live handle for this content, if there is one. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, query: &Q) -> Option<K> {
        Some(self.store.get_key_value(OfContent(Q::content(query)))?.0)
    }

    /// Returns the handle for this content. If there is no live handle, converts the value into a
    /// new handle. O(1) amortised. Hashes the content once.
    ///
    /// The value can be of any type that borrows as the content and converts into a handle: the
    /// content itself, a handle (which is used if there is no live handle), a `String` for
    /// `Strong<str>`. The value must convert into a handle to the content as which the value
    /// borrows. If the handle has another content, lookups of both contents may miss the handle, as
    /// after a wrong hash ([`Hashed`]).
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn intern<T: Borrow<K::Target> + Into<K>>(&mut self, value: T) -> K {
        let hash = self.store.hasher.hash_one(value.borrow());
        let is = |value: &T, there: &K::Target| value.borrow() == there;
        self.intern_or_make(hash, value, is, T::into)
    }

    /// Returns the handle for this content. The content is copied only if there is no live handle.
    /// O(1) amortised.
    ///
    /// # Panics
    /// If the content converts into a handle with another content.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern_ref<Q>(&mut self, content: &Q) -> K
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
        K: for<'q> From<&'q Q>,
    {
        self.intern_with(content, |content| K::from(content))
    }

    /// Returns the handle for this content. If there is no live handle, calls `make` with the
    /// query, and converts the result into a new handle. O(1) amortised.
    ///
    /// # Panics
    /// If `make` panics: then nothing is added. If `make` returns another content than the content
    /// of the query.
    ///
    /// ```
    /// use weakly::{Interner, Strong};
    ///
    /// let mut paths = Interner::<Strong<[String]>>::new();
    /// let parts = ["usr", "lib"].map(String::from);
    /// let path = paths.intern_with(&parts[..], |parts| parts.to_vec());
    /// let same = paths.intern_with(&path, |_| -> Vec<String> { unreachable!("it is there") });
    /// assert!(Strong::ptr_eq(&path, &same));
    /// ```
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn intern_with<'q, Q, M, T>(&mut self, query: &'q Q, make: impl FnOnce(&'q Q) -> T) -> K
    where
        Q: ?Sized + Query<K::Target, M>,
        T: Into<K>,
    {
        let sought = Q::content(query);
        let hash = hash_of(&self.store.hasher, sought);
        if let Some(there) = self.find(hash, sought) {
            self.store.table.reclaim_some_notified();
            drop(make);
            return there;
        }
        self.store.table.prefetch_notified();
        let key = make(query).into();
        assert_same_content(Sought::is(sought, K::content(&key)));
        self.add(hash, key)
    }

    /// Returns the handle for a content that can be made from `input`. If there is no live handle,
    /// calls `make` with the input, which `make` may take apart, and converts the result into a new
    /// handle. O(1) amortised.
    ///
    /// `hash` must be the hash that the [hasher](Self::hasher) computes for the content of the
    /// result of `make`. `is` returns whether an existing content is the content that the input
    /// would become. For the rules of both, see [`Hashed`](crate::Hashed). The interner hashes
    /// nothing.
    ///
    /// # Panics
    /// If a closure panics: then nothing is added.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    /// use weakly::{Interner, Strong};
    ///
    /// #[derive(PartialEq, Eq, Hash)]
    /// struct Call { name: String, arguments: Vec<u32> }
    ///
    /// let mut calls = Interner::<Strong<Call>>::new();
    /// let parts = (String::from("max"), vec![1, 2]);
    /// let hash = calls.hasher().hash_one(&parts);
    /// let call = calls.intern_or_make(
    ///     hash,
    ///     parts,
    ///     |(name, arguments), there| there.name == *name && there.arguments == *arguments,
    ///     |(name, arguments)| Call { name, arguments }, // moved, not cloned
    /// );
    /// assert_eq!(call.arguments, [1, 2]);
    /// ```
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    pub fn intern_or_make<I, T: Into<K>>(
        &mut self,
        hash: u64,
        input: I,
        is: impl Fn(&I, &K::Target) -> bool,
        make: impl FnOnce(I) -> T,
    ) -> K {
        let sought = Hashed(hash, |there: &K::Target| is(&input, there));
        let hash = HashValue::fold(hash);
        if let Some(there) = self.find(hash, &sought) {
            self.store.table.reclaim_some_notified();
            drop((input, is, make));
            return there;
        }
        self.store.table.prefetch_notified();
        let key = make(input).into();
        drop(is);
        self.add(hash, key)
    }

    #[inline]
    fn find<Q>(&self, hash: HashValue, sought: &Q) -> Option<K>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        let table = &self.store.table;
        Lookup::<_, S>::find(OfContent(sought), hash, table, |_, pinned| pinned)
    }

    /// Adds the missing handle. Out of line, to keep the path of a hit short.
    #[inline(never)]
    fn add(&mut self, hash: HashValue, key: K) -> K {
        let mut pinned = None;
        let is = |there: &ByContent<K>| there.has_content(hash, K::content(&key), &mut pinned);
        let place = self.store.table.place(hash, is, |_| Some(()));
        let (handle, other) = match place {
            // The code that made the handle could not change this interner. Only an inconsistent
            // `Eq`, or another content of equal hash, leads here.
            Place::Found(..) => match pinned {
                Some(there) => (there, Some(key)),
                None => (key, None),
            },
            Place::Vacant(vacant) => {
                vacant.set_owned(&key, ());
                (key, pinned)
            }
        };
        self.store.table.tidy();
        drop(other);
        handle
    }
}

impl<K: StrongRef + fmt::Debug, S> fmt::Debug for Interner<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
