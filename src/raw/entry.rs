//! The entries of a table.

use core::mem::MaybeUninit;
use std::boxed::Box;

#[cfg(feature = "holders")]
use super::rest::RawCounts;
use crate::ptr::{CoreRef, Off, Promise, RegistrationId, SharedWatch, Token};
#[cfg(feature = "holders")]
use crate::statistics::Statistics;
use crate::sync::AtomicPtr;

/// The operations that a table needs of its entries.
pub(crate) trait Entry {
    /// Whether an entry owns a value with a user destructor. Then threads gather fewer entries (D7
    /// of [`batch`](super::batch)).
    const PROMPT: bool;

    /// The context that the table passes to [`end`](Self::end). It is made when it is first used,
    /// and lasts until the last entry has ended.
    type Context: Default;

    /// The entry's way to watch objects.
    type Watch: Registered;

    /// Returns the hash, which never changes.
    fn hash(&self) -> u64;

    /// Returns the hash of an entry, computed from the address of an object or from the hash that
    /// the registration stores.
    #[inline]
    fn hash_of(_addr: *const (), short: u32) -> u64 {
        short.into()
    }

    /// Returns whether the table counts the entry, both as linked and while it waits for the end of
    /// visits.
    #[inline]
    fn is_counted(&self) -> bool {
        true
    }

    /// Returns the watch of the entry's objects, if the entry has objects.
    #[inline]
    fn watch(&self) -> Option<&Self::Watch> {
        None
    }

    /// Returns the part of the hash that registrations store for [`hash_of`](Self::hash_of), or
    /// `None` if `hash_of` needs only the address.
    #[inline]
    fn stored_hash(&self) -> Option<u32> {
        None
    }

    /// Returns whether the end of the entry is no more than its drop. Then the entry is dropped in
    /// place, and [`end`](Self::end) is not called. The answer `false` is always right.
    #[inline]
    #[cfg_attr(weakly_loom, allow(dead_code))]
    fn only_drops(&self, _: &Self::Context) -> bool {
        false
    }

    /// Returns the counts of the table with this context.
    #[cfg(feature = "holders")]
    fn statistics(_: &Self::Context, _: &RawCounts) -> Statistics {
        Statistics::default()
    }

    /// Destroys an entry that was at `_place`, and that no thread looks at any more.
    #[inline]
    fn end(self, _place: *const Self, _: &Self::Context)
    where
        Self: Sized,
    {
    }
}

