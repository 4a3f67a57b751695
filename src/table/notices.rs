//! The entries that are announced dead: how many they are, and how they go.

use hashbrown::HashTable;

use super::entries::Table;
use super::entry::{Entry, Remains};
use super::slot::{NoticeOf, Slot};
use crate::queue::NoticeQueue;

/// How many notices an operation drains: more than one, so that the dead never accumulate under a
/// caller who only inserts; few, so that no caller pays for everybody's dead.
const NOTICES: usize = 16;

impl<K: Slot, V: Slot> Table<K, V> {
    /// Entries that are not announced dead.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.notified())
    }

    /// Entries that are announced dead. O(notices that have come since the last call), or O(notices) if both
    /// sides have some.
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

    /// An entry both of whose sides have a notice counts once.
    #[cold]
    fn notified_by_both(&self) -> usize {
        let (mut announced, seen) = self.values.look();
        for notice in self.keys.iter() {
            let entry = self.find_named(&notice);
            announced += usize::from(entry.is_none_or(|entry| !entry.value.is_seen(&seen)));
        }
        announced
    }

    fn find_named(&self, notice: &NoticeOf<K>) -> Option<&Entry<K, V>> {
        let hash = K::Queue::hash(notice).get();
        self.entries
            .find(hash, |entry| entry.key.is_named_by(notice))
    }

    /// Entries that are announced dead, and those of which something is kept.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.notified() + self.kept.len()
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.keys.is_idle() && self.values.is_idle()
    }

    /// The beginning of an operation that changes the table only if it does not find something: it buries
    /// a few of those who have announced their death, and searches for none.
    #[inline]
    pub(crate) fn reclaim_some_notified(&mut self) {
        if !self.is_idle() {
            self.reclaim_some();
        }
    }

    /// The beginning of an insert that ends with [`tend`](Self::tidy): the entry of the first notice is
    /// fetched while the insert does its own work.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        if let Some(hash) = self.keys.peek() {
            self.prefetch(hash);
        }
        if let Some(hash) = self.values.peek() {
            self.prefetch(hash);
        }
    }

    #[inline(never)]
    pub(super) fn reclaim_some(&mut self) {
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

    /// Buries all entries that are announced dead.
    pub(super) fn reclaim_notified(&mut self) {
        while !self.is_idle() {
            self.reclaim_some();
        }
    }

    /// Unlinks the next entry that is announced dead, and returns what it leaves.
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
            entry.value.end(values);
            return Some(entry.into_remains());
        }
        let named = |entry: &Entry<K, V>, notice: &_| entry.value.is_named_by(notice);
        let mut entry = unlink_next(values, entries, named)?;
        entry.key.end(keys);
        Some(entry.into_remains())
    }
}

/// Unlinks the entry of the next notice. `named` says which it is.
#[inline(always)]
fn unlink_next<D: NoticeQueue, E>(
    deaths: &mut D,
    entries: &mut HashTable<E>,
    named: impl Fn(&E, &D::Notice) -> bool,
) -> Option<E> {
    while let Some(notice) = deaths.next() {
        let found = entries.find_entry(D::hash(&notice).get(), |entry| named(entry, &notice));
        // (Not found is only what was leaked.)
        let entry = found.ok().map(|entry| entry.remove().0);
        // Before anything else that the entry owns is destroyed: the block's memory is warm, and will be
        // wanted.
        deaths.finish(notice);
        if entry.is_some() {
            return entry;
        }
    }
    None
}
