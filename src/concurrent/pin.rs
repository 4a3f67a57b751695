//! Access to the nodes of a table, and when those that are unlinked are destroyed.
//!
//! A node is destroyed when no thread is inside the table that was there when it was unlinked: at once if
//! nobody is, else by the last of them. The reclamation of `seize` wants, to see to that, as many retired
//! nodes as there are threads inside, and lets fewer wait for others to come. So that a single one does not
//! wait, it is given company.

use core::cell::Cell;
use core::num::NonZero;
use core::ptr;
use papaya::{Guard, LocalGuard};
use seize::Collector;
use std::sync::OnceLock;
use std::thread;

/// How many are retired together: twice as many as there can be threads at work at once. If more than that are
/// inside at that moment, nodes wait for the next that this thread retires.
pub(super) fn company() -> usize {
    static COMPANY: OnceLock<usize> = OnceLock::new();
    *COMPANY.get_or_init(|| {
        let parallel = thread::available_parallelism().map_or(MANY, NonZero::get);
        (2 * parallel).next_power_of_two()
    })
}

/// Some.
pub(super) const MANY: usize = 16;

pub(super) fn collector() -> Collector {
    Collector::new().batch_size(company())
}

/// Access to the nodes. What is unlinked with it is destroyed after it, when nobody looks at it any more.
pub(super) struct Pin<'a> {
    guard: LocalGuard<'a>,
    unlinked: Cell<bool>,
}

impl<'a> Pin<'a> {
    #[inline]
    pub(super) fn new(guard: LocalGuard<'a>) -> Self {
        let unlinked = Cell::new(false);
        Pin { guard, unlinked }
    }

    #[inline]
    pub(super) fn guard(&self) -> &LocalGuard<'a> {
        &self.guard
    }

    /// Something has been unlinked.
    #[inline]
    pub(super) fn has_unlinked(&self) {
        self.unlinked.set(true);
    }
}

impl Drop for Pin<'_> {
    /// After this the guard is dropped, and then the nodes are.
    #[inline]
    fn drop(&mut self) {
        if self.unlinked.get() {
            for _ in 1..company() {
                // SAFETY: nothing is done with the pointer.
                unsafe {
                    self.guard
                        .defer_retire(ptr::dangling_mut::<u8>(), |_, _| {})
                };
            }
        }
    }
}
