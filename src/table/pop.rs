//! Removing entries, in the order of the buckets.

use super::entries::{LARGE, Table};
use super::entry::Entry;
use super::marks::STRETCH;
use crate::reference::Slot;

impl<K: Slot, V: Slot> Table<K, V> {
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
}
