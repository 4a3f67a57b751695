//! The weak pointer, and the functions that make a weak pointer from a strong one.

use core::alloc::Layout;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ptr::{self, NonNull};

use super::death::Disposal;
use super::flavour::{Atomic, Flavour, Variable};
use super::header::{Block, with_address};
use super::memory;
use super::state;
use super::strong::Strong;
use crate::holders::Holder;
use crate::sync::Ordering::*;

/// A weak handle: keeps no object alive, and upgrades to a strong handle while the object is alive.
///
/// Use it as [`Weak`](crate::Weak) or [`local::Weak`](crate::local::Weak).
///
/// A weak handle keeps [a little](crate::guide::costs#memory) of a dead object's memory: a larger
/// payload is freed at the death. Two weak handles are equal, and hash equal, exactly if they were
/// made from the same object, whatever its value. They stay equal after the death, and no later
/// object at the same address is ever equal to them (as with the owner-based comparison of C++26;
/// `std::sync::Weak` offers none). All handles from [`new`](Weak::new), which never had an object,
/// are equal.
pub struct Weak<T: ?Sized, F: Flavour> {
    /// The place of an inline payload in the block, in which this pointer has a share; or
    /// [`NOWHERE`], with the metadata of the type.
    pub(super) place: NonNull<T>,
    marker: PhantomData<F>,
}

/// The address of a weak pointer that never had an object: there is no block at this address.
const NOWHERE: NonNull<u8> = match NonNull::new(ptr::without_provenance_mut(usize::MAX)) {
    Some(nowhere) => nowhere,
    None => unreachable!(),
};

// SAFETY: as for `std::sync::Weak`: the pointer can be upgraded to a strong pointer, and header and
// record consist of atomics and of cells that the gate protects.
unsafe impl<T: ?Sized + Send + Sync> Send for Weak<T, Atomic> {}
// SAFETY: as for `Send`.
unsafe impl<T: ?Sized + Send + Sync> Sync for Weak<T, Atomic> {}

impl<T, F: Flavour> Weak<T, F> {
    /// Creates a weak handle that never had an object: always expired, no allocation.
    ///
    /// For an unsized type, create a handle to a sized type and coerce it:
    /// `unsize!(Weak::<i32>::new() => dyn Display)`. See [`unsize!`](crate::unsize).
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Weak {
            place: NOWHERE.cast(),
            marker: PhantomData,
        }
    }
}

impl<T: ?Sized, F: Flavour> Weak<T, F> {
    /// # Safety
    /// `place` is the place of a block, in which this pointer has a weak share; or `place` is
    /// [`NOWHERE`].
    #[inline]
    pub(crate) unsafe fn from_counted(place: NonNull<T>) -> Self {
        Weak {
            place,
            marker: PhantomData,
        }
    }

    #[inline(always)]
    fn block(&self) -> Option<Block<F>> {
        // SAFETY: our share.
        (self.place.cast() != NOWHERE).then(|| unsafe { Block::of_place(self.place.cast()) })
    }

    /// Returns the same pointer to an unsized payload.
    ///
    /// # Safety
    /// `coerce` returns its argument, unsized by the compiler.
    #[inline]
    pub(super) unsafe fn unsize<U: ?Sized>(self, coerce: fn(*const T) -> *const U) -> Weak<U, F> {
        let this = ManuallyDrop::new(self);
        // The coercion of a raw pointer never reads the payload: the metadata comes from the types
        // alone, or from the present vtable. So the payload may be apart, dead, or may never have
        // existed. The address stays, be it a place or `NOWHERE`, and whether a payload is
        // apart does not depend on the type.
        let place = coerce(this.place.as_ptr()).cast_mut();
        Weak {
            // SAFETY: the caller's promise: the address stays, and is not null. Our share becomes
            // the share of the result.
            place: unsafe { NonNull::new_unchecked(place) },
            marker: PhantomData,
        }
    }

    /// Upgrades to a strong handle, while the object is alive. O(1). Never revives a dead object.
    ///
    /// # Panics
    /// Aborts the process past 2^30 strong handles: only leaked handles get there.
    #[must_use]
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn upgrade(&self) -> Option<Strong<T, F>> {
        let block = self.block()?;
        if !block.upgrade() {
            return None;
        }
        // SAFETY: counted.
        Some(unsafe { Strong::from_place(self.place, block) })
    }

    /// Returns whether no upgrade can succeed any more: the object is dead or in its destructor.
    /// (Also true before the object is constructed, in `new_cyclic`.) `false` is a snapshot.
    #[must_use]
    #[inline]
    pub fn is_expired(&self) -> bool {
        self.block().is_none_or(Block::is_expired)
    }

