//! One live handle for each content.

use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

use super::common::housekeeping;
use super::iter::Keys;
use super::store::Store;
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{ByContent, Content, StrongRef};
use crate::table::{Owned, Place};

/// One live handle for each content: handles that are given out for equal contents point to the same
/// object for as long as any of them lives, so comparing contents is comparing addresses. It keeps none
/// of them: what nobody uses any more goes, at once.
///
/// Over every kind of pointer: `Interner<Strong<str>>`, `Interner<Rc<Term>>`. What is said about
/// content, `Hash` and `Eq` of [`WeakHashMap`](crate::WeakHashMap) holds here. (For threads that
/// intern together there is [`concurrent::Interner`](crate::concurrent::Interner).)
///
/// ```
/// use weakly::{Interner, Strong};
///
/// let mut words = Interner::<Strong<str>>::new();
/// let one = words.intern_ref("word"); // allocates
/// let other = words.intern_ref("word"); // finds
/// assert!(Strong::ptr_eq(&one, &other));
/// drop((one, other));
/// assert!(words.is_empty());
/// ```
///
/// # Deep terms
///
/// A term whose children are interned is interned in O(its own size), if its `Hash` and `Eq` compare
/// the children by identity: wrap them in [`ByIdentity`](crate::ByIdentity). Its drop glue, however,
/// recurses through the children; [`dismantle`](crate::dismantle) in the term's `Drop` does not. The
/// example `hash_cons` builds and drops a term of depth a million.
pub struct Interner<K: StrongRef, S = DefaultHashBuilder> {
    store: Store<ByContent<K>, Owned<()>, S>,
}

impl<K: StrongRef> Interner<K> {
    /// An empty interner. Allocates nothing before the first handle.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty interner with room for `capacity` contents.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K: StrongRef, S> Interner<K, S> {
    /// An empty interner with a hasher of yours.
    #[must_use]
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        Interner {
            store: Store::with_hasher(hasher),
        }
    }

    /// An empty interner with a hasher of yours and room for `capacity` contents.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let mut interner = Self::with_hasher(hasher);
        interner.reserve(capacity);
        interner
    }

    /// The hasher.
    #[must_use]
    #[inline]
    pub fn hasher(&self) -> &S {
        &self.store.hasher
    }

    housekeeping!();

    /// All live handles, in no order. O(capacity).
    pub fn iter(&self) -> Keys<'_, ByContent<K>, Owned<()>> {
        self.store.keys()
    }
}

impl<K: Content, S: BuildHasher> Interner<K, S>
where
    K::Target: Eq + Hash,
{
    /// The live handle for this content, if there is one. O(1).
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<K::Target>>(&self, content: &Q) -> Option<K> {
        self.find(HashValue::of(&self.store.hasher, content), content)
    }

    /// The one handle for this content: the live one, or else what the value becomes. O(1) amortised.
    ///
    /// The value is whatever borrows as the content and becomes a handle: the content itself, a handle
    /// (which is then the one, if there is no other), a `String` for `Strong<str>`.
    ///
    /// # Panics
    /// If the value becomes a handle to another content than it borrows as, as far as the hash shows.
    #[inline]
    #[track_caller]
    pub fn intern<T: Borrow<K::Target> + Into<K>>(&mut self, value: T) -> K {
        let hash = HashValue::of(&self.store.hasher, value.borrow());
        if let Some(there) = self.find(hash, value.borrow()) {
            self.store.table.reclaim_some_notified();
            return there;
        }
        // Equal contents have equal hashes.
        self.add(hash, value, |key, hasher| {
            HashValue::of(hasher, K::content(key)) == hash
        })
    }

    /// The one handle for this content, which is not copied unless there is none. O(1) amortised.
    ///
    /// # Panics
    /// If the content becomes a handle to another content.
    #[inline]
    #[track_caller]
    pub fn intern_ref<Q>(&mut self, content: &Q) -> K
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
        K: for<'q> From<&'q Q>,
    {
        let hash = HashValue::of(&self.store.hasher, content);
        if let Some(there) = self.find(hash, content) {
            self.store.table.reclaim_some_notified();
            return there;
        }
        self.add(hash, content, |key, _| content.equivalent(K::content(key)))
    }

    #[inline]
    fn find<Q>(&self, hash: HashValue, content: &Q) -> Option<K>
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        let (_, held) = self.store.table.find_by_content(hash, content)?;
        Some(held)
    }

    /// Makes the handle that is missing, and asks whether it has the content. Out of line: a hit is short.
    #[inline(never)]
    #[track_caller]
    fn add<T: Into<K>>(
        &mut self,
        hash: HashValue,
        content: T,
        agrees: impl FnOnce(&K, &S) -> bool,
    ) -> K {
        self.store.table.look_ahead();
        let key = content.into();
        agree(agrees(&key, &self.store.hasher));
        let mut held = None;
        let has_content =
            |there: &ByContent<K>| there.has_content(hash, K::content(&key), &mut held);
        let there = match self.store.find_place((hash, has_content), |_| Some(())) {
            // Making the handle took a while, and code of the user's: but not this interner.
            Place::Found(..) => held,
            Place::Vacant(vacant) => {
                vacant.own(&key, ());
                None
            }
        };
        self.store.table.tidy();
        there.unwrap_or(key)
    }
}

#[track_caller]
pub(crate) fn agree(same: bool) {
    assert!(
        same,
        "the value became a handle to another content than it was looked up by"
    );
}

impl<K: StrongRef, S: Default> Default for Interner<K, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: StrongRef + fmt::Debug, S> fmt::Debug for Interner<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
