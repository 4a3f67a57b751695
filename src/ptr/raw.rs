//! Handles as raw pointers, and back.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::strong::Strong;
use super::weak::Weak;
use crate::holders::Holder;

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// Gives up the handle but not its count, and returns a raw pointer for
    /// [`from_raw`](Self::from_raw).
    #[must_use = "the object is leaked unless `from_raw` takes the handle back"]
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn into_raw(this: Self) -> *const T {
        this.holder.into_raw(this.ptr.as_ptr().cast());
        ManuallyDrop::new(this).ptr.as_ptr()
    }

    /// Makes a strong handle from a raw pointer.
    ///
    /// # Safety
    /// `ptr` is from [`into_raw`](Self::into_raw) of a strong handle of the same flavour, unchanged
    /// except by unsizing coercions of the compiler, and is used for one call.
    #[must_use]
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller's promise.
        let mut this = unsafe { Self::unlisted(NonNull::new_unchecked(ptr.cast_mut())) };
        this.holder = Holder::of_raw(ptr.cast());
        this
    }

    /// Counts one more raw pointer to a live object: for code that counts through raw pointers,
    /// such as the vtable of a `RawWaker`. O(1).
    ///
    /// # Panics
    /// Aborts the process as [`clone`](Self::clone) does.
    ///
    /// # Safety
    /// `ptr` was returned by [`into_raw`](Self::into_raw) or [`as_ptr`](Self::as_ptr) of a strong
    /// handle of the same flavour, and is unchanged except by unsizing coercions of the compiler.
    /// The object has a strong handle, or a counted raw pointer, during the call.
    ///
    /// ```
    /// use weakly::Strong;
    ///
    /// let raw = Strong::into_raw(Strong::new(5));
    /// // SAFETY: from `into_raw`; each count is given up once.
    /// unsafe {
    ///     Strong::increment_strong_count(raw);
    ///     let five = Strong::from_raw(raw);
    ///     assert_eq!(Strong::strong_count(&five), 2);
    ///     Strong::decrement_strong_count(raw);
    ///     assert_eq!(Strong::strong_count(&five), 1);
    /// }
    /// ```
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: the caller's promise: the pointer is counted. It is only borrowed here.
        let this = unsafe { Self::unlisted(NonNull::new_unchecked(ptr.cast_mut())) };
        let this = ManuallyDrop::new(this);
        _ = Self::into_raw(Self::clone(&this));
    }

    /// Gives up the count of a raw pointer, and costs as much as the drop of a strong handle: if
    /// the count was the last, the object dies here.
    ///
    /// # Safety
    /// As for [`from_raw`](Self::from_raw); or `ptr` is from [`as_ptr`](Self::as_ptr), for a count
    /// that [`increment_strong_count`](Self::increment_strong_count) has made.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: the caller's promise.
        drop(unsafe { Self::from_raw(ptr) });
    }
}

impl<T: ?Sized, F: Flavour> Weak<T, F> {
    /// Gives up the handle but not its share in the object's memory, and returns a raw pointer for
    /// [`from_raw`](Self::from_raw). The object may be alive or dead, or may never have existed.
    ///
    /// **The raw pointer does not lead to the payload**, unlike the raw pointer of `Arc`'s weak
    /// handle: a larger payload is elsewhere, and is freed at the death. Before the handle is given
    /// up, [`as_ptr`](Self::as_ptr) returns the payload's address. But the raw pointer identifies
    /// the object: the raw pointers of equal handles are equal, and until the last one has been
    /// taken back, no other object has an equal pointer, even after the death.
    ///
    /// ```
    /// use weakly::{Strong, Weak};
    ///
    /// let text: Strong<str> = "text".into();
    /// let raw = Strong::downgrade(&text).into_raw();
    /// assert_eq!(Strong::weak_count(&text), 1);
    /// // SAFETY: from `into_raw`, once.
    /// let weak = unsafe { Weak::from_raw(raw) };
    /// assert_eq!(weak.upgrade().as_deref(), Some("text"));
    /// ```
    #[must_use = "the memory is leaked unless `from_raw` takes the handle back"]
    #[inline]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).place.as_ptr()
    }

    /// Makes a weak handle from a raw pointer.
    ///
    /// # Safety
    /// `ptr` is from [`into_raw`](Self::into_raw) of a weak handle of the same flavour, unchanged
    /// except by unsizing coercions of the compiler, and is used for one call.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller's promise: `ptr` is the place of a block, with a share in it, or
        // `NOWHERE`. Neither is null.
        unsafe { Self::from_counted(NonNull::new_unchecked(ptr.cast_mut())) }
    }
}
