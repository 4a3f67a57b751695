//! Our own handles, as keys and values.

use super::addr::{addr_if_live, addr_of_sized};
use super::key::{Identify, WeakKey};
use super::notified::{Notified, Notify};
use super::strong::{StrongRef, WeakRef};
use crate::ptr::{Flavour, Strong, Weak};

// SAFETY: the address of the payload is that of the object, which does not move. A watch keeps the block
// allocated, so no other object gets its address.
unsafe impl<T: ?Sized, F: Flavour> WeakKey for Strong<T, F> {
    type Watch = Notified<Self>;
    type Weak = Weak<T, F>;

    #[inline]
    fn addr(this: &Self) -> *const () {
        Strong::as_ptr(this).cast()
    }

    #[inline]
    fn downgrade(this: &Self) -> Weak<T, F> {
        Strong::downgrade(this)
    }
}

// SAFETY: as above.
unsafe impl<T: ?Sized, F: Flavour> StrongRef for Strong<T, F> {
    type Target = T;
}

// SAFETY: as above; once dead, always dead.
unsafe impl<T: ?Sized, F: Flavour> WeakRef for Weak<T, F> {
    type Strong = Strong<T, F>;

    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    fn upgrade(&self) -> Option<Self::Strong> {
        Weak::upgrade(self)
    }

    #[inline]
    fn addr(&self) -> *const () {
        self.as_ptr().cast()
    }

    #[inline]
    fn is_expired(&self) -> bool {
        Weak::is_expired(self)
    }

    fn strong_count(&self) -> Option<usize> {
        Some(Weak::strong_count(self))
    }
}

// SAFETY: it is a handle itself.
unsafe impl<T: ?Sized, F: Flavour> Notify for Strong<T, F> {
    type Pointee = T;
    type Flavour = F;

    #[inline]
    fn handle(this: &Self) -> &Strong<T, F> {
        this
    }

    #[inline]
    fn from_handle(handle: Strong<T, F>) -> Self {
        handle
    }

    #[inline]
    fn from_weak(weak: Weak<T, F>) -> Weak<T, F> {
        weak
    }
}

impl<T: ?Sized, F: Flavour> Identify<Strong<T, F>> for Weak<T, F> {
    #[inline]
    fn addr(this: &Self) -> *const () {
        addr_if_live(this)
    }
}

#[diagnostic::do_not_recommend]
impl<T, F: Flavour> Identify<Strong<T, F>> for T {
    #[inline]
    fn addr(this: &Self) -> *const () {
        addr_of_sized(this)
    }
}
