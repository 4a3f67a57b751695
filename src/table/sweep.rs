//! Finding the dead among sides that do not tell, a few buckets at a time; and any entry at all.

use super::{Entry, Slot, Table};

/// How many buckets an operation looks at. The hand goes round a table of n buckets in n / 16
/// operations, so the dead are at most a sixteenth of the inserts of a round behind.
const BUCKETS: usize = 16;

/// The buckets that a walk over the whole table has not seen yet.
pub(crate) struct Sweep(usize);

impl<K: Slot, V: Slot> Table<K, V> {
    /// Whether the dead have to be looked for.
    pub(super) const SWEPT: bool = K::SWEPT || V::SWEPT;

    /// Looks at the next few buckets.
    pub(super) fn sweep_some(&mut self) {
        for _ in 0..BUCKETS.min(self.entries.num_buckets()) {
            let bucket = self.turn();
            drop(self.take_at(bucket, |entry| entry.is_stale().then_some(())));
        }
    }

    /// Looks at all the buckets. True if it found somebody, whose death may have killed others.
    pub(super) fn sweep_all(&mut self) -> bool {
        let mut sweep = Sweep::new();
        let mut found = false;
        while let Some(entry) = self.unlink_next_dead(&mut sweep) {
            found = true;
            drop(entry);
        }
        found
    }

    /// Unlinks the next entry of a walk that has to be asked whether it is dead, and is.
    pub(crate) fn unlink_next_dead(&mut self, sweep: &mut Sweep) -> Option<Entry<K, V>> {
        if !Self::SWEPT {
            return None;
        }
        let ((), entry) = self.take_next(sweep, |entry| entry.is_stale().then_some(()))?;
        Some(entry)
    }

    /// Takes out the next entry of a walk that `take` can use.
    pub(crate) fn take_next<R>(
        &mut self,
        sweep: &mut Sweep,
        mut take: impl FnMut(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        while sweep.0 < self.entries.num_buckets() {
            sweep.0 += 1;
            let taken = self.take_at(sweep.0 - 1, &mut take);
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

    fn take_at<R>(
        &mut self,
        bucket: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let mut entry = self.entries.get_bucket_entry(bucket).ok()?;
        let taken = take(entry.get_mut())?;
        Some((taken, entry.remove().0))
    }
}

impl Sweep {
    pub(crate) fn new() -> Self {
        Sweep(0)
    }
}
