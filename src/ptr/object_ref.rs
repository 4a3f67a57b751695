//! A live object, kept alive by any means: registrations and weak pointers are made from it.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::header::Block;
use super::strong::Strong;

/// An object that the caller keeps alive by a strong handle or by an anchor. An `ObjectRef` is not
/// a handle of its own, and no strong handle can be made from it.
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
    /// `place` is the place of `block`, and the object lives as long as this `ObjectRef`.
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
        // SAFETY: the strong pointer keeps the object alive.
        unsafe { ObjectRef::new(strong.place(), strong.block()) }
    }
}
