//! The pointers that are keys as they are: ours, and the standard library's.

use alloc::{rc, sync};

use super::strong::{Identify, Notify, StrongRef, WeakRef};
use super::watch::{Notified, Swept};
use crate::ptr::{Flavour, Strong, Weak};

/// The address of a sized target, once the compiler has seen that it has a size.
#[inline]
fn addr_of_sized<T>(target: &T) -> *const () {
    const {
        assert!(
            size_of::<T>() != 0,
            "a reference to a zero-sized value does not identify a key: use the pointer, or `Addr::of`"
        );
    }
    core::ptr::from_ref(target).cast()
}

// === Our own pointers ===

// SAFETY: the address of the payload is that of the object, which does not move; a block, of which a watch
// has a share, is never another object's.
unsafe impl<T: ?Sized, F: Flavour> StrongRef for Strong<T, F> {
    type Target = T;
    type Weak = Weak<T, F>;
    type Watch = Notified<Self>;

    #[inline]
    fn downgrade(this: &Self) -> Self::Weak {
        Strong::downgrade(this)
    }

    #[inline]
    fn addr(this: &Self) -> *const () {
        Strong::as_ptr(this).cast()
    }
}

// SAFETY: as above; once dead, always dead.
unsafe impl<T: ?Sized, F: Flavour> WeakRef for Weak<T, F> {
    type Strong = Strong<T, F>;

    #[inline]
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
}

// SAFETY: the handle is the pointer.
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

/// The address of an expired handle's target may be another's: it finds nothing.
#[inline]
fn addr_if_live<W: WeakRef>(weak: &W) -> *const () {
    if weak.is_expired() {
        core::ptr::null()
    } else {
        WeakRef::addr(weak)
    }
}

impl<T: ?Sized, F: Flavour> Identify<Strong<T, F>> for Weak<T, F> {
    #[inline]
    fn addr(&self) -> *const () {
        addr_if_live(self)
    }
}

impl<T, F: Flavour> Identify<Strong<T, F>> for T {
    #[inline]
    fn addr(&self) -> *const () {
        addr_of_sized(self)
    }
}

// === The standard library's ===

macro_rules! std_pointers {
    ($($strong:path, $weak:path);*) => {$(
        // SAFETY: the address of the payload does not move, and a weak pointer pins the allocation.
        unsafe impl<T: ?Sized> StrongRef for $strong {
            type Target = T;
            type Weak = $weak;
            type Watch = Swept<Self>;

            #[inline]
            fn downgrade(this: &Self) -> Self::Weak {
                <$strong>::downgrade(this)
            }

            #[inline]
            fn addr(this: &Self) -> *const () {
                <$strong>::as_ptr(this).cast()
            }
        }

        // SAFETY: as above; once dead, always dead.
        unsafe impl<T: ?Sized> WeakRef for $weak {
            type Strong = $strong;

            #[inline]
            fn upgrade(&self) -> Option<Self::Strong> {
                <$weak>::upgrade(self)
            }

            #[inline]
            fn addr(&self) -> *const () {
                self.as_ptr().cast()
            }

            #[inline]
            fn is_expired(&self) -> bool {
                self.strong_count() == 0
            }
        }

        impl<T: ?Sized> Identify<$strong> for $weak {
            #[inline]
            fn addr(&self) -> *const () {
                addr_if_live(self)
            }
        }

        impl<T> Identify<$strong> for T {
            #[inline]
            fn addr(&self) -> *const () {
                addr_of_sized(self)
            }
        }
    )*};
}

std_pointers!(sync::Arc<T>, sync::Weak<T>; rc::Rc<T>, rc::Weak<T>);
