//! The watch of keys by content.

use alloc::vec::Vec;

use super::key::Watch;
use super::query::Sought;
use super::slot::{NoticeOf, Slot, sealed::Sealed};
use super::strong::{Content, StrongRef, Upgrade, Wrapper};
use crate::hash::{Cookie, HashValue};

/// A weak key by content. The hash of the entry is the cookie of the watch, because the hash is
/// needed after the content has been dropped.
pub struct ByContent<K: StrongRef>(K::Watch);

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
        if self.cookie() != Some(hash) {
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
        self.0.deregister(queue);
    }

    #[inline]
    fn cookie(&self) -> Option<Cookie> {
        self.0.cookie()
    }

    #[inline]
    fn hash(&self) -> Option<HashValue> {
        self.0.cookie()
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &NoticeOf<Self>) -> bool {
        self.0.is_named_by(notice)
    }

    #[inline]
    fn into_remains(self) {}
}

// The watch of the object does everything. The cookie is the hash of the content.
impl<K: StrongRef> Watch for ByContent<K> {
    type Key = K;

    #[inline]
    fn watch(key: &K, cookie: Cookie, queue: &mut Self::Queue) -> Self {
        ByContent(K::Watch::watch(key, cookie, queue))
    }

    #[inline]
    fn rewatch(&mut self, key: &K, cookie: Cookie, queue: &mut Self::Queue) {
        self.0.rewatch(key, cookie, queue);
    }

    fn cookies_of(key: &K, queue: &Self::Queue) -> Option<Vec<Cookie>> {
        K::Watch::cookies_of(key, queue)
    }

    #[inline]
    fn addr(&self) -> *const () {
        self.0.addr()
    }

    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.0.is_at(addr)
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.0.downgrade()
    }
}

impl<K: StrongRef> Upgrade for ByContent<K> {
    type Pointer = K;
    type Around<L: Wrapper<Inner = K>> = ByContent<L>;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }
}
