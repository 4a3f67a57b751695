//! Pointers that do not announce the deaths of their objects.

use super::key::Watch;
use super::strong::{StrongRef, Upgrade, WeakRef};
use crate::hash::HashValue;

/// For pointers that do not announce their deaths: their collections look at a few entries at each
/// change, and at all before they grow. A dead entry is never shown, but until it is found its value
/// stays, and it counts.
pub struct Swept<K: StrongRef>(K::Weak);

/// Its queue is always idle: an entry pins its allocation, so nobody else can have its address.
impl<K: StrongRef> Watch for Swept<K> {
    type Key = K;
    type Queue = ();
    type Hash = HashValue;

    const SWEPT: bool = true;

    #[inline]
    fn watch(key: &K, _: HashValue, (): &mut ()) -> Self {
        Swept(K::downgrade(key))
    }

    #[inline]
    fn rewatch(&mut self, key: &K, hash: HashValue, queue: &mut ()) {
        *self = Self::watch(key, hash, queue);
    }

    #[inline]
    fn hash(&self) -> HashValue {
        HashValue::of_addr(WeakRef::addr(&self.0))
    }

    #[inline]
    fn keep(hash: HashValue) -> HashValue {
        hash
    }

    #[inline]
    fn kept(&self, hash: HashValue) -> HashValue {
        hash
    }

    /// The address is pinned, so it is proof enough.
    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        WeakRef::addr(&self.0) == addr
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }
}

impl<K: StrongRef> Upgrade for Swept<K> {
    type Pointer = K;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }

    fn downgrade(&self) -> Option<K::Weak> {
        Some(self.0.clone())
    }
}
