//! Strong pointers from counted pointers, each listed as a holder of its object. (Without the
//! feature `holders` nothing is listed.)

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::strong::Strong;
use crate::holders::Holder;

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// # Safety
    /// `ptr` is the payload of a live object that has counted this pointer.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub(crate) unsafe fn from_counted(ptr: NonNull<T>) -> Self {
        // SAFETY: the caller's promise.
        let mut this = unsafe { Self::unlisted(ptr) };
        this.holder = Holder::another(ptr.as_ptr().cast());
        this
    }

    /// Makes the first pointer to a new object.
    ///
    /// # Safety
    /// As for `from_counted`; no other thread knows the object.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub(super) unsafe fn first(ptr: NonNull<T>) -> Self {
        // SAFETY: the caller's promise.
        let mut this = unsafe { Self::unlisted(ptr) };
        this.holder = Holder::first(ptr.as_ptr(), size_of_val::<T>(&this));
        this
    }

    /// Makes a pointer as `from_counted` does, with a holder that the caller has made.
    ///
    /// # Safety
    /// As for `from_counted`.
    #[inline]
    pub(super) unsafe fn listed(ptr: NonNull<T>, holder: Holder) -> Self {
        Strong {
            ptr,
            holder,
            owns: PhantomData,
        }
    }

    /// Makes a pointer without a holder; the caller sets the holder afterwards. If making the
    /// holder panics, the drop of this pointer gives its count back. (A caller that wraps the
    /// pointer in `ManuallyDrop` needs no holder.)
    ///
    /// # Safety
    /// As for `from_counted`.
    #[inline(always)]
    pub(super) unsafe fn unlisted(ptr: NonNull<T>) -> Self {
        Strong {
            ptr,
            holder: Holder::NONE,
            owns: PhantomData,
        }
    }

    /// Returns the same pointer to an unsized payload.
    ///
    /// # Safety
    /// `coerce` returns its argument, unsized by the compiler.
    #[inline]
    pub(super) unsafe fn unsize<U: ?Sized>(self, coerce: fn(*const T) -> *const U) -> Strong<U, F> {
        let this = ManuallyDrop::new(self);
        Strong {
            // SAFETY: the caller's promise: the address stays.
            ptr: unsafe { NonNull::new_unchecked(coerce(this.ptr.as_ptr()).cast_mut()) },
            holder: this.holder,
            owns: PhantomData,
        }
    }

    /// Returns the handle's entry in the registry.
    pub(crate) fn holder(this: &Self) -> Holder {
        this.holder
    }

    /// Returns where the present handles to this object were made, oldest first. See
    /// [`holders`](crate::holders). O(handles). A snapshot, if other threads have handles.
    #[cfg(feature = "holders")]
    #[must_use]
    pub fn holders(this: &Self) -> alloc::vec::Vec<crate::holders::Origin> {
        let known = crate::holders::known_at(&[this.ptr.as_ptr().addr()]);
        let holders = known.into_iter().flat_map(|object| object.holders);
        holders.map(|(_, origin)| origin).collect()
    }
}
