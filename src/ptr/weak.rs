//! The weak handle: the upgrader's side of the count protocol.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::ptr::{self, NonNull};

use super::count;
use super::flavour::{Flavour, Word};
use super::header::Header;
use super::side::{ASKED, Side};
use super::strong::Handle;
use crate::sync::{self, Ordering::*};

/// A weak handle: says whether its object lives, and makes a strong handle while it does.
///
/// Use it by its two names, [`Weak`](crate::Weak) and [`local::Weak`](crate::local::Weak).
///
/// It holds the object's side table, never its memory. Two weak handles are equal, and hash equal,
/// exactly if they were made from the same object, whatever its value; this stays so after the
/// death, and no object that comes later at the same address is ever equal to it (as with the
/// owner-based comparison of C++26; `std::sync::Weak` offers none). All [`new`](WeakHandle::new)
/// handles, which never had an object, are equal.
pub struct WeakHandle<T: ?Sized, F: Flavour> {
    /// The payload; dangling once the object is dead.
    ptr: NonNull<T>,
    /// Owns a reference; none for a handle that never had an object.
    side: Option<NonNull<Side<F>>>,
}

// SAFETY: as for `std::sync::Weak`: it can become a strong handle, and the record is made of atomics
// and of what its gate protects.
unsafe impl<T: ?Sized + Send + Sync> Send for WeakHandle<T, super::Atomic> {}
// SAFETY: likewise.
unsafe impl<T: ?Sized + Send + Sync> Sync for WeakHandle<T, super::Atomic> {}

impl<T, F: Flavour> WeakHandle<T, F> {
    /// A handle that never had an object: always expired, no allocation.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self::expired(NonNull::dangling())
    }
}

impl<T: ?Sized, F: Flavour> WeakHandle<T, F> {
    /// # Safety
    /// `side` is the record of the object at `ptr`, and one of its references is this handle's.
    #[inline]
    pub(crate) unsafe fn from_counted(ptr: NonNull<T>, side: NonNull<Side<F>>) -> Self {
        WeakHandle {
            ptr,
            side: Some(side),
        }
    }

    /// A handle to an object of which nothing is left to hold on to.
    pub(crate) const fn expired(ptr: NonNull<T>) -> Self {
        WeakHandle { ptr, side: None }
    }

    #[inline]
    fn side(&self) -> Option<&Side<F>> {
        // SAFETY: we hold a reference.
        self.side.map(|side| unsafe { side.as_ref() })
    }

    /// A strong handle, while the object lives. O(1). Never brings back a dead object.
    #[must_use]
    #[inline]
    pub fn upgrade(&self) -> Option<Handle<T, F>> {
        // SAFETY: `side` is the record of `ptr`, and we hold a reference to it.
        self.side
            .and_then(|side| unsafe { upgrade(self.ptr, side.as_ref()) })
    }

    /// Whether no upgrade can succeed any more: the object is dead or in its destructor. (Also
    /// before its birth, in `new_cyclic`.) False is a moment's answer.
    #[must_use]
    #[inline]
    pub fn is_expired(&self) -> bool {
        self.side().is_none_or(Side::is_expired)
    }

    /// The number of strong handles; none once the object is dead. A moment's answer.
    ///
    /// Looking at the count takes a strong handle for that moment; if all the others go meanwhile,
    /// the object dies here.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.upgrade()
            .map_or(0, |strong| Handle::strong_count(&strong) - 1)
    }

    /// How many hold on weakly, this handle included: as [`Strong::weak_count`](Handle::weak_count).
    /// Zero once the object is dead, as in `std`.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        match self.side() {
            Some(side) if !side.is_expired() => side.weak_count(),
            _ => 0,
        }
    }

    /// Whether both were made from the same object. Same as `==`.
    #[must_use]
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self == other
    }

    /// The address of the payload. Dangling once the object is dead, and another object may be there
    /// by then.
    #[must_use]
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.ptr.as_ptr()
    }
}

/// Makes a strong handle from a record, while its object lives.
///
/// # Safety
/// `side` is the record of the object whose payload is, or was, at `ptr`.
#[inline]
pub(crate) unsafe fn upgrade<T: ?Sized, F: Flavour>(
    ptr: NonNull<T>,
    side: &Side<F>,
) -> Option<Handle<T, F>> {
    // The header may be touched only when we have a unit, but its way through the caches can begin.
    Header::<F>::prefetch(ptr);
    // Relaxed: the compare-exchange decides.
    let mut units = side.strong.load(Relaxed);
    let mut turn = 0;
    // On one thread a group that has not given its unit back has not ended: it can be joined at once.
    while F::SHARED || units == 0 {
        match units {
            0 => return None,
            ASKED.. => {
                sync::relax(&mut turn);
                units = side.strong.load(Relaxed);
            }
            // A unit of our own: the object cannot die now. Never from zero: once born, zero is
            // final. (No overflow: a unit is held by the group, by upgrades under way, and by loans,
            // so there are fewer of them than twice the threads and the limit of loans.) Acquire: the payload, if `new_cyclic` has
            // just published it, and the count that whoever asked last has left.
            _ => match side
                .strong
                .compare_exchange(units, units + 1, Acquire, Relaxed)
            {
                Ok(_) => break,
                Err(now) => units = now,
            },
        }
    }
    // SAFETY: our unit keeps the object alive.
    let header = unsafe { Header::<F>::of(ptr) };
    count::join(header, side);
    // SAFETY: counted.
    Some(unsafe { Handle::from_counted(ptr) })
}

impl<T: ?Sized, F: Flavour> Clone for WeakHandle<T, F> {
    /// O(1).
    ///
    /// # Panics
    /// Aborts the process past `isize::MAX` holders of one object.
    #[inline]
    fn clone(&self) -> Self {
        if let Some(side) = self.side() {
            side.add_ref();
        }
        WeakHandle { ..*self }
    }
}

impl<T: ?Sized, F: Flavour> Drop for WeakHandle<T, F> {
    #[inline]
    fn drop(&mut self) {
        if let Some(side) = self.side {
            // SAFETY: our reference, which we give up.
            unsafe { Side::release(side) };
        }
    }
}

impl<T, F: Flavour> Default for WeakHandle<T, F> {
    /// Same as [`new`](Self::new).
    fn default() -> Self {
        Self::new()
    }
}

/// By identity: the record of an object is never another's while a weak handle holds it.
impl<T: ?Sized, F: Flavour> PartialEq for WeakHandle<T, F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.side == other.side
    }
}

impl<T: ?Sized, F: Flavour> Eq for WeakHandle<T, F> {}

impl<T: ?Sized, F: Flavour> Hash for WeakHandle<T, F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.side
            .map_or(ptr::null(), |side| side.as_ptr().cast_const())
            .hash(state);
    }
}

impl<T: ?Sized, F: Flavour> fmt::Debug for WeakHandle<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_expired() {
            "(Weak, expired)"
        } else {
            "(Weak)"
        })
    }
}
