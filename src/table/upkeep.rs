//! Maintenance of a table: reclaiming dead entries, growing, shrinking and clearing.

use alloc::collections::TryReserveError;
use core::mem;

use super::entries::Table;
use super::entry::{Entry, Remains};
use super::reclaim::Reclaim;
use super::sweep::Search;
use crate::hash::HashValue;
use crate::panics::{FirstPanic, run_all};
use crate::queue::NoticeQueue;
use crate::reference::Slot;

impl<K: Slot, V: Slot> Table<K, V> {
    /// Reclaims a few dead entries. Every operation that may change the table calls this.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        self.reclaim_some_notified();
        if Self::SWEPT {
            self.sweep_some();
        }
    }

    /// Reclaims all dead entries. Unless the remains are kept, their destructors may kill more
    /// entries, which are reclaimed too.
    fn reclaim_all(&mut self) {
        let mut search = Search::new();
        let drain = self.draining();
        while let Some(remains) = drain.0.unlink_dead(&mut search) {
            drain.0.kept.reclaim(remains);
        }
    }

    /// Unlinks the next dead entry: first the entries with pending notices, then the entries that a
    /// search finds. Returns `None` if no entry is dead.
    fn unlink_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        let notified = self.unlink_notified(&mut { usize::MAX });
        notified.or_else(|| self.search_dead(search))
    }

    /// Destroys kept remains, and reclaims all dead entries, including entries that die meanwhile.
    /// Returns whether notices are pending again.
    pub(crate) fn purge(&mut self) -> bool {
        let mut search = Search::new();
        loop {
            let drain = self.draining();
            while drain.0.next_dead(&mut search).is_some() {}
            drop(drain);
            // If only one queue was armed, a notice that came to it woke nobody. So look again.
            if self.is_idle() {
                break;
            }
        }
        !self.is_idle()
    }

    /// Destroys kept remains, and reclaims dead entries. Takes at most `most` items, and returns
    /// the number of items taken. An item is the kept remains of one entry, a notice (late notices
    /// included), or a dead entry that a sweep finds. The sweep goes no further than `most`
    /// operations would.
    ///
    /// A caller need not look again, as `purge` does: if an operation leaves a queue unarmed, a
    /// notice is pending there, and the next call takes and counts the notice. So a call that
    /// returns 0 leaves both queues armed.
    pub(crate) fn purge_some(&mut self, most: usize) -> usize {
        let (mut left, mut buckets) = (most, self.buckets_of(most));
        let drain = self.draining();
        while drain.0.next_dead_within(&mut left, &mut buckets).is_some() {}
        most - left
    }

    /// Sets the policy. A change to [`Reclaim::OnUse`] destroys kept remains, and reclaims entries
    /// with pending notices. If a destructor panics, the policy stays as it was, and all other
    /// remains are still kept or pending.
    pub(crate) fn set_reclaim(&mut self, reclaim: Reclaim) {
        let drain = self.draining();
        if reclaim == Reclaim::OnUse && drain.0.kept.policy() == Reclaim::OnRequest {
            let mut left = usize::MAX;
            while drain.0.next_dead_within(&mut left, &mut 0).is_some() {}
        }
        drain.0.kept.set_policy(reclaim);
    }

    fn next_dead_within(&mut self, left: &mut usize, buckets: &mut usize) -> Option<Remains<K, V>> {
        if *left == 0 {
            return None;
        }
        let kept = self.kept.take();
        if kept.is_none() {
            let notified = self.unlink_notified(left);
            if notified.is_some() || *left == 0 {
                return notified;
            }
        }
        let dead = kept.or_else(|| self.sweep_dead(buckets));
        *left -= usize::from(dead.is_some());
        dead
    }

    fn next_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        self.kept.take().or_else(|| self.unlink_dead(search))
    }

    /// Takes the remains of one dead entry. Returns `None` if no entry is dead.
    pub(crate) fn take_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        loop {
            let dead = self.next_dead(search);
            // Arm each time: the caller may make no further call.
            self.arm();
            if dead.is_some() || self.is_idle() {
                return dead;
            }
        }
    }

    /// Makes room for `additional` entries. If the table must grow, first reclaims dead entries.
    pub(crate) fn reserve(
        &mut self,
        additional: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) {
        if self.is_short_of(additional) {
            self.reclaim_all();
            self.hints.marks.forget();
            self.entries
                .reserve(additional, |entry| hasher(entry).get());
        }
    }

    pub(crate) fn try_reserve(
        &mut self,
        additional: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) -> Result<(), TryReserveError> {
        if self.is_short_of(additional) {
            self.reclaim_all();
            self.hints.marks.forget();
            // `alloc` does not let other crates construct its error: take the error from a
            // collection in `alloc`.
            self.entries
                .try_reserve(additional, |entry| hasher(entry).get())
                .map_err(|_| capacity_error())?;
        }
        Ok(())
    }

    /// Makes room for one more entry, at the beginning of an insertion. A full table first reclaims
    /// its dead entries, and grows only if less than a quarter of it is free afterwards. So a table
    /// whose keys come and go does not grow, and the insertions since the last full sweep pay for
    /// this sweep.
    #[inline]
    pub(crate) fn make_room(&mut self, hasher: impl Fn(&Entry<K, V>) -> HashValue) {
        if self.is_short_of(1) {
            self.make_more_room(hasher);
        }
    }

    #[cold]
    fn make_more_room(&mut self, hasher: impl Fn(&Entry<K, V>) -> HashValue) {
        self.reclaim_notified();
        if Self::SWEPT {
            self.sweep_once();
        }
        let len = self.entries.len();
        if len > self.capacity() / 4 * 3 || self.is_short_of(1) {
            // One more than the table can hold: then hashbrown takes its next size, or, if only the
            // tombstones of removed entries fill the table, rehashes in place.
            let additional = (self.capacity() + 1).saturating_sub(len).max(1);
            self.hints.marks.forget();
            self.entries
                .reserve(additional, |entry| hasher(entry).get());
        }
    }

    pub(crate) fn shrink_to(
        &mut self,
        min_capacity: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) {
        self.reclaim_all();
        self.kept.shrink_to_fit();
        self.shrink_queues();
        self.hints.marks.forget();
        self.entries
            .shrink_to(min_capacity, |entry| hasher(entry).get());
        self.sweep_position = 0;
    }

    fn shrink_queues(&mut self) {
        self.keys.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Drops all entries and kept remains, and keeps the memory of the table itself. If a
    /// destructor panics, the other destructors still run.
    pub(crate) fn clear(&mut self) {
        self.deregister_all();
        self.shrink_queues();
        let mut panics = FirstPanic::default();
        let mut entries = self.entries.drain();
        panics.catch(|| run_all(|| entries.next().is_some()));
        drop(entries);
        panics.catch(|| self.kept.clear());
        panics.resume();
    }

    /// Iterates over the kept remains of dead entries.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Remains<K, V>> {
        self.kept.iter()
    }

    /// Moves all entries out, and leaves this table empty and without memory. Under
    /// [`Reclaim::OnRequest`], the remains of dead entries stay with this table.
    pub(crate) fn take_entries(&mut self) -> Self {
        if self.reclaim() == Reclaim::OnRequest {
            self.reclaim_all();
        }
        let mut empty = Table::new();
        mem::swap(&mut empty.kept, &mut self.kept);
        let waker = self.replace_waker(None);
        empty.replace_waker(waker);
        mem::replace(self, empty)
    }

    /// Deregisters all entries, which are about to be dropped. Comes before the first value is
    /// dropped. A destructor of a value may panic, and leak the other entries: these must not watch
    /// any more. Or a destructor may kill a key of this table, whose notice would be useless.
    fn deregister_all(&mut self) {
        for entry in self.entries.iter_mut() {
            entry.deregister(&mut self.keys, &mut self.values);
        }
        // The notices that are still in the queues have no entry any more.
        self.reclaim_notified();
    }
}

impl<K: Slot, V: Slot> Drop for Table<K, V> {
    /// Drops entries and kept remains. If a destructor panics, the other destructors still run.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.deregister_all());
        let mut entries = mem::take(&mut self.entries).into_iter();
        panics.catch(|| run_all(|| entries.next().is_some()));
        panics.catch(|| drop(self.replace_waker(None)));
        panics.catch(|| self.kept.clear());
        panics.resume();
    }
}

/// Returns the error of a failed `try_reserve`.
fn capacity_error() -> TryReserveError {
    alloc::vec::Vec::<u8>::new()
        .try_reserve(usize::MAX)
        .expect_err("no vector is that large")
}
