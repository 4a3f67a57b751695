//! Iteration by value. The iterator owns the collection: if the iterator is forgotten, the whole
//! collection leaks, and no registration outlives its queue.

use super::entries::{Entries, EntryOf, Upkeep};
use super::sweep::Walk;

/// All entries of a collection by value, including dead entries.
pub(crate) struct IntoEntries<E: Entries> {
    all: Upkeep<E>,
    walk: Walk,
}

impl<E: Entries> IntoEntries<E> {
    pub(crate) fn new(mut all: Upkeep<E>) -> Self {
        // The collection ends here: nobody can purge it any more.
        all.set_waker(None);
        IntoEntries {
            all,
            walk: Walk::default(),
        }
    }

    /// Removes the next entry for which `take` returns something. Skipped entries are dropped with
    /// the collection.
    pub(crate) fn next<R>(
        &mut self,
        take: impl FnMut(&mut EntryOf<E>) -> Option<R>,
    ) -> Option<(R, EntryOf<E>)> {
        self.all.take_next(&mut self.walk, take)
    }

    pub(crate) fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.all.entries.len()))
    }
}
