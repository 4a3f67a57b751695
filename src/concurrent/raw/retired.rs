//! Retired objects.

use core::marker::PhantomData;

/// What may be retired from a table whose ends have this context.
pub(super) trait Retire<C> {
    /// Whether it counts while it waits for threads that may look at it.
    fn is_counted(&self) -> bool;

    /// # Safety
    /// As for [`Retired::destroy`].
    unsafe fn destroy(this: *mut Self, context: &C);
}

/// An unlinked object: no thread can find it any more, though some may still look at it.
pub(super) struct Retired<C> {
    object: *mut (),
    /// Of the object's type: a constant. Not a reference, since the context may borrow something.
    kind: *const Vtable<C>,
}

/// What can be done with the objects of a type.
struct Vtable<C> {
    is_counted: unsafe fn(*mut ()) -> bool,
    destroy: unsafe fn(*mut (), &C),
}

struct KindOf<T, C>(PhantomData<(T, C)>);

impl<T: Retire<C>, C> KindOf<T, C> {
    const KIND: *const Vtable<C> = &Vtable {
        // SAFETY: `Retired` passes an object that is there.
        is_counted: |object| unsafe { (*object.cast::<T>()).is_counted() },
        // SAFETY: likewise, and the promise of `Retired::destroy`.
        destroy: |object, context| unsafe { T::destroy(object.cast(), context) },
    };
}

// SAFETY: `new` demands that it may be destroyed on any thread that uses the table.
unsafe impl<C> Send for Retired<C> {}

impl<C> Retired<C> {
    /// # Safety
    /// Once no thread looks at the object any more, it may be destroyed, once, on any thread that
    /// uses or drops the table. It is not destroyed otherwise.
    #[inline]
    pub(super) unsafe fn new<T: Retire<C>>(object: *mut T) -> Self {
        let object = object.cast();
        let kind = KindOf::<T, C>::KIND;
        Retired { object, kind }
    }

    pub(super) fn is_counted(&self) -> bool {
        // SAFETY: `new`: the object is of that kind, and `destroy` would have consumed this.
        unsafe { ((*self.kind).is_counted)(self.object) }
    }

    /// # Safety
    /// No thread looks at the object any more.
    #[inline]
    pub(super) unsafe fn destroy(self, context: &C) {
        // SAFETY: promised to `new` and here; and `self` is consumed, so this happens once.
        unsafe { ((*self.kind).destroy)(self.object, context) }
    }
}
