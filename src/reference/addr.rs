//! Addresses that identify a key.

use core::fmt;
use core::marker::PhantomData;

use super::key::Identify;
use super::strong::{StrongRef, WeakRef};

/// The address of a target. An `Addr` identifies a key where a plain reference is not accepted. See
/// [`Identify`].
pub struct Addr<'a, T: ?Sized>(*const (), PhantomData<&'a T>);

impl<'a, T: ?Sized> Addr<'a, T> {
    /// Creates the address of a value that is the whole target of a key, not only a part of a
    /// target.
    #[must_use]
    #[inline]
    pub fn of(target: &'a T) -> Self {
        Addr(core::ptr::from_ref(target).cast(), PhantomData)
    }
}

impl<T: ?Sized> Clone for Addr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Addr<'_, T> {}

impl<T: ?Sized> fmt::Debug for Addr<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}

impl<T: ?Sized, K: StrongRef<Target = T>> Identify<K> for Addr<'_, T> {
    #[inline]
    fn addr(this: &Self) -> *const () {
        this.0
    }
}

/// Returns the address of a target that has a size. A zero-sized type fails to compile.
#[inline]
pub(super) fn addr_of_sized<T>(target: &T) -> *const () {
    const {
        assert!(
            size_of::<T>() != 0,
            "a reference to a zero-sized value does not identify a key: pass the handle, or `&Addr::of(reference)`"
        );
    }
    core::ptr::from_ref(target).cast()
}

/// Returns the address of a live target, or null. The address of an expired handle's target may
/// belong to another object by now.
#[inline]
pub(super) fn addr_if_live<W: WeakRef>(weak: &W) -> *const () {
    if weak.is_expired() {
        core::ptr::null()
    } else {
        WeakRef::addr(weak)
    }
}
