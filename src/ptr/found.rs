//! The search by which a death finds the entry of a registration in a shared collection, and the
//! result of the search.

use core::ptr::NonNull;

use super::flavour::Flavour;
use super::header::Block;
use super::hook::{HookRef, Off};
use super::stripe::Dead;
use super::waker::Wakes;

/// The name of a registration: the address of the block (for `SHARED`, or the record's first), of
/// the record (for the record's second), or of a hook. Names are only compared.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistrationId(*mut ());

impl RegistrationId {
    #[inline]
    pub(super) fn of_block<F: Flavour>(block: Block<F>) -> Self {
        RegistrationId(block.as_ptr())
    }

    #[inline]
    pub(super) fn of_hook<F: Flavour>(hook: HookRef<F>) -> Self {
        RegistrationId(hook.as_ptr().as_ptr())
    }

    #[inline]
    pub(super) fn of_second(record: *mut ()) -> Self {
        RegistrationId(record)
    }

    #[inline]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0
    }
}

/// Finds the entry that has this registration, and unlinks the entry under the lock of its bucket.
/// The arguments are the pointer set by [`CoreRef::set_entries`], the address of the payload, the
/// hash of the registration, and a list for the hooks of the entry's other registrations, which the
/// function ends.
///
/// # Safety
/// The caller has a stripe.
pub(crate) type Unlink = unsafe fn(
    entries: *mut (),
    of: RegistrationId,
    addr: *const (),
    hash: u32,
    off: &mut Off,
) -> Found;

/// What a search for the entry of a registration has found.
pub(crate) enum Found {
    Nothing,
    /// The entry, which is unlinked now.
    Unlinked(Dead),
    /// An entry that stays linked until its token is closed.
    Tied(Tied),
}

/// A share in a [token](super::token), as the files above that file know it.
#[must_use]
pub(crate) struct Tied {
    token: NonNull<()>,
    close: unsafe fn(NonNull<()>, &mut Wakes),
}

impl Tied {
    /// # Safety
    /// `close` closes the token.
    #[cfg(feature = "std")]
    pub(super) unsafe fn new(
        token: NonNull<()>,
        close: unsafe fn(NonNull<()>, &mut Wakes),
    ) -> Self {
        Tied { token, close }
    }

    /// Takes the token out, with the share. The caller closes the token by a way of its own, and
    /// not by [`close`](Self::close).
    #[cfg(feature = "std")]
    pub(super) fn into_token(self) -> NonNull<()> {
        self.token
    }

    /// Closes the token.
    pub(super) fn close(self, wakes: &mut Wakes) {
        // SAFETY: the promise of `new`.
        unsafe { (self.close)(self.token, wakes) }
    }
}

/// The outcome of an attempt to unlink an entry.
pub(super) enum Attempt<W> {
    /// Whether the entry was found, and the result of `owed`, if the waker is to be called.
    Done(bool, Option<W>),
    /// The caller closes the token, and tries again.
    Tied(Tied),
    /// The collection has ended. The caller counts the registration.
    Closed,
}
