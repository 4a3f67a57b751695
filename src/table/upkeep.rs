//! What keeps a table in order: the dead go, and it grows, shrinks and ends.

use alloc::collections::TryReserveError;
use core::mem;

use super::entries::Table;
use super::entry::{Entry, Remains};
use super::reclaim::Reclaim;
use super::slot::Slot;
use super::sweep::Search;
use crate::hash::HashValue;

impl<K: Slot, V: Slot> Table<K, V> {
    /// The beginning of every operation that may change the table: buries a few of the dead.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        self.reclaim_some_notified();
        if Self::SWEPT {
            self.sweep_some();
        }
    }

    /// Buries all the dead; and those whom that kills, if what they leave is not kept.
    fn reclaim_all(&mut self) {
        let mut search = Search::new();
        while let Some(remains) = self.unlink_dead(&mut search) {
            self.kept.reclaim(remains);
        }
    }

    /// Unlinks the next dead entry: those who announce their death first, then those for whom one has
    /// to search. None if nobody is dead.
    fn unlink_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        self.unlink_notified().or_else(|| self.search_dead(search))
    }

    /// Destroys what all the dead leave or have left, and those whom that kills.
    pub(crate) fn purge(&mut self) {
        let mut search = Search::new();
        while self.take_dead(&mut search).is_some() {}
    }

    /// Gives out what some dead entry leaves or has left. None if nobody is dead.
    pub(crate) fn take_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        self.kept.take().or_else(|| self.unlink_dead(search))
    }

    /// Makes room for `additional` entries, and if it has to grow for that, buries the dead first.
    pub(crate) fn reserve(
        &mut self,
        additional: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) {
        if self.is_short_of(additional) {
            self.reclaim_all();
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
            // `alloc` keeps its error's constructors to itself: ask a collection of its own.
            self.entries
                .try_reserve(additional, |entry| hasher(entry).get())
                .map_err(|_| refusal())?;
        }
        Ok(())
    }

    /// The beginning of an insert: room for one more. When the table is full, the dead go first, and
    /// it grows only if that has not freed a quarter of it: so a table whose keys come and go does not
    /// grow, and the look at all the entries is paid for by the inserts since the last.
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
            // One more than it can hold: the table behind takes its next size, or, if only the marks of
            // removed entries fill it, cleans itself up in place.
            let additional = (self.capacity() + 1).saturating_sub(len).max(1);
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
        self.entries
            .shrink_to(min_capacity, |entry| hasher(entry).get());
        self.hand = 0;
    }

    /// Drops all entries, and what the dead have left, and keeps the table's memory.
    pub(crate) fn clear(&mut self) {
        self.end_all();
        self.entries.clear();
        self.kept.clear();
    }

    /// Takes all entries out; this one is empty then, and without its memory. Where the dead are to
    /// leave something until it is asked for, they leave it here.
    pub(crate) fn take_entries(&mut self) -> Self {
        if self.reclaim() == Reclaim::OnRequest {
            self.reclaim_all();
        }
        let mut empty = Table::new();
        mem::swap(&mut empty.kept, &mut self.kept);
        mem::replace(self, empty)
    }

    /// Nobody is to tell this table anything any more: all its entries are about to be dropped. Before
    /// the first value is, since its destructor may panic and leave the others leaked, but not
    /// watching; or kill a key of this table, whose notice would be of no use.
    fn end_all(&mut self) {
        for entry in self.entries.iter_mut() {
            entry.end(&mut self.keys, &mut self.values);
        }
        // What is left in the queues has lost its entry.
        self.reclaim_notified();
    }
}

impl<K: Slot, V: Slot> Drop for Table<K, V> {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// The error of a reserve that failed.
fn refusal() -> TryReserveError {
    alloc::vec::Vec::<u8>::new()
        .try_reserve(usize::MAX)
        .expect_err("no vector is that large")
}
