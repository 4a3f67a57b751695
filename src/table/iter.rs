//! Entries by value: the table and its deaths together, so that a forgotten iterator leaks both and
//! leaves no watch without its queue.

use core::mem;
use hashbrown::hash_table;

use super::{Deaths, Entry, Kept, Remains, Slot, Table};

/// All entries of a table, the dead ones too.
pub(crate) struct IntoEntries<K: Slot, V: Slot> {
    // Before the deaths, as in the table.
    entries: hash_table::IntoIter<Entry<K, V>>,
    _keys: K::Deaths,
    _values: V::Deaths,
    /// What the dead have left goes when the rest does.
    _kept: Kept<Remains<K, V>>,
}

impl<K: Slot, V: Slot> IntoIterator for Table<K, V> {
    type Item = Entry<K, V>;
    type IntoIter = IntoEntries<K, V>;

    fn into_iter(mut self) -> IntoEntries<K, V> {
        IntoEntries {
            entries: mem::take(&mut self.entries).into_iter(),
            _keys: mem::replace(&mut self.keys, K::Deaths::NONE),
            _values: mem::replace(&mut self.values, V::Deaths::NONE),
            _kept: mem::replace(&mut self.kept, Kept::new()),
        }
    }
}

impl<K: Slot, V: Slot> Iterator for IntoEntries<K, V> {
    type Item = Entry<K, V>;

    fn next(&mut self) -> Option<Entry<K, V>> {
        self.entries.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}
