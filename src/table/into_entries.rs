//! Iteration by value. The iterator owns the collection: if the iterator is forgotten, the whole
//! collection leaks, and no registration outlives its queue.

use super::entries::Table;
use super::entry::Entry;
use super::sweep::Walk;
use crate::reference::Slot;

/// All entries of a collection by value, including dead entries.
pub(crate) struct IntoEntries<K: Slot, V: Slot> {
    all: Table<K, V>,
    walk: Walk,
}

impl<K: Slot, V: Slot> IntoEntries<K, V> {
    pub(crate) fn new(mut all: Table<K, V>) -> Self {
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
        take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        self.all.take_next(&mut self.walk, take)
    }

    pub(crate) fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.all.entries.len()))
    }
}
