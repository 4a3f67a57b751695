//! Retired objects.

/// An unlinked object: no thread can find it any more, though some may still look at it.
pub(super) struct Retired<C> {
    object: *mut (),
    destroy: unsafe fn(*mut (), &C),
}

// SAFETY: `new` demands that it may be destroyed on any thread that uses the table.
unsafe impl<C> Send for Retired<C> {}

impl<C> Retired<C> {
    /// # Safety
    /// Once no thread looks at the object any more, `destroy` may be called for it, once, on any thread that uses
    /// or drops the table.
    #[inline]
    pub(super) unsafe fn new<T>(object: *mut T, destroy: unsafe fn(*mut (), &C)) -> Self {
        let object = object.cast();
        Retired { object, destroy }
    }

    /// # Safety
    /// No thread looks at the object any more.
    #[inline]
    pub(super) unsafe fn destroy(self, context: &C) {
        // SAFETY: promised to `new` and here; and `self` is consumed, so this happens once.
        unsafe { (self.destroy)(self.object, context) }
    }
}
