//! An entry between its making and its insertion.

use core::mem::{self, MaybeUninit};
use core::ops::Deref;
use core::ptr;
use std::boxed::Box;

use super::entry::{Entry, end};

/// An entry that is not linked yet. The pointer is null once the entry is linked.
pub(crate) struct Unlinked<'t, N: Entry> {
    node: *mut N,
    context: &'t N::Context,
}

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
