//! A live object, whatever keeps it alive: what a registration or a weak pointer is made from.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::header::Block;
use super::strong::Strong;

/// An object that the caller keeps alive meanwhile: by a strong handle, or by an anchor. It is no
/// handle of its own, and none can be made from it.
pub struct ObjectRef<'a, T: ?Sized, F: Flavour> {
    /// The place of an inline payload in the block, with the metadata of the type.
    place: NonNull<T>,
    block: Block<F>,
    alive: PhantomData<&'a ()>,
}

impl<T: ?Sized, F: Flavour> Clone for ObjectRef<'_, T, F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized, F: Flavour> Copy for ObjectRef<'_, T, F> {}

impl<T: ?Sized, F: Flavour> ObjectRef<'_, T, F> {
    /// # Safety
    /// The place is that of the block, and the object lives as long as this.
    #[inline(always)]
    pub(super) unsafe fn new(place: NonNull<T>, block: Block<F>) -> Self {
        ObjectRef {
            place,
            block,
            alive: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn place(self) -> NonNull<T> {
        self.place
    }

    #[inline(always)]
    pub(crate) fn block(self) -> Block<F> {
        self.block
    }
}

impl<'a, T: ?Sized, F: Flavour> From<&'a Strong<T, F>> for ObjectRef<'a, T, F> {
    #[inline(always)]
    fn from(strong: &'a Strong<T, F>) -> Self {
        // SAFETY: the strong pointer keeps it alive.
        unsafe { ObjectRef::new(strong.place(), strong.block()) }
    }
}
