//! Entries by value: the table goes along, so that a forgotten iterator leaks all of it, and leaves no
//! registration without its queue.

use super::entries::Table;
use super::entry::Entry;
use super::slot::Slot;
use super::sweep::Walk;

/// All entries of a table, the dead ones too.
pub(crate) struct IntoEntries<K: Slot, V: Slot> {
    table: Table<K, V>,
    walk: Walk,
}

impl<K: Slot, V: Slot> IntoEntries<K, V> {
    pub(crate) fn new(table: Table<K, V>) -> Self {
        IntoEntries {
            table,
            walk: Walk::new(),
        }
    }

    /// Takes out the next entry that `take` can use; those that it cannot go.
    pub(crate) fn next<R>(
        &mut self,
        take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        self.table.take_next(&mut self.walk, take)
    }

    pub(crate) fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.table.entries.len()))
    }
}
