//! The end of a table, and of what was retired from it.

use core::mem::MaybeUninit;
use std::boxed::Box;
use std::vec::Vec;

use super::array::Array;
use super::dead;
use super::entry::Entry;
use super::retired::Retire;
use super::table::RawTable;
use crate::panics::FirstPanic;
use crate::ptr::STRIPES;
use crate::sync::Ordering::*;

impl<N: Entry> Drop for RawTable<N> {
    /// Destroys everything, even if some destructors panic.
    fn drop(&mut self) {
        let Some(core) = self.core() else { return };
        let mut panics = FirstPanic::default();
        // First: an array there passes the stripes.
        self.domain.end(&mut panics);
        // SAFETY: the end of the table. From here on all entries are ours.
        let closed = unsafe { core.close() };
        let mut all = Vec::new();
        for stripe in 0..STRIPES {
            let (first, count) = closed.take(stripe);
            // SAFETY: the list is of entries of this table, and no death uses it any more.
            all.extend(unsafe { dead::list::<N>(first, count) });
        }
        // Relaxed: no other thread is there.
        let current = self.current.load(Relaxed);
        // SAFETY: no thread is inside.
        if let Some(array) = unsafe { current.as_ref() } {
            // All are collected before the first is destroyed, since collecting reads their hashes.
            for index in 0..array.len() {
                array.each(index, &mut |node| all.push(node));
            }
        }
        for node in all {
            // SAFETY: R1: linked in one place, or in one list, and no thread unlinks it.
            panics.catch(|| unsafe { N::destroy(node, self.domain.context()) });
        }
        // SAFETY: made by `Box`, and no thread is inside.
        unsafe {
            if let Some(array) = current.as_ref() {
                let next = array.next_ptr();
                Array::free(current);
                if !next.is_null() {
                    Array::free(next);
                }
            }
        }
        closed.leave(self.domain.registered());
        panics.resume();
    }
}

impl<N: Entry> Retire<N::Context> for N {
    fn is_counted(&self) -> bool {
        Entry::is_counted(self)
    }

    /// The entry is from `Box::into_raw`.
    unsafe fn destroy(node: *mut N, context: &N::Context) {
        // SAFETY: the caller's promise.
        drop(unsafe { end(node, context) });
    }
}

/// Ends an entry, and returns its memory. Under loom that is kept, so that late accesses are
/// detected: of the entries that the models of this room have, which end where they are.
///
/// # Safety
/// It is from `Box::into_raw`, and no thread looks at it.
#[inline]
pub(super) unsafe fn end<N: Entry>(
    node: *mut N,
    context: &N::Context,
) -> Option<Box<MaybeUninit<N>>> {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(weakly_loom))]
        {
            // First, so that it goes if a destructor panics.
            let place = Box::from_raw(node.cast::<MaybeUninit<N>>());
            place.assume_init_read().end(node, context);
            Some(place)
        }
        #[cfg(weakly_loom)]
        {
            node.read().end(node, context);
            None
        }
    }
}

impl<N: Entry> Retire<N::Context> for Array<N> {
    fn is_counted(&self) -> bool {
        false
    }

    /// The array is from `Box::into_raw`.
    unsafe fn destroy(array: *mut Self, _: &N::Context) {
        // SAFETY: the caller's promise. Deaths do not enter: those that may use it are passed, and
        // find the next.
        unsafe {
            (*array).core().pass();
            Array::free(array);
        }
    }
}
