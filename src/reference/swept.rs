//! The watch of handles that do not notify collections of the deaths of their objects.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::key::Watch;
use super::slot::{Slot, sealed::Sealed};
use super::strong::{StrongRef, Upgrade, WeakRef, Wrapper};
use crate::hash::{Cookie, HashValue};
use crate::ptr::Atomic;

/// The watch of handles that do not notify. Each change to the collection polls a few entries, and
/// a full sweep precedes growth. A dead entry is never shown, but until a sweep finds the entry,
/// its value is kept and the entry counts.
///
/// The flavour of `Rc` is [`Local`](crate::ptr::Local): so a compile error about an `Rc` says that
/// threads cannot share the handle. Other handles have the default.
pub struct Swept<K: StrongRef, F = Atomic>(K::Weak, PhantomData<fn() -> F>);

impl<K: StrongRef, F> Sealed for Swept<K, F> {}

/// The queue is always idle. An entry pins its allocation, so no other object can get its address.
impl<K: StrongRef, F> Slot for Swept<K, F> {
    type Queue = ();
    type Remains = ();

    const SWEPT: bool = true;

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef, F> Watch for Swept<K, F> {
    type Key = K;
    type Hash = HashValue;

    #[inline]
    fn watch(key: &K, _: Cookie, (): &mut ()) -> Self {
        Swept(K::downgrade(key), PhantomData)
    }

    #[inline]
    fn rewatch(&mut self, key: &K, cookie: Cookie, queue: &mut ()) {
        *self = Self::watch(key, cookie, queue);
    }

    #[inline]
    fn hash(&self) -> HashValue {
        HashValue::of_addr(self.addr())
    }

    #[inline]
    fn store_hash(hash: HashValue) -> HashValue {
        hash
    }

    #[inline]
    fn stored_hash(&self, hash: HashValue) -> HashValue {
        hash
    }

    fn cookies_of(_: &K, (): &()) -> Option<Vec<Cookie>> {
        None
    }

    #[inline]
    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }

    /// Compares only the address, because the address is pinned.
    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.addr() == addr
    }

    fn downgrade(&self) -> Option<K::Weak> {
        Some(self.0.clone())
    }
}

impl<K: StrongRef, F> Upgrade for Swept<K, F> {
    type Pointer = K;
    type Around<L: Wrapper<Inner = K>> = Swept<L, F>;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }
}
