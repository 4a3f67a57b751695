//! The standard library's handles, as keys and values.

use alloc::{rc, sync};

use super::addr::{addr_if_live, addr_of_sized};
use super::key::{Identify, WeakKey};
use super::strong::{StrongRef, WeakRef};
use super::swept::Swept;

macro_rules! std_pointers {
    ($($strong:path, $weak:path);*) => {$(
        // SAFETY: the payload does not move, and a weak handle pins the allocation.
        unsafe impl<T: ?Sized> WeakKey for $strong {
            type Watch = Swept<Self>;
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
        unsafe impl<T: ?Sized> StrongRef for $strong {
            type Target = T;
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
                <$weak>::strong_count(self) == 0
            }

            fn strong_count(&self) -> Option<usize> {
                Some(<$weak>::strong_count(self))
            }
        }

        impl<T: ?Sized> Identify<$strong> for $weak {
            #[inline]
            fn addr(this: &Self) -> *const () {
                addr_if_live(this)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T> Identify<$strong> for T {
            #[inline]
            fn addr(this: &Self) -> *const () {
                addr_of_sized(this)
            }
        }
    )*};
}

std_pointers!(sync::Arc<T>, sync::Weak<T>; rc::Rc<T>, rc::Weak<T>);
