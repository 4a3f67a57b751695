//! An entry between its making and its insertion.

use core::mem::{self, MaybeUninit};
use core::ops::Deref;
use core::ptr;
use std::boxed::Box;

use super::entry::{Entry, Registered, end};
use crate::ptr::{CoreRef, Promise};

/// An entry that is not linked yet. The pointer is null once the entry is linked.
pub(crate) struct Unlinked<'t, N: Entry> {
    node: *mut N,
    context: &'t N::Context,
}

/// The watch of a new entry, and the watch whose registration the new entry inherits.
type Heirs<'n, W> = Option<(&'n W, &'n W)>;

impl<'t, N: Entry> Unlinked<'t, N> {
    /// Makes an entry in the memory `place`.
    #[inline(always)]
    pub(super) fn new(
        mut place: Box<MaybeUninit<N>>,
        make: impl FnOnce() -> N,
        context: &'t N::Context,
    ) -> Self {
        place.write(make());
        Unlinked {
            node: Box::into_raw(place).cast(),
            context,
        }
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *mut N {
        self.node
    }

    /// Returns the watch of the entry, and the watch of the `old` entry, if the former may inherit
    /// the registration of the latter. Otherwise registers the entry. Also returns the number of
    /// registrations made.
    #[inline(always)]
    pub(super) fn inherit_or_register<'n>(
        &'n self,
        old: Option<&'n N>,
        core: CoreRef,
    ) -> (Heirs<'n, N::Watch>, usize) {
        let heirs = self.watch().zip(old.and_then(N::watch));
        let heirs = heirs.filter(|(watch, there)| watch.may_inherit(there));
        let watch = self.watch().filter(|_| heirs.is_none());
        let more = watch.map_or(0, |watch| {
            // SAFETY: an entry that is not linked yet does not outlive the handles to its objects
            // (`RawTable::entry`), and no other thread knows the entry.
            let kept = unsafe { Promise::given() };
            watch.register(core, self.stored_hash(), &kept)
        });
        (heirs, more)
    }

    /// Gives up the entry, which is about to be linked.
    #[inline]
    pub(super) fn link(&mut self) -> *mut N {
        mem::replace(&mut self.node, ptr::null_mut())
    }
}

impl<N: Entry> Deref for Unlinked<'_, N> {
    type Target = N;

    #[inline]
    fn deref(&self) -> &N {
        debug_assert!(!self.node.is_null(), "the entry has been linked");
        // SAFETY: `self` owns the entry until it is linked. After that the caller does not use
        // `self`.
        unsafe { &*self.node }
    }
}

impl<N: Entry> Drop for Unlinked<'_, N> {
    fn drop(&mut self) {
        if !self.node.is_null() {
            // SAFETY: from `Box::into_raw`, and no other thread has seen the entry.
            drop(unsafe { end(self.node, self.context) });
        }
    }
}
