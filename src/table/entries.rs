//! The table itself: how entries are stored, found and removed.

use core::ptr;
use hashbrown::{HashTable, hash_table};

use super::entry::{Entry, Remains};
use super::kept::KeptRemains;
use super::marks::Marks;
use super::reclaim::Reclaim;
use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::reference::Slot;
use crate::sync;

/// A table with this many buckets does not fit into a core's own caches: lookups wait for memory.
pub(super) const LARGE: usize = 1 << 14;

/// The entries, and the queues through which the table learns about deaths.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the queues: an entry's watch is dropped before its queue is.
    pub(super) entries: HashTable<Entry<K, V>>,
    pub(super) keys: K::Queue,
    pub(super) values: V::Queue,
    /// All remains of dead entries go here, to be kept or dropped.
    pub(super) kept: KeptRemains<Remains<K, V>>,
    /// The bucket at which the next sweep or `pop` begins.
    pub(super) sweep_position: usize,
    pub(super) hints: Hints,
}

/// Notes that insertions make.
pub(super) struct Hints {
    /// The address at which the buckets end and their tags begin, as of the last insertion: for
    /// [`prefetch`](Table::prefetch).
    pub(super) tags: usize,
    /// The stretches that a [`pop`](Table::pop) may skip.
    pub(super) marks: Marks,
}

impl<K: Slot, V: Slot> Table<K, V> {
    pub(crate) const fn new() -> Self {
        Table {
            entries: HashTable::new(),
            keys: K::Queue::NONE,
            values: V::Queue::NONE,
            kept: KeptRemains::new(),
            sweep_position: 0,
            hints: Hints {
                tags: 0,
                marks: Marks::NONE,
            },
        }
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let mut table = Self::new();
        table.entries = HashTable::with_capacity(capacity);
        table
    }

    /// Prefetches the cache lines that probably contain the entry of this hash. Only a hint: `tags`
    /// may belong to a table that was replaced, and hashbrown may change its layout.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: HashValue) {
        let bucket = self.prefetch_home(hash);
        sync::prefetch(ptr::without_provenance(
            self.hints.tags.wrapping_add(bucket),
        ));
    }

    /// Prefetches the entry, without its tag, at the home bucket. The entry is there unless the
    /// bucket was occupied.
    #[inline(always)]
    fn prefetch_home(&self, hash: HashValue) -> usize {
        let bucket = hash.get() as usize & self.entries.num_buckets().wrapping_sub(1);
        let entry = (bucket + 1).wrapping_mul(size_of::<Entry<K, V>>());
        sync::prefetch(ptr::without_provenance(self.hints.tags.wrapping_sub(entry)));
        bucket
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    pub(super) fn is_short_of(&self, additional: usize) -> bool {
        self.capacity() - self.entries.len() < additional
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        self.kept.policy()
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

    /// Removes the entry of a bucket, if there is an entry and `take` returns something for it.
    pub(super) fn take_at<R>(
        &mut self,
        bucket: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let mut entry = self.entries.get_bucket_entry(bucket).ok()?;
        let taken = take(entry.get_mut())?;
        let mut entry = entry.remove().0;
        entry.deregister(&mut self.keys, &mut self.values);
        Some((taken, entry))
    }

    /// Iterates over all entries, including dead entries.
    #[inline]
    pub(crate) fn iter(&self) -> hash_table::Iter<'_, Entry<K, V>> {
        self.entries.iter()
    }

    /// Iterates over all entries, including dead entries.
    #[inline]
    pub(crate) fn iter_mut(&mut self) -> hash_table::IterMut<'_, Entry<K, V>> {
        self.entries.iter_mut()
    }
}