    /// Returns the number of strong handles; zero once the object is dead. A snapshot.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.block()
            .map_or(0, |block| block.strong_count() as usize)
    }

    /// Returns the number of weak handles, this handle included, and of entries: see
    /// [`Strong::weak_count`](Strong::weak_count) for the details. Zero once the object is dead, as
    /// in `std`.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        match self.block() {
            Some(block) if !block.is_expired() => block.weak_count(),
            _ => 0,
        }
    }

    /// Returns whether both were made from the same object. The same as `==`.
    #[must_use]
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self == other
    }

    /// Returns the address that [`ptr_eq`](Self::ptr_eq) compares. The address is no other object's
    /// while this handle has its share, and is the same for all handles that never had an object.
    #[inline]
    pub(crate) fn identity(&self) -> *const () {
        self.place.as_ptr().cast()
    }

    /// Returns the address of the payload. The address dangles once the object is dead; then
    /// another object may be there, if the payload with its header was larger than 256 bytes.
    #[must_use]
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        let place = self.block().map_or(self.place, |block| {
            with_address(self.place, block.payload())
        });
        place.as_ptr()
    }
}

impl<T, F: Flavour> Strong<T, F> {
    /// Creates an object that contains a weak handle to itself. The handle is expired until `f`
    /// returns.
    ///
    /// # Panics
    /// Panics if `f` panics; the weak handle then stays expired for ever.
    ///
    /// ```
    /// use weakly::{Strong, Weak};
    ///
    /// struct Node { me: Weak<Node> }
    /// let node = Strong::new_cyclic(|me| {
    ///     assert!(me.upgrade().is_none());
    ///     Node { me: me.clone() }
    /// });
    /// assert!(Strong::ptr_eq(&node.me.upgrade().unwrap(), &node));
    /// ```
    #[must_use]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn new_cyclic(f: impl FnOnce(&Weak<T, F>) -> T) -> Self {
        let layout = Layout::new::<T>();
        // One share is the object's, the other is for the weak pointer below.
        let ptr = memory::allocate::<F>(layout, 0, state::weak(2)).cast::<T>();
        // SAFETY: just allocated.
        let block = unsafe { Block::<F>::of(ptr.cast(), layout) };
        // SAFETY: the second share.
        let weak = unsafe { Weak::from_counted(with_address(ptr, block.place()).cast()) };
        // If `f` panics, the guard does everything after a destructor, but runs no destructor.
        let on_panic = Disposal::<F> {
            block,
            payload: ptr.cast(),
            layout,
        };
        let value = f(&weak);
        // Listed before other threads can upgrade.
        let holder = Holder::first(ptr.as_ptr(), layout.size());
        mem::forget(on_panic);
        // SAFETY: memory of this layout, not written before.
        unsafe { ptr.write(value) };
        // Release: a later upgrade (acquire) sees the payload.
        block.header().count.store(1, Release);
        // SAFETY: the memory is initialised, and the pointer counted once.
        unsafe { Self::listed(ptr, holder) }
    }
}

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// Returns a weak handle to the same object. O(1); allocates only if the object has entries in
    /// collections and no weak handle yet.
    #[must_use]
    #[inline]
    pub fn downgrade(this: &Self) -> Weak<T, F> {
        // SAFETY: a strong pointer; the new share is the weak pointer's.
        unsafe {
            this.block().downgrade();
            Weak::from_counted(this.place())
        }
    }
}

impl<T: ?Sized, F: Flavour> Clone for Weak<T, F> {
    /// Creates one more weak handle to the same object. O(1).
    ///
    /// # Panics
    /// Aborts the process past 2^29 weak handles, or as many entries, of one object that has an
    /// entry or a finalizer.
    #[inline]
    fn clone(&self) -> Self {
        if let Some(block) = self.block() {
            // SAFETY: our share.
            unsafe { block.clone_weak() };
        }
        Weak { ..*self }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Weak<T, F> {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block() {
            // SAFETY: our share, which we give up.
            unsafe { block.release_weak() };
        }
    }
}

impl<T, F: Flavour> Default for Weak<T, F> {
    /// Same as [`new`](Self::new).
    fn default() -> Self {
        Self::new()
    }
}

/// Compares by identity. While a weak handle has a share in the block of an object, no other object
/// gets the block.
impl<T: ?Sized, F: Flavour> PartialEq for Weak<T, F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl<T: ?Sized, F: Flavour> Eq for Weak<T, F> {}

impl<T: ?Sized, F: Flavour> Hash for Weak<T, F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl<T: ?Sized, F: Flavour> fmt::Debug for Weak<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_expired() {
            "(Weak, expired)"
        } else {
            "(Weak)"
        })
    }
}
