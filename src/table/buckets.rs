//! The buckets of a hash table. The cookie with which the slots of an entry were registered is the
//! hash of the entry: by the cookie the entry is found again, wherever it has moved. Otherwise the
//! notice of the entry would be mistaken for a late notice, and would free a hook that is still in
//! use.

use core::ptr;
use hashbrown::HashTable;

use super::entry::Entry;
use super::marks::Marks;
use crate::hash::{Cookie, HashValue};
use crate::reference::Slot;
use crate::sync;

/// A table with this many buckets does not fit into a core's own caches: lookups wait for memory.
pub(super) const LARGE: usize = 1 << 14;

/// The buckets with their entries.
pub(crate) struct Buckets<K, V> {
    pub(super) table: HashTable<Entry<K, V>>,
    pub(super) hints: Hints,
}

/// Notes that insertions make.
pub(super) struct Hints {
    /// The address at which the buckets end and their tags begin, as of the last insertion: for
    /// [`prefetch`](Buckets::prefetch).
    pub(super) tags: usize,
    /// The stretches that a [`pop`](super::Table::pop) may skip.
    pub(super) marks: Marks,
}

impl<K, V> Buckets<K, V> {
    /// Prefetches the entry, without its tag, at the home bucket. The entry is there unless the
    /// bucket was occupied.
    #[inline(always)]
    pub(super) fn prefetch_home(&self, hash: HashValue) -> usize {
        let bucket = hash.get() as usize & self.table.num_buckets().wrapping_sub(1);
        let entry = (bucket + 1).wrapping_mul(size_of::<Entry<K, V>>());
        sync::prefetch(ptr::without_provenance(self.hints.tags.wrapping_sub(entry)));
        bucket
    }
}

impl<K: Slot, V: Slot> Buckets<K, V> {
    /// No entries, and no memory.
    pub(super) const NONE: Self = Buckets {
        table: HashTable::new(),
        hints: Hints {
            tags: 0,
            marks: Marks::NONE,
        },
    };

    /// Returns the number of entries, including dead entries.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of buckets.
    #[inline]
    pub(super) fn places(&self) -> usize {
        self.table.num_buckets()
    }

    /// Returns the entry in a bucket.
    #[inline]
    pub(super) fn get(&self, bucket: usize) -> Option<&Entry<K, V>> {
        self.table.get_bucket(bucket)
    }

    /// Returns the entry with this cookie for which `is` returns true.
    #[inline]
    pub(super) fn find(
        &self,
        hash: Cookie,
        is: impl Fn(&Entry<K, V>) -> bool,
    ) -> Option<&Entry<K, V>> {
        self.table.find(hash.get(), is)
    }

    /// Unlinks the entry with this cookie for which `is` returns true.
    #[inline(always)]
    pub(super) fn unlink(
        &mut self,
        hash: Cookie,
        is: impl Fn(&Entry<K, V>) -> bool,
    ) -> Option<Entry<K, V>> {
        let found = self.table.find_entry(hash.get(), is).ok()?;
        Some(found.remove().0)
    }

    /// Unlinks the entry in a bucket, if there is an entry and `take` returns something for it.
    #[inline(always)]
    pub(super) fn unlink_at<R>(
        &mut self,
        bucket: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let mut found = self.table.get_bucket_entry(bucket).ok()?;
        let taken = take(found.get_mut())?;
        Some((taken, found.remove().0))
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