/// The registrations of an entry. The provided methods are those of an entry with a single object.
/// The trait is separate from [`Watches`](crate::concurrent::Watches). Objects may own a collection
/// of objects of their own type. Whether such a collection may cross threads must depend on that
/// type only through auto traits, or the question would depend on itself.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Registered {
    /// The type of the object of [`only`](Self::only).
    #[doc(hidden)]
    type Of: ?Sized;
    /// Whether entries have slots for tokens.
    #[doc(hidden)]
    const TIES: bool = false;
    /// Returns the watch of an entry with a single object, if the death of the object unlinks the
    /// entry.
    #[doc(hidden)]
    #[inline]
    fn only(&self) -> Option<&SharedWatch<Self::Of>> {
        None
    }
    /// Registers with the entry's objects, unless the entry is registered: from now on deaths of
    /// the objects unlink the entry. Returns the number of registrations made. Called before the
    /// entry is linked.
    #[doc(hidden)]
    #[inline]
    fn register(&self, core: CoreRef, hash: Option<u32>, kept: &Promise) -> usize {
        let watch = self.only();
        watch.map_or(0, |watch| watch.register(core, hash, kept).into())
    }
    /// Registers with the entry's object, if nothing is registered with the object. Returns whether
    /// the entry is registered now. For entries compared by addresses.
    #[doc(hidden)]
    #[inline]
    fn register_first(&self, core: CoreRef, kept: &Promise) -> bool {
        let watch = self.only();
        watch.is_some_and(|watch| watch.register_first(core, kept))
    }
    /// Returns whether the entry is not registered, and can take over the registrations of the
    /// entry that it replaces.
    #[doc(hidden)]
    #[inline]
    fn may_inherit(&self, there: &Self) -> bool {
        let both = self.only().zip(there.only());
        both.is_some_and(|(watch, there)| watch.is_unregistered() && watch.is_like(there))
    }
    /// Takes over the registrations of the replaced entry, under the lock.
    #[doc(hidden)]
    #[inline]
    fn inherit(&self, there: &Self) {
        if let Some((watch, there)) = self.only().zip(there.only()) {
            watch.inherit(there);
        }
    }
    /// Returns whether another entry has taken over the registrations of this entry, which was
    /// linked.
    #[doc(hidden)]
    #[inline]
    fn has_heir(&self) -> bool {
        self.only().is_some_and(SharedWatch::is_unregistered)
    }
    /// Returns whether the entry may be linked, under the lock. An entry may not be linked if an
    /// object of the entry has died, and the death has already searched for the entry.
    #[doc(hidden)]
    #[inline]
    fn may_be_linked(&self) -> bool {
        true
    }
    /// Returns whether no death has ended a registration of the entry.
    #[doc(hidden)]
    fn is_registered(&self) -> bool {
        self.only().is_none_or(SharedWatch::is_registered)
    }
    /// Returns the word of the entry's registration with this id.
    #[doc(hidden)]
    #[inline]
    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.only()?.named(id)
    }
    /// Returns the word that leads to the next entry in a list of the dead.
    #[doc(hidden)]
    #[inline]
    fn link(&self) -> Option<&AtomicPtr<()>> {
        self.only()?.link()
    }
    /// Ends the entry's registrations, except the registration with this id, whose death has
    /// unlinked the entry.
    #[doc(hidden)]
    #[inline]
    fn end_others(&self, _: RegistrationId, _: &mut Off) {}
    /// Ends the only registration of an unlinked entry of the table with this core, and gives the
    /// watch's share of the object back. No thread looks at the entry. Returns false if that takes
    /// more than one step: then the drop of the watch does it.
    #[doc(hidden)]
    #[inline]
    fn finish(&self, core: CoreRef) -> bool {
        self.only().is_some_and(|watch| watch.finish(core))
    }
    /// Ends the slot of the entry's token, because the caller is about to unlink the entry, under
    /// the lock. The error is an open token: the caller unlocks, closes the token, and begins anew.
    #[doc(hidden)]
    #[inline]
    fn untie(&self) -> Result<(), Token> {
        Ok(())
    }
    /// Returns the bytes of the memory that the registrations have beside the entry.
    #[doc(hidden)]
    fn memory_usage(&self) -> usize {
        self.only().map_or(0, SharedWatch::memory_usage)
    }
    /// Returns whether other entries, or computations under way, depend on the entry now.
    #[doc(hidden)]
    #[inline]
    fn has_dependents(&self) -> bool {
        false
    }
    /// Ends the entry's registrations, because the entry is unlinked. May be called again. Dropping
    /// a watch ends its registrations, too.
    #[doc(hidden)]
    #[inline]
    fn end(&self, off: &mut Off) {
        if let Some(watch) = self.only() {
            watch.end(off);
        }
    }
}

/// Ends an entry, and returns its memory. Under loom the memory is kept, so that late accesses are
/// detected: the entries of this room's models end in place.
///
/// # Safety
/// The entry comes from `Box::into_raw`, and no thread looks at it.
#[inline]
pub(super) unsafe fn end<N: Entry>(
    node: *mut N,
    context: &N::Context,
) -> Option<Box<MaybeUninit<N>>> {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(weakly_loom))]
        {
            // First, so that the memory is freed if a destructor panics.
            let mut place = Box::from_raw(node.cast::<MaybeUninit<N>>());
            // To copy the fields of an entry costs as much as to drop them.
            if place.assume_init_ref().only_drops(context) {
                place.assume_init_drop();
            } else {
                place.assume_init_read().end(node, context);
            }
            Some(place)
        }
        #[cfg(weakly_loom)]
        {
            node.read().end(node, context);
            None
        }
    }
}

/// Takes an entry out of its memory. Under loom the memory is kept, as by [`end`].
///
/// # Safety
/// As for [`end`].
#[inline]
pub(super) unsafe fn take<N: Entry>(node: *mut N) -> (N, Option<Box<MaybeUninit<N>>>) {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(weakly_loom))]
        {
            let place = Box::from_raw(node.cast::<MaybeUninit<N>>());
            (place.assume_init_read(), Some(place))
        }
        #[cfg(weakly_loom)]
        (node.read(), None)
    }
}
