//! The handles of this crate and of the standard library, as keys and values.

use alloc::{rc, sync};

use super::addr::{addr_if_live, addr_of_sized};
use super::key::{Identify, Identity, WeakKey};
use super::notified::{Notified, Notify};
use super::permit::Permit;
use super::strong::{StrongRef, WeakRef};
use super::swept::Swept;
use crate::ptr::{self, Flavour};

macro_rules! handles {
    ($([$($flavour:ident: $bound:ident)?] $strong:path, $weak:path, $watch:ty, |$this:ident| $is_expired:expr, $identity:expr;)*) => {$(
        // SAFETY: the payload does not move, and a weak handle, or a watch, pins the allocation: no
        // other object gets its address.
        unsafe impl<T: ?Sized $(, $flavour: $bound)?> WeakKey for $strong {
            type Watch = $watch;
            type Weak = $weak;

            #[inline]
            fn addr(this: &Self) -> *const () {
                <$strong>::as_ptr(this).cast()
            }

            #[inline]
            fn downgrade(this: &Self) -> $weak {
                <$strong>::downgrade(this)
            }
        }

        // SAFETY: as above.
        unsafe impl<T: ?Sized $(, $flavour: $bound)?> StrongRef for $strong {
            type Target = T;

            fn size(this: &Self) -> Option<usize> {
                Some(size_of_val::<T>(this))
            }
        }

        // SAFETY: as above; once dead, always dead.
        unsafe impl<T: ?Sized $(, $flavour: $bound)?> WeakRef for $weak {
            type Strong = $strong;

            #[inline]
            #[cfg_attr(feature = "holders", track_caller)]
            fn upgrade(&self) -> Option<Self::Strong> {
                <$weak>::upgrade(self)
            }

            #[inline]
            fn addr(&self) -> *const () {
                self.as_ptr().cast()
            }

            #[inline]
            fn is_expired(&self) -> bool {
                let $this = self;
                $is_expired
            }

            fn strong_count(&self) -> Option<usize> {
                Some(<$weak>::strong_count(self))
            }
        }

        impl<T: ?Sized $(, $flavour: $bound)?> Identity for $weak {
            #[inline]
            fn identity($this: &Self) -> *const () {
                $identity
            }
        }

        impl<T: ?Sized $(, $flavour: $bound)?> Identify<$strong> for $weak {
            #[inline]
            fn addr(this: &Self) -> *const () {
                addr_if_live(this)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T $(, $flavour: $bound)?> Identify<$strong> for T {
            #[inline]
            fn addr(this: &Self) -> *const () {
                addr_of_sized(this)
            }
        }
    )*};
}

handles! {
    [] sync::Arc<T>, sync::Weak<T>, Swept<Self>, |this| this.strong_count() == 0, this.as_ptr().cast();
    [] rc::Rc<T>, rc::Weak<T>, Swept<Self, ptr::Local>, |this| this.strong_count() == 0, this.as_ptr().cast();
    [F: Flavour] ptr::Strong<T, F>, ptr::Weak<T, F>, Notified<Self>, |this| this.is_expired(), this.identity();
}

// SAFETY: it is a handle itself.
unsafe impl<T: ?Sized, F: Flavour> Notify for ptr::Strong<T, F> {
    type Pointee = T;
    type Flavour = F;

    #[inline]
    fn handle(this: &Self) -> &ptr::Strong<T, F> {
        this
    }

    #[inline]
    fn from_handle(handle: ptr::Strong<T, F>, _: Permit<Self>) -> Self {
        handle
    }

    #[inline]
    fn from_weak(weak: ptr::Weak<T, F>, _: Permit<Self>) -> ptr::Weak<T, F> {
        weak
    }
}
