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
pub struct Swept<K: StrongRef, F = Atomic> {
    weak: K::Weak,
    /// The hash of the entry: neither the `Hash` of a key nor [`WeakRef::addr`] is called again.
    cookie: Cookie,
    flavour: PhantomData<fn() -> F>,
}

impl<K: StrongRef, F> Sealed for Swept<K, F> {}

/// The queue is always idle. An entry pins its allocation, so no other object can get its address.
impl<K: StrongRef, F> Slot for Swept<K, F> {
    type Queue = ();
    type Remains = ();

    const SWEPT: bool = true;

    #[inline]
    fn cookie(&self) -> Option<Cookie> {
        Some(self.cookie)
    }

    #[inline]
    fn hash(&self) -> Option<HashValue> {
        Some(self.cookie)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.weak.is_expired()
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef, F> Watch for Swept<K, F> {
    type Key = K;

    #[inline]
    fn watch(key: &K, cookie: Cookie, (): &mut ()) -> Self {
        Swept {
            weak: K::downgrade(key),
            cookie,
            flavour: PhantomData,
        }
    }

    #[inline]
    fn rewatch(&mut self, key: &K, cookie: Cookie, queue: &mut ()) {
        *self = Self::watch(key, cookie, queue);
    }

    fn cookies_of(_: &K, (): &()) -> Option<Vec<Cookie>> {
        None
    }

    #[inline]
    fn addr(&self) -> *const () {
        WeakRef::addr(&self.weak)
    }

    /// Compares only the address, because the address is pinned.
    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.addr() == addr
    }

    fn downgrade(&self) -> Option<K::Weak> {
        Some(self.weak.clone())
    }
}

impl<K: StrongRef, F> Upgrade for Swept<K, F> {
    type Pointer = K;
    type Around<L: Wrapper<Inner = K>> = Swept<L, F>;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.weak.upgrade()
    }
}
