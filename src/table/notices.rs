//! Entries with a pending death notice: counting and unlinking them.

use hashbrown::HashTable;

use super::entries::Table;
use super::entry::{Entry, Remains};
use crate::queue::NoticeQueue;
use crate::reference::{NoticeOf, Slot};

/// How many notices one operation drains: more than one, so that the dead never accumulate under a caller that
/// only inserts; few, so that no call pays for all the dead.
const NOTICES: usize = 16;

impl<K: Slot, V: Slot> Table<K, V> {
    /// The number of entries without a pending notice.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.notified())
    }

    /// The number of entries with a pending notice. O(notices that have come since the last call), or
    /// O(notices) if both keys and values have some.
    #[inline]
    pub(crate) fn notified(&self) -> usize {
        if self.keys.is_idle() {
            return self.values.pending();
        }
        if self.values.is_idle() {
            return self.keys.pending();
        }
        self.notified_by_both()
    }

    /// Counts an entry once whose key and value both have a notice.
    #[cold]
    fn notified_by_both(&self) -> usize {
        let (mut notified, seen) = self.values.look();
        for notice in self.keys.iter() {
            let entry = self.find_named(&notice);
            notified += usize::from(entry.is_none_or(|entry| !entry.value.is_seen(&seen)));
        }
        notified
    }

    fn find_named(&self, notice: &NoticeOf<K>) -> Option<&Entry<K, V>> {
        let hash = K::Queue::hash(notice).get();
        self.entries
            .find(hash, |entry| entry.key.is_named_by(notice))
    }

    /// The number of entries with a pending notice, and of those of which something is kept.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.notified() + self.kept.len()
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.keys.is_idle() && self.values.is_idle()
    }

    /// Reclaims a few entries with pending notices, without a sweep. For the beginning of an operation that
    /// changes the table only if it finds nothing.
    #[inline]
    pub(crate) fn reclaim_some_notified(&mut self) {
        if !self.is_idle() {
            self.reclaim_some();
        }
    }

    /// Prefetches the entry of the first notice. For the beginning of an insert that ends with
    /// [`tidy`](Self::tidy): the entry arrives while the insert does its own work.
    #[inline]
    pub(crate) fn prefetch_notified(&mut self) {
        if let Some(hash) = self.keys.peek() {
            self.prefetch(hash);
        }
        if let Some(hash) = self.values.peek() {
            self.prefetch(hash);
        }
    }

    #[inline(never)]
    pub(super) fn reclaim_some(&mut self) {
        if self.waker().is_some() {
            return self.reclaim_some_and_arm();
        }
        self.reclaim_a_few();
    }

    #[cold]
    #[inline(never)]
    fn reclaim_some_and_arm(&mut self) {
        self.draining().0.reclaim_a_few();
    }

    #[inline(always)]
    fn reclaim_a_few(&mut self) {
        for _ in 0..NOTICES {
            let Some(remains) = self.unlink_notified() else {
                break;
            };
            self.kept.reclaim(remains);
            if self.is_idle() {
                break;
            }
        }
    }

    /// Reclaims all entries with pending notices.
    pub(super) fn reclaim_notified(&mut self) {
        while !self.is_idle() {
            self.reclaim_some();
        }
    }

    /// Unlinks the next entry with a pending notice, and returns what it leaves.
    #[inline(always)]
    pub(super) fn unlink_notified(&mut self) -> Option<Remains<K, V>> {
        let Table {
            entries,
            keys,
            values,
            ..
        } = self;
        let named = |entry: &Entry<K, V>, notice: &_| entry.key.is_named_by(notice);
        if let Some(mut entry) = unlink_next(keys, entries, named) {
            entry.value.deregister(values);
            return Some(entry.into_remains());
        }
        let named = |entry: &Entry<K, V>, notice: &_| entry.value.is_named_by(notice);
        let mut entry = unlink_next(values, entries, named)?;
        entry.key.deregister(keys);
        Some(entry.into_remains())
    }
}

/// Unlinks the entry of the next notice. `named` returns whether an entry is the notice's.
#[inline(always)]
fn unlink_next<D: NoticeQueue, E>(
    deaths: &mut D,
    entries: &mut HashTable<E>,
    named: impl Fn(&E, &D::Notice) -> bool,
) -> Option<E> {
    while let Some(notice) = deaths.next() {
        let found = entries.find_entry(D::hash(&notice).get(), |entry| named(entry, &notice));
        // (Only a leaked entry is not found.)
        let entry = found.ok().map(|entry| entry.remove().0);
        // Before anything else that the entry owns is destroyed: the block's memory is in the cache, and will
        // be reused.
        deaths.finish(notice);
        if entry.is_some() {
            return entry;
        }
    }
    None
}
