//! The entries of a table: what is stored, found and taken out.

use core::ptr;
use hashbrown::{HashTable, hash_table};

use super::entry::{Entry, Remains};
use super::kept::Kept;
use super::reclaim::Reclaim;
use super::slot::Slot;
use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::sync;

/// Buckets of a table that is larger than the caches next to a processor: its lookups wait for memory.
const LARGE: usize = 1 << 14;

/// Entries, and how their deaths become known.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the deaths: an entry's watch ends before its queue does.
    pub(super) entries: HashTable<Entry<K, V>>,
    pub(super) keys: K::Queue,
    pub(super) values: V::Queue,
    /// What the dead leave goes here, and nowhere else.
    pub(super) kept: Kept<Remains<K, V>>,
    /// The bucket at which the next sweep and the next `pop` begin.
    pub(super) hand: usize,
    /// Where the buckets end and their tags begin, when an entry was last put in: a hint for
    /// [`prefetch`](Self::prefetch).
    pub(super) tags: usize,
}

impl<K: Slot, V: Slot> Table<K, V> {
    pub(crate) const fn new() -> Self {
        Table {
            entries: HashTable::new(),
            keys: K::Queue::NONE,
            values: V::Queue::NONE,
            kept: Kept::new(),
            hand: 0,
            tags: 0,
        }
    }

    /// Lets the processor fetch the lines in which an entry of this hash is likely to be. A hint: `tags` may
    /// be that of a table that has been replaced, and hashbrown may lay its table out in another way.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: HashValue) {
        let bucket = self.prefetch_home(hash);
        sync::prefetch(ptr::without_provenance(self.tags.wrapping_add(bucket)));
    }

    /// The same without its tag: the place where it is unless others have it.
    #[inline(always)]
    fn prefetch_home(&self, hash: HashValue) -> usize {
        let bucket = hash.get() as usize & self.entries.num_buckets().wrapping_sub(1);
        let entry = (bucket + 1).wrapping_mul(size_of::<Entry<K, V>>());
        sync::prefetch(ptr::without_provenance(self.tags.wrapping_sub(entry)));
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

    pub(crate) fn set_reclaim(&mut self, reclaim: Reclaim) {
        self.kept.set_policy(reclaim);
    }

    #[inline]
    pub(crate) fn find(
        &self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&Entry<K, V>> {
        // The tags and the entries of a large table are on two cold lines: not one after the other.
        if self.entries.num_buckets() >= LARGE {
            self.prefetch_home(hash);
        }
        self.entries.find(hash.get(), |entry| eq(&entry.key))
    }

    #[inline]
    pub(crate) fn find_mut(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&mut Entry<K, V>> {
        self.entries.find_mut(hash.get(), |entry| eq(&entry.key))
    }

    /// Takes an entry out if `wanted` has something to say of it.
    #[inline]
    pub(crate) fn remove_if<R>(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
        wanted: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let found = self.entries.find_entry(hash.get(), |entry| eq(&entry.key));
        let entry = found.ok()?;
        let answer = wanted(entry.get())?;
        let mut entry = entry.remove().0;
        entry.end(&mut self.keys, &mut self.values);
        Some((answer, entry))
    }

    /// Takes out the entry of a bucket, if there is one and `take` can use it.
    pub(super) fn take_at<R>(
        &mut self,
        bucket: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let mut entry = self.entries.get_bucket_entry(bucket).ok()?;
        let taken = take(entry.get_mut())?;
        let mut entry = entry.remove().0;
        entry.end(&mut self.keys, &mut self.values);
        Some((taken, entry))
    }

    /// All entries, the dead ones too.
    #[inline]
    pub(crate) fn iter(&self) -> hash_table::Iter<'_, Entry<K, V>> {
        self.entries.iter()
    }

    /// All entries, the dead ones too.
    #[inline]
    pub(crate) fn iter_mut(&mut self) -> hash_table::IterMut<'_, Entry<K, V>> {
        self.entries.iter_mut()
    }
}
