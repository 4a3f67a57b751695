//! The right to make a handle of a user's type out of the handle inside. The module of the type has
//! this right by the private field, and this crate has it by a permit.

use core::marker::PhantomData;

/// The permit to make a `K`, or a weak handle of `K`, out of the handle inside: the last argument
/// of [`Notify::from_handle`](crate::reference::Notify::from_handle).
///
/// Only this crate makes a permit, and only where a `K` has wrapped the object before. So the
/// private field of a newtype keeps its promise: if the module of `K` has checked a fact of its
/// handles, the fact holds for every `K`. An implementation of `Notify` ignores the permit.
// Invariant in `K`: an implementation of `Notify` gets permits for its own handles alone.
pub struct Permit<K>(PhantomData<fn(K) -> K>);

impl<K> Permit<K> {
    /// Creates a permit. The caller has the handle from a `K`, or from an entry, a weak handle or a
    /// permit of a `K`.
    #[inline]
    pub(crate) fn new() -> Self {
        Permit(PhantomData)
    }
}
