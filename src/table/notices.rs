//! Entries with a pending notice: counting and unlinking them.

use alloc::vec::Vec;
use core::ptr;
use hashbrown::HashTable;

use super::entries::Table;
use super::entry::{Entry, Remains};
use super::waker::DrainGuard;
use crate::queue::NoticeQueue;
use crate::reference::Slot;

/// The number of notices that one operation drains, including late notices: more than two, so that
/// dead entries never accumulate under a caller that only inserts pairs; few, so that no single
/// call pays for all dead entries.
const NOTICES: usize = 16;

impl<K: Slot, V: Slot> Table<K, V> {
    /// Returns the number of entries without a pending notice.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.notified())
    }

    /// Returns whether [`len`](Self::len) is zero. If an entry is live, the dead entries are not
    /// counted.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() || (!self.is_idle() && self.are_all_notified())
    }

    /// Returns whether each entry has a pending notice. The exact count may look up the entry of
    /// each notice. So cheap checks come first: there are at least as many notices as entries, and
    /// the exact count is cheap, or no entry is live.
    #[inline(never)]
    fn are_all_notified(&self) -> bool {
        let of_one = self.keys.is_idle() || self.values.is_idle();
        let is_counted = of_one && !self.keys.has_late() && !self.values.has_late();
        let most = self.keys.count() + self.values.count();
        self.entries.len() <= most
            && (is_counted || !self.has_live())
            && self.entries.len() <= self.notified()
    }

    /// Returns whether an entry is live. Objects often die in the order of the places, so the
    /// search visits the places in another order.
    fn has_live(&self) -> bool {
        // The stride is odd, and a hash table has a power of two of buckets: so the search visits
        // each place. (If the number is no power of two, `len` may decide.)
        const STRIDE: usize = 0x9e37_79b1;
        let places = self.entries.num_buckets();
        let mut order = (0..places).map(|n| n.wrapping_mul(STRIDE) % places);
        order.any(|at| {
            let entry = self.entries.get_bucket(at);
            entry.is_some_and(|entry| !entry.is_expired())
        })
    }

    /// Returns the number of entries with a pending notice. O(notices that have come since the last
    /// call). If some notices are late, O(notices); if both keys and values have notices, O(n log
    /// n) for n notices, and memory for their addresses.
    #[inline]
    pub(crate) fn notified(&self) -> usize {
        if self.keys.is_idle() && !self.values.has_late() {
            return self.values.count();
        }
        if self.values.is_idle() && !self.keys.has_late() {
            return self.keys.count();
        }
        self.notified_entries()
    }

    /// Returns what [`notified`](Self::notified) returns: looks up the entry of each notice. A late
    /// notice has no entry. An entry counts once if both its key and its value have a notice.
    #[cold]
    fn notified_entries(&self) -> usize {
        let of_keys = self.keys.iter().filter_map(|notice| {
            let cookie = K::Queue::cookie(&notice);
            let named = |entry: &Entry<K, V>| entry.key.is_named_by(&notice);
            self.entries.find(cookie.get(), named)
        });
        let of_values = self.values.iter().filter_map(|notice| {
            let cookie = V::Queue::cookie(&notice);
            let named = |entry: &Entry<K, V>| entry.value.is_named_by(&notice);
            self.entries.find(cookie.get(), named)
        });
        if self.keys.is_idle() || self.values.is_idle() {
            return of_keys.chain(of_values).count();
        }
        let mut entries: Vec<_> = of_keys.chain(of_values).map(ptr::from_ref).collect();
        entries.sort_unstable();
        entries.dedup();
        entries.len()
    }

    /// Returns the number of entries with a pending notice, plus the number of entries whose
    /// remains are kept.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.notified() + self.kept.len()
    }

    /// Returns whether no notice is pending.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.keys.is_idle() && self.values.is_idle()
    }

    /// Reclaims a few entries with pending notices, without a sweep. [`tidy`](Self::tidy) calls
    /// this function, and then sweeps. An interner that has found a live handle adds no entry, so
    /// the interner calls only this function.
    #[inline]
    pub(crate) fn reclaim_some_notified(&mut self) {
        if !self.is_idle() {
            self.reclaim_some();
        }
    }

    /// Prefetches the entry of the first notice. Called at the beginning of an insertion that ends
    /// with [`tidy`](Self::tidy): the entry arrives in the cache while the insertion does its own
    /// work.
    #[inline]
    pub(crate) fn prefetch_notified(&mut self) {
        if let Some(cookie) = self.keys.peek() {
            self.prefetch(cookie);
        }
        if let Some(cookie) = self.values.peek() {
            self.prefetch(cookie);
        }
    }

    /// Reclaims entries with pending notices, at most [`NOTICES`] of them.
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
        let drain = DrainGuard(self);
        drain.0.reclaim_a_few();
        drain.0.settle();
    }

    #[inline(always)]
    fn reclaim_a_few(&mut self) {
        let mut left = NOTICES;
        while let Some(remains) = self.unlink_notified(&mut left) {
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

    /// Unlinks the next entry with a pending notice, and returns its remains. Takes at most `left`
    /// notices, and subtracts their number from `left`.
    #[inline(always)]
    pub(super) fn unlink_notified(&mut self, left: &mut usize) -> Option<Remains<K, V>> {
        let Table {
            entries,
            keys,
            values,
            ..
        } = self;
        let named = |entry: &Entry<K, V>, notice: &_| entry.key.is_named_by(notice);
        if let Some(mut entry) = unlink_next(keys, entries, left, named) {
            entry.value.deregister(values);
            return Some(entry.into_remains());
        }
        let named = |entry: &Entry<K, V>, notice: &_| entry.value.is_named_by(notice);
        let mut entry = unlink_next(values, entries, left, named)?;
        entry.key.deregister(keys);
        Some(entry.into_remains())
    }
}

/// Unlinks the entry of the next notice that has an entry. `named` returns whether an entry belongs
/// to a notice.
#[inline(always)]
fn unlink_next<D: NoticeQueue, K: Slot, V: Slot>(
    deaths: &mut D,
    entries: &mut HashTable<Entry<K, V>>,
    left: &mut usize,
    named: impl Fn(&Entry<K, V>, &D::Notice) -> bool,
) -> Option<Entry<K, V>> {
    while *left != 0 {
        let notice = deaths.next()?;
        *left -= 1;
        let found = entries.find_entry(D::cookie(&notice).get(), |entry| named(entry, &notice));
        let entry = found.ok().map(|found| found.remove().0);
        // Finish the notice before anything else that the entry owns is destroyed: the memory of
        // the block is in the cache, and will be reused.
        deaths.finish(notice);
        if entry.is_some() {
            return entry;
        }
        deaths.was_late();
    }
    None
}
