//! Finding the dead among sides that do not tell, a few buckets at a time; and any entry at all.

use super::entries::Table;
use super::entry::{Entry, Remains};
use super::slot::Slot;

/// How many buckets an operation looks at. The hand goes round a table of n buckets in n / 16
/// operations, so the dead are at most a sixteenth of the inserts of a round behind.
const BUCKETS: usize = 16;

/// A walk over all buckets, once.
pub(crate) struct Walk(usize);

/// A search for the dead that ends when a whole round over the table has found nobody: a death that
/// another one caused may lie behind us.
pub(crate) struct Search {
    bucket: usize,
    in_vain: usize,
}

impl<K: Slot, V: Slot> Table<K, V> {
    /// Whether the dead have to be looked for.
    pub(super) const SWEPT: bool = K::SWEPT || V::SWEPT;

    /// Looks at the next few buckets.
    pub(super) fn sweep_some(&mut self) {
        for _ in 0..BUCKETS.min(self.entries.num_buckets()) {
            let bucket = self.turn();
            self.reclaim_dead_at(bucket);
        }
    }

    /// Looks at all the buckets, once.
    pub(super) fn sweep_once(&mut self) {
        for bucket in 0..self.entries.num_buckets() {
            self.reclaim_dead_at(bucket);
        }
    }

    /// Unlinks the next dead entry that a search finds.
    pub(super) fn search_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        while Self::SWEPT && search.in_vain < self.entries.num_buckets() {
            let found = self.unlink_dead_at(search.bucket);
            search.bucket = (search.bucket + 1) % self.entries.num_buckets();
            search.in_vain += 1;
            if found.is_some() {
                search.in_vain = 0;
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

    /// Takes out the next entry of a walk that `take` can use.
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

    /// Takes any entry out that `take` can use. Calls in a row visit every bucket once: they go on
    /// where the last one stopped.
    pub(crate) fn pop<R>(
        &mut self,
        mut take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        for _ in 0..self.entries.num_buckets() {
            let bucket = self.turn();
            let taken = self.take_at(bucket, &mut take);
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// The bucket under the hand; the hand moves on.
    fn turn(&mut self) -> usize {
        let bucket = self.hand;
        self.hand = if bucket + 1 < self.entries.num_buckets() {
            bucket + 1
        } else {
            0
        };
        // After the table has shrunk, the hand may be outside for a moment: nobody is there.
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
            in_vain: 0,
        }
    }
}
