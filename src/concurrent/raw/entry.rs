//! The entries of a table.

use crate::ptr::{CoreRef, Off, Promise, RegistrationId};
use crate::sync::AtomicPtr;

/// What a table needs to know of its entries.
pub(in super::super) trait Entry {
    /// Whether what an entry owns is destroyed as soon as no thread looks at it, or may wait until the next thread
    /// leaves.
    const PROMPT: bool;

    /// Whether entries are told apart by the addresses of their objects: to compare them runs no code of a user, and an
    /// object [that nothing is registered with](Self::register_first) has no entry.
    const BY_ADDRESS: bool = false;

    /// What the table passes to [`end`](Self::end), as long as there are entries.
    type Context;

    /// The hash. It never changes.
    fn hash(&self) -> u64;

    /// The hash of an entry, from the address of an object or what its registration has of it.
    #[inline]
    fn hash_of(_addr: *const (), short: u32) -> u64 {
        short.into()
    }

    /// Whether it counts while it waits for threads that may look at it.
    #[inline]
    fn is_counted(&self) -> bool {
        true
    }

    /// Registers with its objects, unless that has been done: their deaths unlink it. Returns how many registrations
    /// that were. Called before the entry is linked.
    #[inline]
    fn register(&self, _: CoreRef, _: &Promise) -> usize {
        0
    }

    /// Registers with its object, if nothing is registered with that; for entries that are [told apart by
    /// addresses](Self::BY_ADDRESS).
    #[inline]
    fn register_first(&self, _: CoreRef, _: &Promise) -> bool {
        false
    }

    /// Whether it is not registered, and can take over the registrations of an entry that it replaces.
    #[inline]
    fn may_inherit(&self, _: &Self) -> bool {
        false
    }

    /// Takes them over, under the lock.
    #[inline]
    fn inherit(&self, _: &Self) {}

    /// Under the lock: whether it may be linked. Not if one of its objects has died.
    #[inline]
    fn may_be_linked(&self) -> bool {
        true
    }

    /// The word of its registration with this id.
    #[inline]
    fn named(&self, _: RegistrationId) -> Option<&AtomicPtr<()>> {
        None
    }

    /// The word that leads to the next entry in a list of the dead.
    #[inline]
    fn link(&self) -> Option<&AtomicPtr<()>> {
        None
    }

    /// Ends its registrations but the one with this id, whose death has unlinked it.
    #[inline]
    fn end_others(&self, _: RegistrationId, _: &mut Off) {}

    /// Destroys an entry that no thread looks at any more.
    #[inline]
    fn end(self, _: &Self::Context)
    where
        Self: Sized,
    {
    }
}
