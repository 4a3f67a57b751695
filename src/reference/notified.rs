//! The watch of handles that notify collections of the deaths of their objects.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::key::{Watch, WeakKey};
use super::permit::Permit;
use super::slot::{Slot, sealed::Sealed};
use super::strong::{StrongRef, Upgrade, Wrapper};
use crate::hash::{Cookie, HashValue};
use crate::ptr::{Flavour, ObjectRef, Strong, Weak};
use crate::queue::{DeadNotice, DeadQueue, OwnedWatch};

/// A [`StrongRef`] that wraps a [`Strong`](crate::Strong) or a
/// [`local::Strong`](crate::local::Strong), and notifies collections through the wrapped handle.
///
/// # Safety
/// `handle` always returns a handle to the same object for a value of this type and its clones, and
/// [`WeakKey::addr`](crate::reference::WeakKey::addr) returns the address of this object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which `Strong` it wraps",
    label = "this has to implement `Notify`",
    note = "a handle that wraps none chooses `type Watch = Swept<Self>`"
)]
pub unsafe trait Notify: StrongRef {
    /// The target of the wrapped handle.
    type Pointee: ?Sized;
    /// The flavour of the wrapped handle.
    type Flavour: Flavour;
    /// Returns the wrapped handle.
    fn handle(this: &Self) -> &Strong<Self::Pointee, Self::Flavour>;
    /// Wraps a handle to an object that a `Self` has wrapped before. Only this crate calls the
    /// function, because only this crate makes a [`Permit`].
    #[must_use]
    fn from_handle(handle: Strong<Self::Pointee, Self::Flavour>, permit: Permit<Self>) -> Self;
    /// Wraps a weak handle, under the same condition as [`from_handle`](Self::from_handle).
    fn from_weak(weak: Weak<Self::Pointee, Self::Flavour>, permit: Permit<Self>) -> Self::Weak;
}

/// A key with an object of this crate behind it, where entries register. The key and the object
/// have the same address.
pub trait Registrable: WeakKey {
    /// The type of the object's payload.
    type Target: ?Sized;
    /// The flavour of the object.
    type Kind: Flavour;
    /// Returns the object. An anchor without an object gets an object.
    #[doc(hidden)]
    fn object(this: &Self) -> ObjectRef<'_, Self::Target, Self::Kind>;
    /// Wraps a weak handle to the object in the key's weak handle.
    #[doc(hidden)]
    fn weak(weak: Weak<Self::Target, Self::Kind>, permit: Permit<Self>) -> Self::Weak;
}

impl<K: Notify> Registrable for K {
    type Target = K::Pointee;
    type Kind = K::Flavour;

    #[inline]
    fn object(this: &Self) -> ObjectRef<'_, K::Pointee, K::Flavour> {
        K::handle(this).into()
    }

    #[inline]
    fn weak(weak: Weak<K::Pointee, K::Flavour>, permit: Permit<K>) -> K::Weak {
        K::from_weak(weak, permit)
    }
}

/// The watch of handles and anchors that notify: a collection learns of a death at once, and each
/// death costs the collection one notice.
///
/// The key determines the flavour. The flavour is a parameter so that a compile error about a key
/// says that the key does not cross threads.
pub struct Notified<K: Registrable, F = <K as Registrable>::Kind> {
    watch: OwnedWatch<K::Target, K::Kind>,
    /// The watch creates handles of type `K` on any thread to which the watch is sent. So the auto
    /// traits of `K::Weak`, not of the wrapped handles, decide whether the watch may be sent.
    like: PhantomData<K::Weak>,
    flavour: PhantomData<fn() -> F>,
}

impl<K: Registrable> Sealed for Notified<K> {}

impl<K: Registrable> Slot for Notified<K> {
    type Queue = DeadQueue<K::Kind>;
    type Remains = ();

    #[inline]
    fn deregister(&mut self, queue: &mut Self::Queue) {
        queue.end(&mut self.watch);
    }

    #[inline]
    fn cookie(&self) -> Option<Cookie> {
        self.watch.cookie()
    }

    /// Unlike the cookie, the address is not in the block.
    #[inline]
    fn hash(&self) -> Option<HashValue> {
        Some(HashValue::of_addr(self.addr()))
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &DeadNotice<K::Kind>) -> bool {
        self.watch.is_named_by(notice)
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: Registrable> Watch for Notified<K> {
    type Key = K;

    #[inline]
    fn watch(key: &K, cookie: Cookie, queue: &mut Self::Queue) -> Self {
        Notified {
            watch: queue.watch(K::object(key), cookie),
            like: PhantomData,
            flavour: PhantomData,
        }
    }

    #[inline]
    fn rewatch(&mut self, key: &K, cookie: Cookie, queue: &mut Self::Queue) {
        // User code: `K::object` runs before the old watch is deregistered.
        let object = K::object(key);
        if !self.watch.is_on(object) {
            // The new watch comes first: it may allocate, and the allocation may fail.
            let mut old = core::mem::replace(&mut self.watch, queue.watch(object, cookie));
            queue.end(&mut old);
        }
    }

    fn cookies_of(key: &K, queue: &Self::Queue) -> Option<Vec<Cookie>> {
        Some(queue.cookies_of(K::object(key)))
    }

    #[inline]
    fn addr(&self) -> *const () {
        self.watch.addr()
    }

    #[inline(always)]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    fn downgrade(&self) -> Option<K::Weak> {
        let weak = self.watch.downgrade()?;
        Some(K::weak(weak, Permit::new()))
    }
}

impl<K: Notify> Upgrade for Notified<K> {
    type Pointer = K;
    type Around<L: Wrapper<Inner = K>> = Notified<L>;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        let handle = self.watch.upgrade()?;
        Some(K::from_handle(handle, Permit::new()))
    }
}
