//! An entry between its making and its insertion.

use core::mem::{self, MaybeUninit};
use core::ops::Deref;
use core::ptr;
use std::boxed::Box;

use super::entry::{Entry, Registered};
use crate::sync::{AtomicUsize, Ordering::Relaxed};

/// An entry that is not linked yet. The pointer is null once the entry is linked.
pub(in super::super) struct Unlinked<'t, N: Entry> {
    node: *mut N,
    context: &'t N::Context,
    /// A word and a value: the entry may not be linked if the word has changed by then.
    unless_changed: Option<(&'t AtomicUsize, usize)>,
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
            unless_changed: None,
        }
    }

    /// Forbids linking the entry once `word` no longer has this value.
    pub(in super::super) fn unless_changed(&mut self, word: &'t AtomicUsize, value: usize) {
        self.unless_changed = Some((word, value));
    }

    /// Returns whether the entry has a condition for its linking.
    #[inline]
    pub(super) fn is_conditional(&self) -> bool {
        self.unless_changed.is_some()
    }

    /// Returns whether the entry may be linked, under the lock of its bucket. See
    /// [`Registered::may_be_linked`].
    #[inline]
    pub(super) fn may_be_linked(&self) -> bool {
        // Relaxed: a thread that changes the word then passes the lock of the bucket.
        let is_changed = |(word, value): (&AtomicUsize, usize)| word.load(Relaxed) != value;
        !self.unless_changed.is_some_and(is_changed)
            && self.watch().is_none_or(Registered::may_be_linked)
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
            // SAFETY: from `Box::into_raw`, and no other thread has seen the entry. (Under loom the
            // memory is kept, as for all entries.)
            #[cfg(not(weakly_loom))]
            let node = unsafe { *Box::from_raw(self.node) };
            // SAFETY: as above.
            #[cfg(weakly_loom)]
            let node = unsafe { self.node.read() };
            node.end(self.node, self.context);
        }
    }
}
