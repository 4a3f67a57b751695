//! The weak handle.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::flavour::{Atomic, Flavour};
use super::header::{Block, with_address};
use super::strong::Strong;

/// A weak handle: says whether its object lives, and makes a strong handle while it does.
///
/// Use it by its two names, [`Weak`](crate::Weak) and [`local::Weak`](crate::local::Weak).
///
/// It keeps no payload, and of a dead object's memory at most 256 bytes: a larger payload is freed at the
/// death. Two weak handles are equal, and hash equal, exactly if they were made from the same object,
/// whatever its value; this stays so after the death, and no object that comes later at the same address is ever equal to it (as with the
/// owner-based comparison of C++26; `std::sync::Weak` offers none). All [`new`](Weak::new)
/// handles, which never had an object, are equal.
pub struct Weak<T: ?Sized, F: Flavour> {
    /// The place of an inline payload in the block, of which this handle has a share; or [`NOWHERE`], with
    /// the metadata of the type.
    place: NonNull<T>,
    like: PhantomData<F>,
}

/// The address of a handle that never had an object: no block is there.
const NOWHERE: NonNull<u8> = match NonNull::new(ptr::without_provenance_mut(usize::MAX)) {
    Some(nowhere) => nowhere,
    None => unreachable!(),
};

// SAFETY: as for `std::sync::Weak`: it can become a strong handle, and header and record are made of
// atomics and of what the gate protects.
unsafe impl<T: ?Sized + Send + Sync> Send for Weak<T, Atomic> {}
// SAFETY: likewise.
unsafe impl<T: ?Sized + Send + Sync> Sync for Weak<T, Atomic> {}

impl<T, F: Flavour> Weak<T, F> {
    /// A handle that never had an object: always expired, no allocation.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Weak {
            place: NOWHERE.cast(),
            like: PhantomData,
        }
    }
}

impl<T: ?Sized, F: Flavour> Weak<T, F> {
    /// # Safety
    /// `place` is that of a block, of which one weak share is this handle's.
    #[inline]
    pub(crate) unsafe fn from_counted(place: NonNull<T>) -> Self {
        Weak {
            place,
            like: PhantomData,
        }
    }

    #[inline(always)]
    fn block(&self) -> Option<Block<F>> {
        // SAFETY: our share.
        (self.place.cast() != NOWHERE).then(|| unsafe { Block::of_place(self.place.cast()) })
    }

    /// A strong handle, while the object lives. O(1). Never brings back a dead object.
    ///
    /// # Panics
    /// Aborts the process past 2^30 strong handles: only forgotten ones get there.
    #[must_use]
    #[inline]
    pub fn upgrade(&self) -> Option<Strong<T, F>> {
        let block = self.block()?;
        // SAFETY: counted.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_place(self.place, block) })
    }

    /// Whether no upgrade can succeed any more: the object is dead or in its destructor. (Also
    /// before its birth, in `new_cyclic`.) False is a moment's answer.
    #[must_use]
    #[inline]
    pub fn is_expired(&self) -> bool {
        self.block().is_none_or(Block::is_expired)
    }

    /// The number of strong handles; none once the object is dead. A moment's answer.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.block()
            .map_or(0, |block| block.strong_count() as usize)
    }

    /// How many hold on weakly, this handle included: as [`Strong::weak_count`](Strong::weak_count).
    /// Zero once the object is dead, as in `std`.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        match self.block() {
            Some(block) if !block.is_expired() => block.weak_count(),
            _ => 0,
        }
    }

    /// Whether both were made from the same object. Same as `==`.
    #[must_use]
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self == other
    }

    /// The address of the payload. Dangling once the object is dead; then another may be there, if this one
    /// was larger than 256 bytes with its header.
    #[must_use]
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        let place = self.block().map_or(self.place, |block| {
            with_address(self.place, block.payload())
        });
        place.as_ptr()
    }
}

impl<T: ?Sized, F: Flavour> Clone for Weak<T, F> {
    /// O(1).
    ///
    /// # Panics
    /// Aborts the process past `isize::MAX` holders of one object.
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

/// By identity: the block of an object is never another's while a weak handle has a share of it.
impl<T: ?Sized, F: Flavour> PartialEq for Weak<T, F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.place.as_ptr(), other.place.as_ptr())
    }
}

impl<T: ?Sized, F: Flavour> Eq for Weak<T, F> {}

impl<T: ?Sized, F: Flavour> Hash for Weak<T, F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.cast::<()>().hash(state);
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
