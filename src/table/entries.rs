//! The table itself: how entries are found.

use core::alloc::Layout;
use core::ptr;
use hashbrown::HashTable;

use super::entry::{Entry, Remains};
use super::kept::KeptRemains;
use super::marks::Hints;
use super::reclaim::Reclaim;
use crate::hash::{Cookie, HashValue};
use crate::queue::NoticeQueue;
use crate::reference::Slot;
use crate::statistics::MemoryUsage;
use crate::sync;

/// A hash table of entries, with everything that the table needs to reclaim dead entries.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the queues: an entry's watch is dropped before its queue is.
    pub(crate) entries: HashTable<Entry<K, V>>,
    pub(super) hints: Hints,
    pub(crate) keys: K::Queue,
    pub(crate) values: V::Queue,
    /// All remains of dead entries go here, to be kept or dropped.
    pub(crate) kept: KeptRemains<Remains<K, V>>,
    /// The bucket at which the next sweep begins.
    pub(crate) sweep_position: usize,
}

/// A table with this many buckets does not fit into a core's own caches: lookups wait for memory.
pub(super) const LARGE: usize = 1 << 14;

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
            entries: HashTable::new(),
            hints: Hints::NONE,
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
        table.entries = HashTable::with_capacity(capacity);
        table
    }

    pub(crate) fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage {
            table: self.entries.allocation_size(),
            entries: self.kept.memory_usage(),
            records: self.keys.memory_usage() + self.values.memory_usage(),
            rings: 0,
        }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    #[inline]
    pub(crate) fn find(
        &self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&Entry<K, V>> {
        // In a large table, the tags and the entries are on two cold lines: load both lines at
        // once.
        if self.entries.num_buckets() >= LARGE {
            self.prefetch_home(hash);
        }
        self.entries.find(hash.get(), |entry| eq(&entry.key))
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
        let entries = self
            .entries
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

    /// Prefetches the place of an entry, without its tag, in the home bucket of the hash. (The
    /// entry is there, unless the bucket was occupied.) Returns the bucket.
    #[inline(always)]
    fn prefetch_home(&self, hash: HashValue) -> usize {
        let bucket = hash.get() as usize & self.entries.num_buckets().wrapping_sub(1);
        let entry = (bucket + 1).wrapping_mul(size_of::<Entry<K, V>>());
        sync::prefetch(ptr::without_provenance(self.hints.tags.wrapping_sub(entry)));
        bucket
    }

    /// Prefetches the cache lines that probably contain the entry of this hash. Only a hint: `tags`
    /// may belong to a table that was replaced, and hashbrown may change its layout.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: Cookie) {
        let bucket = self.prefetch_home(hash);
        sync::prefetch(ptr::without_provenance(
            self.hints.tags.wrapping_add(bucket),
        ));
    }
}
