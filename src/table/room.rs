//! Growing and shrinking the table.

use alloc::collections::TryReserveError;

use super::entries::{Table, assert_fits};
use super::entry::Entry;
use crate::reference::Slot;

impl<K: Slot, V: Slot> Table<K, V> {
    pub(super) fn is_short_of(&self, additional: usize) -> bool {
        self.capacity() - self.entries.len() < additional
    }

    /// Makes room for `additional` entries. If the table must grow, first reclaims dead entries.
    #[track_caller]
    pub(crate) fn reserve(&mut self, additional: usize) {
        if self.is_short_of(additional) {
            self.reclaim_all();
            assert_fits::<Entry<K, V>>(self.entries.len().checked_add(additional));
            self.hints.marks.forget();
            self.entries.reserve(additional, hash);
        }
    }

    /// Makes room as [`reserve`](Self::reserve) does, or returns an error.
    pub(crate) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        if self.is_short_of(additional) {
            self.reclaim_all();
            self.hints.marks.forget();
            // `alloc` does not let other crates construct its error: take the error from a
            // collection in `alloc`.
            self.entries
                .try_reserve(additional, hash)
                .map_err(|_| capacity_error())?;
        }
        Ok(())
    }

    /// Makes room for one more entry, at the beginning of an insertion. A full table first reclaims
    /// its dead entries, and grows only if less than a quarter of it is free afterwards. So a table
    /// whose keys come and go does not grow, and the insertions since the last full sweep pay for
    /// this sweep.
    #[cold]
    pub(super) fn make_more_room(&mut self) {
        self.reclaim_once();
        let len = self.entries.len();
        if len > self.capacity() / 4 * 3 || self.is_short_of(1) {
            // One more than the table can hold: then hashbrown takes its next size, or, if only the
            // tombstones of removed entries fill the table, rehashes in place.
            let additional = (self.capacity() + 1).saturating_sub(len).max(1);
            self.hints.marks.forget();
            self.entries.reserve(additional, hash);
        }
    }

    /// Reclaims all dead entries, and frees memory, but keeps room for `min_capacity` entries.
    pub(crate) fn shrink_to(&mut self, min_capacity: usize) {
        self.reclaim_all();
        self.kept.shrink_to_fit();
        self.shrink_queues();
        self.sweep_position = 0;
        self.hints.marks.forget();
        self.entries.shrink_to(min_capacity, hash);
    }
}

/// Returns the hash of an entry, for hashbrown.
#[inline]
pub(super) fn hash<K: Slot, V: Slot>(entry: &Entry<K, V>) -> u64 {
    entry.hash().get()
}

/// Returns the error of a failed `try_reserve`.
fn capacity_error() -> TryReserveError {
    alloc::vec::Vec::<u8>::new()
        .try_reserve(usize::MAX)
        .expect_err("no vector is that large")
}
