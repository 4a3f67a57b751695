//! The census: whether the counts of all objects were right at one moment.

use super::counted::Owners;
use super::graph::Object;
use crate::sync::{self, AtomicUsize, Critical, Ordering::*};

/// 1 while a census runs. Only one census runs at a time in the process: two censuses would mistake
/// each other's marks for their own.
#[cfg(not(weakly_loom))]
static TAKEN: AtomicUsize = AtomicUsize::new(0);
#[cfg(weakly_loom)]
loom::lazy_static! {
    static ref TAKEN: AtomicUsize = AtomicUsize::new(0);
}

/// The right to take a census. The drop ends the turn.
struct Turn(#[allow(dead_code, reason = "it ends with this")] Critical);

impl Turn {
    fn wait() -> Self {
        let mut turn = 0;
        // Acquire: with the release in `drop`. The marks of the previous census are gone.
        while TAKEN.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            sync::relax(&mut turn);
        }
        Turn(Critical::enter())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Release: with the acquire in `wait`.
        TAKEN.store(0, Release);
    }
}

impl Object {
    /// Returns whether all strong handles of the object have been shown, as far as is known.
    pub(super) fn is_ours(&self) -> bool {
        !self.doubtful && self.shown == self.count
    }

    /// Marks the object, if all its strong handles have been shown so far. `at_rest` is as for
    /// [`take`].
    fn mark(&mut self, at_rest: bool) {
        if self.is_ours() {
            self.marked = self.held.mark();
            self.doubtful = !self.marked || self.held.owners() == Owners::Unmarked && !at_rest;
        }
    }

    fn count(&mut self) {
        if self.is_ours() {
            self.doubtful = self.held.count_marked() != self.count;
        }
    }

    /// Removes the mark, also if the object turned out to have further handles: a marked object
    /// would never die.
    fn unmark(&mut self) {
        if self.marked {
            self.doubtful |= self.held.unmark() != Some(self.count);
        }
    }
}

/// Finds the objects with strong handles besides the shown handles. No user code runs here.
/// `at_rest`: the caller has promised that the maps are [at
/// rest](crate::cycles::Cycles::at_rest). Without the promise, an object whose handles have no mark
/// ([`Owners::Unmarked`]) is doubtful.
pub(super) fn take(nodes: &mut [Object], at_rest: bool) {
    let _turn = Turn::wait();
    // The three passes of the check in `ptr::mark`.
    nodes.iter_mut().for_each(|node| node.mark(at_rest));
    nodes.iter_mut().for_each(Object::count);
    nodes.iter_mut().for_each(Object::unmark);
}
