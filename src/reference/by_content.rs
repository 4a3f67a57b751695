//! The watch of keys by content.

use alloc::vec::Vec;

use super::key::Watch;
use super::query::Sought;
use super::slot::{NoticeOf, Slot, sealed::Sealed};
use super::strong::{Content, StrongRef, Upgrade, Wrapper};
use crate::hash::{Cookie, HashValue};
use crate::queue::NoticeQueue;

/// A weak key by content. The hash is stored, because it is needed after the content has been
/// dropped.
pub struct ByContent<K: StrongRef> {
    watch: K::Watch,
    hash: <K::Watch as Watch>::Hash,
}

impl<K: StrongRef> ByContent<K> {
    /// Returns whether the key is live and has the sought content. The content of a dead key is
    /// never compared.
    ///
    /// A matching key is left in `pinned`. The caller drops the key only when the caller no longer
    /// borrows the table: by then the key may be the last handle, whose drop runs user code. (A key
    /// with the same hash and another content is also left in `pinned`, and dropped when the next
    /// key replaces it.)
    #[inline]
    pub(crate) fn has_content<Q>(&self, hash: HashValue, sought: &Q, pinned: &mut Option<K>) -> bool
    where
        K: Content,
        Q: ?Sized + Sought<K::Target>,
    {
        if self.hash() != hash {
            return false;
        }
        *pinned = self.upgrade();
        pinned
            .as_ref()
            .is_some_and(|key| Q::is(sought, K::content(key)))
    }
}

impl<K: StrongRef> Sealed for ByContent<K> {}

impl<K: StrongRef> Slot for ByContent<K> {
    type Queue = <K::Watch as Slot>::Queue;
    type Remains = ();

    const SWEPT: bool = K::Watch::SWEPT;
    const BY_CONTENT: bool = true;

    #[inline]
    fn deregister(&mut self, queue: &mut Self::Queue) {
        self.watch.deregister(queue);
    }

    #[inline]
    fn cookie(&self) -> Option<Cookie> {
        Some(self.hash())
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &NoticeOf<Self>) -> bool {
        self.watch.is_named_by(notice)
    }

    fn is_seen(&self, seen: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        self.watch.is_seen(seen)
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef> Watch for ByContent<K> {
    type Key = K;
    type Hash = ();

    #[inline]
    fn watch(key: &K, cookie: Cookie, queue: &mut Self::Queue) -> Self {
        ByContent {
            watch: K::Watch::watch(key, cookie, queue),
            hash: K::Watch::store_hash(cookie),
        }
    }

    #[inline]
    fn rewatch(&mut self, key: &K, cookie: Cookie, queue: &mut Self::Queue) {
        self.watch.rewatch(key, cookie, queue);
    }

    #[inline]
    fn hash(&self) -> HashValue {
        self.watch.stored_hash(self.hash)
    }

    fn store_hash(_: HashValue) {}

    fn stored_hash(&self, (): ()) -> HashValue {
        self.hash()
    }

    fn cookies_of(key: &K, queue: &Self::Queue) -> Option<Vec<Cookie>> {
        K::Watch::cookies_of(key, queue)
    }

    #[inline]
    fn addr(&self) -> *const () {
        self.watch.addr()
    }

    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.watch.downgrade()
    }
}

impl<K: StrongRef> Upgrade for ByContent<K> {
    type Pointer = K;
    type Around<L: Wrapper<Inner = K>> = ByContent<L>;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade()
    }
}
