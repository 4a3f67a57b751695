//! Sweeping for dead entries whose slots send no notices, a few places at a time; and removing
//! arbitrary entries.

use super::entries::Table;
use super::entry::{Entry, Remains};
use crate::reference::Slot;

/// The number of places that one operation sweeps. A sweep passes over n places in n / 16
/// operations, so at most n / 16 insertions happen before the sweep finds a dead entry.
const PLACES: usize = 16;

/// A single pass over all places.
#[derive(Default)]
pub(crate) struct Walk(usize);

impl<K: Slot, V: Slot> Table<K, V> {
    /// Whether the collection has to sweep for dead entries.
    pub(super) const SWEPT: bool = K::SWEPT || V::SWEPT;

    /// Sweeps the next `places` places.
    pub(super) fn sweep(&mut self, mut places: usize) {
        while let Some(remains) = self.sweep_dead(&mut places) {
            self.kept.reclaim(remains);
        }
    }

    /// Returns the number of places that so many operations sweep: at most all places.
    pub(super) fn places_of(&self, operations: usize) -> usize {
        operations
            .saturating_mul(PLACES)
            .min(self.entries.num_buckets())
    }

    /// Sweeps at most `places` places, and unlinks the first dead entry. Subtracts the number of
    /// swept places from `places`.
    pub(super) fn sweep_dead(&mut self, places: &mut usize) -> Option<Remains<K, V>> {
        while Self::SWEPT && *places != 0 {
            *places -= 1;
            let place = self.advance();
            let found = self.unlink_dead_at(place);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Reclaims the entries with pending notices, and sweeps all places once.
    pub(crate) fn reclaim_once(&mut self) {
        self.reclaim_notified();
        self.sweep(self.entries.num_buckets());
    }

    fn unlink_dead_at(&mut self, place: usize) -> Option<Remains<K, V>> {
        let dead = |entry: &mut Entry<K, V>| entry.is_stale().then_some(());
        let ((), entry) = self.take_at(place, dead)?;
        Some(entry.into_remains())
    }

    /// Removes the entry at a place, if there is an entry and `take` returns something for it.
    pub(crate) fn take_at<R>(
        &mut self,
        place: usize,
        take: impl FnOnce(&mut Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let mut found = self.entries.get_bucket_entry(place).ok()?;
        let taken = take(found.get_mut())?;
        let mut entry = found.remove().0;
        entry.deregister(&mut self.keys, &mut self.values);
        Some((taken, entry))
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

    /// Returns the sweep position, and advances it.
    fn advance(&mut self) -> usize {
        let place = self.sweep_position;
        self.sweep_position = if place + 1 < self.entries.num_buckets() {
            place + 1
        } else {
            0
        };
        // After the number of places has shrunk, the position may be out of range once: then no
        // entry is found.
        place
    }
}
