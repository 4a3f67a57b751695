//! The table itself: how entries are found.

use core::alloc::Layout;
use core::ptr;
use hashbrown::{HashTable, hash_table};

use super::buckets::{Buckets, LARGE};
use super::entry::{Entry, Remains};
use super::kept::KeptRemains;
use super::reclaim::Reclaim;
use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::reference::Slot;

/// A hash table of entries, with everything that the table needs to reclaim dead entries.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the queues: an entry's watch is dropped before its queue is.
    pub(crate) entries: Buckets<K, V>,
    pub(crate) keys: K::Queue,
    pub(crate) values: V::Queue,
    /// All remains of dead entries go here, to be kept or dropped.
    pub(crate) kept: KeptRemains<Remains<K, V>>,
    /// The bucket at which the next sweep begins.
    pub(crate) sweep_position: usize,
}

/// Panics if a table for so many entries exceeds the address space. hashbrown checks too, but would
/// report its own line.
#[track_caller]
pub(super) fn assert_fits<E>(entries: Option<usize>) {
    // Seven buckets of eight may be full. Each bucket has a tag of a byte.
    let buckets = entries.and_then(|entries| {
        entries
            .checked_mul(8)?
            .div_ceil(7)
            .checked_next_power_of_two()
    });
    let fits = buckets.is_some_and(|buckets| Layout::array::<(E, u8)>(buckets).is_ok());
    assert!(fits, "capacity overflow");
}

impl<K: Slot, V: Slot> Table<K, V> {
    pub(crate) const fn new() -> Self {
        Table {
            entries: Buckets::NONE,
            keys: NoticeQueue::NONE,
            values: NoticeQueue::NONE,
            kept: KeptRemains::new(),
            sweep_position: 0,
        }
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        self.kept.policy()
    }

    #[track_caller]
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        assert_fits::<Entry<K, V>>(Some(capacity));
        let mut table = Self::new();
        table.entries.table = HashTable::with_capacity(capacity);
        table
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.table.capacity()
    }

    #[inline]
    pub(crate) fn find(
        &self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&Entry<K, V>> {
        // In a large table, the tags and the entries are on two cold lines: load both lines at
        // once.
        if self.entries.table.num_buckets() >= LARGE {
            self.entries.prefetch_home(hash);
        }
        self.entries.table.find(hash.get(), |entry| eq(&entry.key))
    }

    /// Returns the entries of several keys. `eq` gets the index of the key.
    ///
    /// # Panics
    /// If two keys have the same entry.
    #[track_caller]
    pub(crate) fn find_disjoint_mut<const N: usize>(
        &mut self,
        hashes: [HashValue; N],
        mut eq: impl FnMut(usize, &Entry<K, V>) -> bool,
    ) -> [Option<&mut Entry<K, V>>; N] {
        // hashbrown checks too, but would report its own line.
        let mut found = [ptr::null(); N];
        let mut overlap = false;
        let entries =
            self.entries
                .table
                .get_disjoint_mut(hashes.map(HashValue::get), |n, entry| {
                    if !eq(n, entry) {
                        return false;
                    }
                    let entry = ptr::from_ref(entry);
                    let again = found.contains(&entry);
                    overlap |= again;
                    found[n] = entry;
                    !again
                });
        assert!(!overlap, "two of the keys have the same entry");
        entries
    }

    /// Iterates over all entries, including dead entries.
    #[inline]
    pub(crate) fn iter(&self) -> hash_table::Iter<'_, Entry<K, V>> {
        self.entries.table.iter()
    }

    /// Iterates over all entries, including dead entries.
    #[inline]
    pub(crate) fn iter_mut(&mut self) -> hash_table::IterMut<'_, Entry<K, V>> {
        self.entries.table.iter_mut()
    }
}
