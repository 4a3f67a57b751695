//! Retired objects.

use core::marker::PhantomData;

/// An object that may be retired from a table.
pub(super) trait Retire {
    /// The context of the table's destructors.
    type Context: Default;

    /// Returns whether the object is counted while it waits for the end of visits.
    fn is_counted(&self) -> bool;

    /// # Safety
    /// No thread looks at the object any more, and no other code destroys the object.
    unsafe fn destroy(this: *mut Self, context: &Self::Context);
}

/// An unlinked object: no thread can find it any more, but some threads may still look at it. The
/// type of the object is erased, so the code of the reclamation is compiled once for all tables.
pub(super) struct Retired {
    object: *mut (),
    kind: &'static Vtable,
}

/// The functions for the objects of a type.
struct Vtable {
    is_counted: unsafe fn(*mut ()) -> bool,
    destroy: unsafe fn(*mut (), *const ()),
}

struct KindOf<T>(PhantomData<T>);

impl<T: Retire> KindOf<T> {
    const KIND: &'static Vtable = &Vtable {
        // SAFETY: `Retired` passes an object that has not been destroyed.
        is_counted: |object| unsafe { (*object.cast::<T>()).is_counted() },
        // SAFETY: `Retired` passes an object that has not been destroyed, and its caller keeps the
        // promise of `Retired::destroy`.
        destroy: |object, context| unsafe {
            T::destroy(object.cast(), &*context.cast::<T::Context>());
        },
    };
}

// SAFETY: `new` demands that the object may be destroyed on any thread that uses the table.
unsafe impl Send for Retired {}

impl Retired {
    /// Takes an unlinked object.
    ///
    /// # Safety
    /// Once no thread looks at the object any more, it may be destroyed, once, on any thread that
    /// uses or drops the table. No other code destroys the object.
    #[inline]
    pub(super) unsafe fn new<T: Retire>(object: *mut T) -> Self {
        Retired {
            object: object.cast(),
            kind: KindOf::<T>::KIND,
        }
    }

    pub(super) fn is_counted(&self) -> bool {
        // SAFETY: `new`: the object has the type of `kind`. `destroy` consumes `self`, so the
        // object is not destroyed yet.
        unsafe { (self.kind.is_counted)(self.object) }
    }

    /// Destroys the object.
    ///
    /// # Safety
    /// No thread looks at the object any more. `context` is the [context](Retire::Context) of the
    /// object's table, and lasts during the call.
    #[inline]
    pub(super) unsafe fn destroy(self, context: *const ()) {
        // SAFETY: promised to `new` and by the caller. `self` is consumed, so the object is
        // destroyed once.
        unsafe { (self.kind.destroy)(self.object, context) }
    }
}
