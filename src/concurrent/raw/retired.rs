//! Retired objects.

use core::marker::PhantomData;

/// An object that may be retired from a table whose destructors have the context `C`.
pub(super) trait Retire<C> {
    /// Returns whether the object is counted while it waits for the end of visits.
    fn is_counted(&self) -> bool;

    /// # Safety
    /// As for [`Retired::destroy`].
    unsafe fn destroy(this: *mut Self, context: &C);
}

/// An unlinked object: no thread can find it any more, but some threads may still look at it.
pub(super) struct Retired<C> {
    object: *mut (),
    /// The table of functions for the object's type, a constant. Not a reference, because the
    /// context may borrow.
    kind: *const Vtable<C>,
}

/// The functions for the objects of a type.
struct Vtable<C> {
    is_counted: unsafe fn(*mut ()) -> bool,
    destroy: unsafe fn(*mut (), &C),
}

struct KindOf<T, C>(PhantomData<(T, C)>);

impl<T: Retire<C>, C> KindOf<T, C> {
    const KIND: *const Vtable<C> = &Vtable {
        // SAFETY: `Retired` passes an object that has not been destroyed.
        is_counted: |object| unsafe { (*object.cast::<T>()).is_counted() },
        // SAFETY: `Retired` passes an object that has not been destroyed, and its caller keeps the
        // promise of `Retired::destroy`.
        destroy: |object, context| unsafe { T::destroy(object.cast(), context) },
    };
}

// SAFETY: `new` demands that the object may be destroyed on any thread that uses the table.
unsafe impl<C> Send for Retired<C> {}

impl<C> Retired<C> {
    /// Takes an unlinked object.
    ///
    /// # Safety
    /// Once no thread looks at the object any more, it may be destroyed, once, on any thread that
    /// uses or drops the table. No other code destroys the object.
    #[inline]
    pub(super) unsafe fn new<T: Retire<C>>(object: *mut T) -> Self {
        let object = object.cast();
        let kind = KindOf::<T, C>::KIND;
        Retired { object, kind }
    }

    pub(super) fn is_counted(&self) -> bool {
        // SAFETY: `new`: the object has the type of `kind`. `destroy` consumes `self`, so the
        // object is not destroyed yet.
        unsafe { ((*self.kind).is_counted)(self.object) }
    }

    /// Destroys the object.
    ///
    /// # Safety
    /// No thread looks at the object any more.
    #[inline]
    pub(super) unsafe fn destroy(self, context: &C) {
        // SAFETY: promised to `new` and by the caller. `self` is consumed, so the object is
        // destroyed once.
        unsafe { ((*self.kind).destroy)(self.object, context) }
    }
}
