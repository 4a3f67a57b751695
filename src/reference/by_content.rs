//! Keys that are told apart by their content.

use core::hash::Hash;
use core::ops::Deref;
use equivalent::Equivalent;

use super::key::Watch;
use super::strong::{StrongRef, Upgrade};
use crate::hash::HashValue;
use crate::queue::NoticeQueue;

/// A [`StrongRef`] whose target can be read: what keys by content need. Every one that implements
/// [`Deref`] is.
pub trait Content: StrongRef {
    /// The target.
    fn content(this: &Self) -> &Self::Target;
}

impl<K> Content for K
where
    K: StrongRef + Deref<Target = <K as StrongRef>::Target>,
{
    #[inline]
    fn content(this: &Self) -> &<K as StrongRef>::Target {
        this
    }
}

/// A weak key that is told apart by its content. The hash stays when the content has gone.
pub struct ByContent<K: StrongRef> {
    watch: K::Watch,
    hash: <K::Watch as Watch>::Hash,
}

impl<K: StrongRef> ByContent<K> {
    /// Whether the key lives and has this content. If so, it is left in `held`; the caller drops it when
    /// the table is not looked at any more, for it may be the last handle by then. (One that has the same
    /// hash and another content goes with the next of that kind.) A dead key is never asked.
    #[inline]
    pub(crate) fn has_content<Q>(&self, hash: HashValue, content: &Q, held: &mut Option<K>) -> bool
    where
        K: Content,
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        if self.hash() != hash {
            return false;
        }
        *held = self.upgrade();
        held.as_ref()
            .is_some_and(|key| content.equivalent(K::content(key)))
    }
}

impl<K: StrongRef> Watch for ByContent<K> {
    type Key = K;
    type Queue = <K::Watch as Watch>::Queue;
    type Hash = ();

    const SWEPT: bool = K::Watch::SWEPT;
    const BY_CONTENT: bool = true;

    #[inline]
    fn watch(key: &K, hash: HashValue, queue: &mut Self::Queue) -> Self {
        ByContent {
            watch: K::Watch::watch(key, hash, queue),
            hash: K::Watch::keep(hash),
        }
    }

    #[inline]
    fn rewatch(&mut self, key: &K, hash: HashValue, queue: &mut Self::Queue) {
        self.watch.rewatch(key, hash, queue);
    }

    #[inline]
    fn end(&mut self, queue: &mut Self::Queue) {
        self.watch.end(queue);
    }

    #[inline]
    fn hash(&self) -> HashValue {
        self.watch.kept(self.hash)
    }

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        Some(self.hash())
    }

    fn keep(_: HashValue) {}

    fn kept(&self, (): ()) -> HashValue {
        self.hash()
    }

    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &<Self::Queue as NoticeQueue>::Notice) -> bool {
        self.watch.is_named_by(notice)
    }

    fn is_seen(&self, seen: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        self.watch.is_seen(seen)
    }
}

impl<K: StrongRef> Upgrade for ByContent<K> {
    type Pointer = K;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade()
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.watch.downgrade()
    }
}
