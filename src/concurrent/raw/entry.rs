//! The entries of a table.

use crate::ptr::{CoreRef, Off, Promise, RegistrationId};
use crate::sync::AtomicPtr;

/// What a table needs to know of its entries.
pub(in super::super) trait Entry {
    /// Whether an entry owns something with a destructor of users: then threads gather less (D7 of
    /// [`batch`](super::batch)).
    const PROMPT: bool;

    /// Whether entries are told apart by the addresses of their objects: to compare them runs no
    /// code of a user, and an object [that nothing is registered with](Registered::register_first)
    /// has no entry.
    const BY_ADDRESS: bool = false;

    /// What the table passes to [`end`](Self::end), as long as there are entries. It is made when
    /// it is first used.
    type Context: Default;

    /// How it watches objects.
    type Watch: Registered;

    /// The hash. It never changes.
    fn hash(&self) -> u64;

    /// The hash of an entry, from the address of an object or what its registration has of it.
    #[inline]
    fn hash_of(_addr: *const (), short: u32) -> u64 {
        short.into()
    }

    /// Whether the table counts it: among its entries, and while it waits for threads that may look
    /// at it.
    #[inline]
    fn is_counted(&self) -> bool {
        true
    }

    /// The watch of the entry's objects, if the entry has objects.
    #[inline]
    fn watch(&self) -> Option<&Self::Watch> {
        None
    }

    /// What its registrations have of its hash, for [`hash_of`](Self::hash_of); `None` if that
    /// needs the address alone.
    #[inline]
    fn stored_hash(&self) -> Option<u32> {
        None
    }

    /// Destroys an entry that no thread looks at any more, and that was at this place.
    #[inline]
    fn end(self, _place: *const Self, _: &Self::Context)
    where
        Self: Sized,
    {
    }
}

/// The registrations of an entry: a trait apart from [`Watches`](super::super::watch::Watches), and
/// independent of the objects' types: whether a collection may cross threads must not depend on a
/// type of objects that own such a collection, except by auto traits, or the question would depend
/// on itself.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Registered {
    /// Registers with its objects, unless that has been done: their deaths unlink the entry.
    /// Returns how many registrations that were. Called before the entry is linked.
    #[doc(hidden)]
    #[inline]
    fn register(&self, _core: CoreRef, _hash: Option<u32>, _: &Promise) -> usize {
        0
    }
    /// Registers with its object, if nothing is registered with that; for entries that are [told
    /// apart by addresses](Entry::BY_ADDRESS).
    #[doc(hidden)]
    #[inline]
    fn register_first(&self, _core: CoreRef, _: &Promise) -> bool {
        false
    }
    /// Whether it is not registered, and can take over the registrations of an entry that it
    /// replaces.
    #[doc(hidden)]
    #[inline]
    fn may_inherit(&self, _there: &Self) -> bool {
        false
    }
    /// Takes them over, under the lock.
    #[doc(hidden)]
    #[inline]
    fn inherit(&self, _there: &Self) {}
    /// Under the lock: whether the entry may be linked. Not if one of its objects has died, as far
    /// as its death has looked for the entry.
    #[doc(hidden)]
    #[inline]
    fn may_be_linked(&self) -> bool {
        true
    }
    /// Whether no death has ended its registrations.
    #[doc(hidden)]
    #[inline]
    fn is_registered(&self) -> bool {
        true
    }
    /// The word of its registration with this id.
    #[doc(hidden)]
    #[inline]
    fn named(&self, _: RegistrationId) -> Option<&AtomicPtr<()>> {
        None
    }
    /// The word that leads to the next entry in a list of the dead.
    #[doc(hidden)]
    #[inline]
    fn link(&self) -> Option<&AtomicPtr<()>> {
        None
    }
    /// Ends its registrations but the one with this id, whose death has unlinked the entry.
    #[doc(hidden)]
    #[inline]
    fn end_others(&self, _: RegistrationId, _: &mut Off) {}
    /// Ends the registrations: the entry is unlinked. May be called again. A watch that is dropped
    /// ends its own, too.
    #[doc(hidden)]
    #[inline]
    fn end(&self, _: &mut Off) {}
}
