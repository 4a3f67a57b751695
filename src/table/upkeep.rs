//! Maintenance of a table: reclaiming the dead, growing, shrinking and clearing.

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
    /// Reclaims a few of the dead. Every operation that may change the table does this.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        self.reclaim_some_notified();
        if Self::SWEPT {
            self.sweep_some();
        }
    }

    /// Reclaims all the dead, and the entries that die of that, unless what the dead leave is kept.
    fn reclaim_all(&mut self) {
        let mut search = Search::new();
        let drain = self.draining();
        while let Some(remains) = drain.0.unlink_dead(&mut search) {
            drain.0.kept.reclaim(remains);
        }
    }

    /// Unlinks the next dead entry: first those with pending notices, then those that a search
    /// finds. `None` if none is dead.
    fn unlink_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        let notified = self.unlink_notified(&mut { usize::MAX });
        notified.or_else(|| self.search_dead(search))
    }

    /// Destroys what dead entries leave or have left, and reclaims the entries that die of that.
    /// Returns whether notices are pending again.
    pub(crate) fn purge(&mut self) -> bool {
        let mut search = Search::new();
        loop {
            let drain = self.draining();
            while drain.0.next_dead(&mut search).is_some() {}
            drop(drain);
            // What comes in meanwhile wakes nobody, if the other queue was not yet armed.
            if self.is_idle() {
                break;
            }
        }
        !self.is_idle()
    }

    /// Destroys what dead entries leave or have left: takes `most` of what is kept, of the notices,
    /// late ones too, and of what it finds dead, and returns how many it has taken. Among slots
    /// that send no notices it sweeps on, as far as so many operations would.
    ///
    /// It need not look again, as `purge` does: a queue that an operation leaves unarmed has
    /// something pending, which the next call takes, and counts. So one that returns 0 leaves both
    /// armed.
    pub(crate) fn purge_some(&mut self, most: usize) -> usize {
        let (mut left, mut buckets) = (most, self.buckets_of(most));
        let drain = self.draining();
        while drain.0.next_dead_within(&mut left, &mut buckets).is_some() {}
        most - left
    }

    /// Sets the policy. If nothing is to be kept any more, destroys what dead entries leave or have
    /// left, those that send notices. If a destructor panics, the policy stays as it was, and the
    /// rest is still kept or pending.
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

    /// Returns what some dead entry leaves or has left. `None` if none is dead.
    pub(crate) fn take_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        loop {
            let dead = self.next_dead(search);
            // Each time: the caller may ask for no more.
            self.arm();
            if dead.is_some() || self.is_idle() {
                return dead;
            }
        }
    }

    /// Makes room for `additional` entries. If the table has to grow, reclaims the dead first.
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
            // `alloc` does not let others construct its error: take it from a collection of
            // `alloc`'s.
            self.entries
                .try_reserve(additional, |entry| hasher(entry).get())
                .map_err(|_| capacity_error())?;
        }
        Ok(())
    }

    /// Makes room for one more entry, at the beginning of an insert. A full table reclaims its dead
    /// first, and grows only if that has not freed a quarter of it. So a table whose keys come and
    /// go does not grow, and the inserts since the last full sweep pay for this one.
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
            // One more than the table can hold: hashbrown then takes its next size, or, if only the
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

    /// Drops all entries and what the dead have left, and keeps the memory of the table itself. If
    /// the destructor of one of these panics, the others run.
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

    /// What is kept of dead entries.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Remains<K, V>> {
        self.kept.iter()
    }

    /// Moves all entries out, and leaves this table empty and without memory. If the dead leave
    /// something until it is asked for, that stays with this table.
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

    /// Deregisters all entries: they are about to be dropped. This comes before the first value is
    /// dropped. Its destructor may panic, and then the other entries leak, but do not watch any
    /// more; or it may kill a key of this table, whose notice would be useless.
    fn deregister_all(&mut self) {
        for entry in self.entries.iter_mut() {
            entry.deregister(&mut self.keys, &mut self.values);
        }
        // What is left in the queues has lost its entry.
        self.reclaim_notified();
    }
}

impl<K: Slot, V: Slot> Drop for Table<K, V> {
    /// If the destructor of one of these panics, the others run.
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

/// The error of a `try_reserve` that failed.
fn capacity_error() -> TryReserveError {
    alloc::vec::Vec::<u8>::new()
        .try_reserve(usize::MAX)
        .expect_err("no vector is that large")
}
