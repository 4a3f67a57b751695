//! The end of a table, and the destruction of retired entries and arrays.

#[cfg(not(weakly_loom))]
use core::mem::MaybeUninit;
#[cfg(not(weakly_loom))]
use std::boxed::Box;
use std::vec::Vec;

use super::array::Array;
use super::dead;
use super::entry::{Entry, Registered, end};
use super::retired::Retire;
use super::table::RawTable;
use crate::panics::FirstPanic;
use crate::ptr::Wakes;
use crate::sync::Ordering::*;

impl<N: Entry> Drop for RawTable<N> {
    /// Destroys all entries, even if some destructors panic.
    fn drop(&mut self) {
        let Some(core) = self.core() else { return };
        #[cfg(feature = "holders")]
        super::listed::end(core);
        let mut panics = FirstPanic::default();
        // First the domain: a retired array there still passes the stripes.
        self.domain.end(&mut panics);
        // Relaxed: no other thread has access.
        let current = self.current.load(Relaxed);
        // SAFETY: no thread is inside.
        let array = unsafe { current.as_ref() };
        let entries = |all: &mut Vec<*mut N>| {
            let array = array.into_iter();
            array.for_each(|array| {
                (0..array.len()).for_each(|index| array.each(index, &mut |node| all.push(node)));
            });
        };
        let mut all = Vec::new();
        if N::Watch::TIES {
            // K3 of `ptr::token`, for entries of other tables. Before the stripes are closed: the
            // death of an input has to find its entry until the dependents have ended.
            let mut wakes = Wakes::NONE;
            entries(&mut all);
            for node in all.drain(..) {
                // SAFETY: deaths unlink entries meanwhile, but only this thread destroys them.
                if let Err(token) = dead::untie(unsafe { &*node }) {
                    token.close(&mut wakes);
                }
            }
            panics.catch(|| drop(wakes));
        }
        // SAFETY: the table ends. From here on the calling thread owns all entries.
        let closed = unsafe { core.close() };
        for stripe in 0..core.stripes() {
            let (first, count) = closed.take(stripe);
            // SAFETY: the list has `count` entries of this table, and no death uses the list any
            // more.
            all.extend(unsafe { dead::list::<N>(first, count) });
        }
        // All entries are collected before the first is destroyed, because collecting reads their
        // hashes.
        entries(&mut all);
        for node in all {
            // SAFETY: R1: the entry is linked in one slot, or in one list, and no thread unlinks
            // it.
            panics.catch(|| unsafe { N::destroy(node, self.context()) });
        }
        // SAFETY: made by `Box`, and no thread is inside.
        unsafe {
            if let Some(array) = array {
                let next = array.next_ptr();
                Array::free(current);
                if !next.is_null() {
                    Array::free(next);
                }
            }
        }
        self.domain.participants.each(|participant| {
            let parked = participant.parked.get();
            for memory in parked.into_iter().flat_map(|parked| parked.take_all::<N>()) {
                // SAFETY: E2: the memory of an entry, from `Box::into_raw`.
                #[cfg(not(weakly_loom))]
                drop(unsafe { Box::<MaybeUninit<N>>::from_raw(memory.cast()) });
                #[cfg(weakly_loom)]
                drop(unsafe { end(memory, self.context()) });
            }
        });
        closed.leave(self.domain.registered());
        panics.resume();
    }
}

impl<N: Entry> Retire for N {
    type Context = N::Context;

    fn is_counted(&self) -> bool {
        Entry::is_counted(self)
    }

    /// The entry comes from `Box::into_raw`.
    unsafe fn destroy(node: *mut N, context: &N::Context) {
        // SAFETY: the caller's promise.
        drop(unsafe { end(node, context) });
    }
}

impl<N: Entry> Retire for Array<N> {
    type Context = N::Context;

    fn is_counted(&self) -> bool {
        false
    }

    /// The array comes from `Box::into_raw`.
    unsafe fn destroy(array: *mut Self, _: &N::Context) {
        // SAFETY: the caller's promise. Deaths do not enter the table. The stripe of a death that
        // may use the array is passed, and a later death finds the next array.
        unsafe {
            (*array).core().pass();
            Array::free(array);
        }
    }
}
