//! How an operation finds the entry of a key: by the address of an object, by a key that the
//! collection owns, or by the content of a weak key.

use core::hash::BuildHasher;

use super::shown::Shown;
use crate::hash::HashValue;
use crate::reference::{ByContent, Content, Owned, Slot, Sought, Upgrade as _, Watch, hash_of};
use crate::table::Entry;
use crate::table::Table;

/// A lookup in a collection with the hasher `S`.
pub(crate) trait Lookup<K: Slot, S>: Sized {
    /// Keeps the found key alive during the search: a handle, or nothing.
    type Pin: Default;

    fn hash(&self, hasher: &S) -> HashValue;

    /// Returns whether a key is the sought key. The handle that is left in `pinned` is dropped
    /// after the search, since the drop may run user code. (After a search that has found nothing,
    /// the handle may be to a key of another content.)
    fn is(&self, hash: HashValue, key: &K, pinned: &mut Self::Pin) -> bool;

    /// Pins the key that the search has found, in order to show the key.
    #[inline]
    fn pin(_: Self::Pin, key: &K) -> Option<K::Guard>
    where
        K: Shown,
    {
        K::pin(key)
    }

    /// Finds the entry of the key, and passes the entry and the handle to `then`.
    #[inline]
    fn find<'t, V: Slot, R>(
        self,
        hash: HashValue,
        table: &'t Table<K, V>,
        then: impl FnOnce(&'t Entry<K, V>, Self::Pin) -> Option<R>,
    ) -> Option<R> {
        let mut pinned = Self::Pin::default();
        let pin = &mut pinned;
        let entry = table.find(hash, move |key| self.is(hash, key, pin))?;
        then(entry, pinned)
    }
}

/// A lookup by identity, with the address of the object, or by a key that the collection owns.
pub(crate) struct By<T>(pub(crate) T);

impl<W: Watch, S> Lookup<W, S> for By<*const ()> {
    type Pin = ();

    #[inline]
    fn hash(&self, _: &S) -> HashValue {
        HashValue::of_addr(self.0)
    }

    #[inline]
    fn is(&self, _: HashValue, key: &W, _: &mut ()) -> bool {
        key.is_at(self.0)
    }
}

impl<K, Q: ?Sized + Sought<K>, S: BuildHasher> Lookup<Owned<K>, S> for By<&Q> {
    type Pin = ();

    #[inline]
    fn hash(&self, hasher: &S) -> HashValue {
        hash_of(hasher, self.0)
    }

    #[inline]
    fn is(&self, _: HashValue, key: &Owned<K>, _: &mut ()) -> bool {
        Q::is(self.0, &key.0)
    }
}

/// A lookup of weak keys by content.
pub(crate) struct OfContent<T>(pub(crate) T);

impl<K: Content, Q: ?Sized + Sought<K::Target>, S: BuildHasher> Lookup<ByContent<K>, S>
    for OfContent<&Q>
{
    type Pin = Option<K>;

    #[inline]
    fn hash(&self, hasher: &S) -> HashValue {
        hash_of(hasher, self.0)
    }

    #[inline]
    fn is(&self, hash: HashValue, key: &ByContent<K>, pinned: &mut Option<K>) -> bool {
        key.has_content(hash, self.0, pinned)
    }

    #[inline]
    fn pin(pinned: Option<K>, _: &ByContent<K>) -> Option<<ByContent<K> as Shown>::Guard> {
        pinned
    }

    #[inline]
    fn find<'t, V: Slot, R>(
        self,
        hash: HashValue,
        table: &'t Table<ByContent<K>, V>,
        then: impl FnOnce(&'t Entry<ByContent<K>, V>, Option<K>) -> Option<R>,
    ) -> Option<R> {
        // The first entry of this hash is almost always the right one. A comparison of contents
        // inside the loop would be a call, for which every lookup would have to save registers.
        let entry = table.find(hash, |key| key.cookie() == Some(hash))?;
        let (entry, key) = match entry.key.upgrade() {
            Some(key) if Q::is(self.0, K::content(&key)) => (entry, key),
            other => find_slow(table, hash, self.0, other)?,
        };
        then(entry, Some(key))
    }
}

/// The slow path: the first entry of this hash has another content or is dead. `other` is dropped
/// first, while no search has borrowed the table.
#[cold]
#[inline(never)]
fn find_slow<'t, K: Content, V: Slot>(
    table: &'t Table<ByContent<K>, V>,
    hash: HashValue,
    sought: &(impl ?Sized + Sought<K::Target>),
    other: Option<K>,
) -> Option<(&'t Entry<ByContent<K>, V>, K)> {
    drop(other);
    let mut pinned = None;
    let entry = table.find(hash, |key| key.has_content(hash, sought, &mut pinned))?;
    Some((entry, pinned?))
}
