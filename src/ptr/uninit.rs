//! Objects that are made before their payloads.

use core::alloc::Layout;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::strong::Strong;
use super::{memory, state};
use crate::holders::Holder;

impl<T, F: Flavour> Strong<T, F> {
    /// Creates an object whose payload is written afterwards, in place. One allocation.
    ///
    /// Code that has a handle to the object may watch it before the payload is written, by its
    /// present type: weak handles, entries and finalizers stay. If the object dies before
    /// [`assume_init`](Strong::assume_init), no payload is dropped.
    ///
    /// ```
    /// use weakly::Strong;
    ///
    /// let mut five = Strong::<u32>::new_uninit();
    /// Strong::get_mut(&mut five).unwrap().write(5);
    /// // SAFETY: written just now.
    /// let five = unsafe { five.assume_init() };
    /// assert_eq!(*five, 5);
    /// ```
    #[must_use]
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn new_uninit() -> Strong<MaybeUninit<T>, F> {
        let ptr = memory::allocate::<F>(Layout::new::<T>(), 1, state::NONE).cast();
        // SAFETY: new memory, counted once; there is no payload to be dropped.
        let mut memory = unsafe { Strong::unlisted(ptr) };
        memory.holder = Holder::first(ptr.cast::<T>().as_ptr(), size_of::<T>());
        memory
    }
}

impl<T, F: Flavour> Strong<[T], F> {
    /// Creates a slice of this length, whose elements are written afterwards, in place. One
    /// allocation.
    ///
    /// # Panics
    /// If the elements take more than `isize::MAX` bytes.
    ///
    /// ```
    /// use weakly::Strong;
    ///
    /// let mut squares = Strong::<[u32]>::new_uninit_slice(4);
    /// for (place, n) in Strong::get_mut(&mut squares).unwrap().iter_mut().zip(0..) {
    ///     place.write(n * n);
    /// }
    /// // SAFETY: all are written.
    /// let squares = unsafe { squares.assume_init() };
    /// assert_eq!(*squares, [0, 1, 4, 9]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Strong<[MaybeUninit<T>], F> {
        let Ok(layout) = Layout::array::<T>(len) else {
            panic!("capacity overflow")
        };
        let memory = memory::allocate::<F>(layout, 1, state::NONE).cast();
        let ptr = NonNull::slice_from_raw_parts(memory, len);
        // SAFETY: as in `new_uninit`.
        let mut slice = unsafe { Strong::unlisted(ptr) };
        slice.holder = Holder::first(ptr.as_ptr() as *const [T], layout.size());
        slice
    }
}

impl<T, F: Flavour> Strong<MaybeUninit<T>, F> {
    /// Returns the same handle to the payload, which has been written. O(1).
    ///
    /// # Safety
    /// The payload is initialised. (As with `Arc`, other handles to the object know the object by
    /// its old type.)
    #[must_use = "this drops the handle"]
    #[inline]
    pub unsafe fn assume_init(self) -> Strong<T, F> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the same pointer, to the same layout; the payload is initialised.
        unsafe { Strong::listed(this.ptr.cast(), this.holder) }
    }
}

impl<T, F: Flavour> Strong<[MaybeUninit<T>], F> {
    /// Returns the same handle to the elements, which have been written. O(1).
    ///
    /// # Safety
    /// All elements are initialised.
    #[must_use = "this drops the handle"]
    #[inline]
    pub unsafe fn assume_init(self) -> Strong<[T], F> {
        let this = ManuallyDrop::new(self);
        let ptr = NonNull::slice_from_raw_parts(this.ptr.cast::<T>(), this.ptr.len());
        // SAFETY: the same pointer, to the same layout; all elements are initialised.
        unsafe { Strong::listed(ptr, this.holder) }
    }
}
