//! Sweeping for dead entries whose slots send no notices, a few buckets at a time; and removing
//! arbitrary entries.

use super::entries::{LARGE, Table};
use super::entry::{Entry, Remains};
use super::marks::STRETCH;
use crate::reference::Slot;

/// The number of buckets that one operation sweeps. A sweep passes over a table of n buckets in n /
/// 16 operations, so at most n / 16 insertions happen before the sweep finds a dead entry.
const BUCKETS: usize = 16;

/// A single pass over all buckets.
pub(crate) struct Walk(usize);

/// A search for dead entries. The search ends when a whole pass over the table has found none: the
/// death of one entry may cause the death of another entry behind the current position.
pub(crate) struct Search {
    bucket: usize,
    since_found: usize,
}

impl<K: Slot, V: Slot> Table<K, V> {
    /// Whether the table has to sweep for dead entries.
    pub(super) const SWEPT: bool = K::SWEPT || V::SWEPT;

    /// Sweeps the next few buckets.
    pub(super) fn sweep_some(&mut self) {
        for _ in 0..self.buckets_of(1) {
            let bucket = self.advance();
            self.reclaim_dead_at(bucket);
        }
    }

    /// Returns the number of buckets that so many operations sweep: at most all buckets of the
    /// table.
    pub(super) fn buckets_of(&self, operations: usize) -> usize {
        operations
            .saturating_mul(BUCKETS)
            .min(self.entries.num_buckets())
    }

    /// Sweeps at most `buckets` buckets, and unlinks the first dead entry. Subtracts the number of
    /// swept buckets from `buckets`.
    pub(super) fn sweep_dead(&mut self, buckets: &mut usize) -> Option<Remains<K, V>> {
        while Self::SWEPT && *buckets != 0 {
            *buckets -= 1;
            let bucket = self.advance();
            let found = self.unlink_dead_at(bucket);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Sweeps all buckets once.
    pub(super) fn sweep_once(&mut self) {
        for bucket in 0..self.entries.num_buckets() {
            self.reclaim_dead_at(bucket);
        }
    }

    /// Unlinks the next dead entry that a search finds.
    pub(super) fn search_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        while Self::SWEPT && search.since_found < self.entries.num_buckets() {
            let found = self.unlink_dead_at(search.bucket);
            search.bucket = (search.bucket + 1) % self.entries.num_buckets();
            search.since_found += 1;
            if found.is_some() {
                search.since_found = 0;
                return found;
            }
        }
        None
    }

    fn reclaim_dead_at(&mut self, bucket: usize) {
        if let Some(remains) = self.unlink_dead_at(bucket) {
            self.kept.reclaim(remains);
        }
    }

    fn unlink_dead_at(&mut self, bucket: usize) -> Option<Remains<K, V>> {
        let dead = |entry: &mut Entry<K, V>| entry.is_stale().then_some(());
        let ((), entry) = self.take_at(bucket, dead)?;
        Some(entry.into_remains())
    }

    /// Removes the next entry of a pass for which `take` returns something.
    pub(crate) fn take_next<R>(
        &mut self,
        walk: &mut Walk,
        mut take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        while walk.0 < self.entries.num_buckets() {
            walk.0 += 1;
            let taken = self.take_at(walk.0 - 1, &mut take);
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// Removes an entry for which `take` returns something. Consecutive calls visit every bucket
    /// once: each call continues where the last call stopped.
    pub(crate) fn pop<R>(
        &mut self,
        mut take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        if self.entries.is_empty() {
            return None;
        }
        let first = self.sweep_position.min(self.entries.num_buckets());
        for (from, to) in [(first, self.entries.num_buckets()), (0, first)] {
            let mut from = from;
            while let Some(bucket) = self.next_occupied(from, to) {
                from = bucket + 1;
                self.sweep_position = from;
                let taken = self.take_at(bucket, &mut take);
                if taken.is_some() {
                    return taken;
                }
            }
        }
        None
    }

    /// Returns the first bucket in a range that has an entry. In a large table, notes the stretches
    /// without an entry.
    fn next_occupied(&mut self, from: usize, to: usize) -> Option<usize> {
        let buckets = self.entries.num_buckets();
        let mut at = from;
        while at < to {
            let whole = at % STRETCH == 0;
            if whole {
                at = self.hints.marks.next(at).min(to);
            }
            let end = to.min((at | (STRETCH - 1)).saturating_add(1));
            let found = (at..end).find(|bucket| self.entries.get_bucket(*bucket).is_some());
            if found.is_some() {
                return found;
            }
            if whole && end - at == STRETCH && buckets >= LARGE {
                self.hints.marks.clear(at, buckets);
            }
            at = end;
        }
        None
    }

    /// Returns the sweep position, and advances it.
    fn advance(&mut self) -> usize {
        let bucket = self.sweep_position;
        self.sweep_position = if bucket + 1 < self.entries.num_buckets() {
            bucket + 1
        } else {
            0
        };
        // After the table has shrunk, the position may be out of range once: then no entry is
        // found.
        bucket
    }
}

impl Walk {
    pub(crate) const fn new() -> Self {
        Walk(0)
    }
}

impl Search {
    pub(crate) const fn new() -> Self {
        Search {
            bucket: 0,
            since_found: 0,
        }
    }
}
