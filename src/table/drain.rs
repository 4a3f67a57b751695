//! Reclaiming dead entries, and clearing.

use core::mem;

use super::entries::Table;
use super::entry::Remains;
use super::reclaim::Reclaim;
use super::waker::DrainGuard;
use crate::panics::{FirstPanic, run_all};
use crate::queue::NoticeQueue;
use crate::reference::Slot;

impl<K: Slot, V: Slot> Table<K, V> {
    /// Reclaims a few dead entries. Each operation that may change the collection calls `tidy`.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        self.reclaim_some_notified();
        if Self::SWEPT {
            self.sweep(self.places_of(1));
        }
    }

    /// Reclaims all dead entries. Unless the remains are kept, their destructors may kill more
    /// entries, which are reclaimed too. The sweep ends when a whole pass has found nothing: the
    /// death of an entry may cause the death of another entry behind the current position.
    pub(crate) fn reclaim_all(&mut self) {
        let drain = DrainGuard(self);
        let all = drain.0.entries.num_buckets();
        while let Some(remains) = drain.0.unlink_dead(&mut { usize::MAX }, &mut { all }) {
            drain.0.kept.reclaim(remains);
        }
    }

    /// Unlinks the next dead entry: an entry with a pending notice, or else an entry that a sweep
    /// of at most `places` places finds. Subtracts the number of notices, or one for the swept
    /// entry, from `left`.
    #[inline(always)]
    fn unlink_dead(&mut self, left: &mut usize, places: &mut usize) -> Option<Remains<K, V>> {
        let notified = self.unlink_notified(left);
        if notified.is_some() || *left == 0 {
            return notified;
        }
        let swept = self.sweep_dead(places);
        *left -= usize::from(swept.is_some());
        swept
    }

    /// Destroys kept remains, and reclaims all dead entries, including entries that die meanwhile.
    /// Returns whether notices are pending again.
    pub(crate) fn purge(&mut self) -> bool {
        loop {
            let drain = DrainGuard(self);
            while drain.0.next_of_all().is_some() {}
            drop(drain);
            // If only one queue was armed, a notice that came to it woke nobody (W2 of
            // `ptr::waker`). So look again.
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
        most - self.drain(most, self.places_of(most))
    }

    /// Sets the policy. A change to [`Reclaim::OnUse`] destroys kept remains, and reclaims entries
    /// with pending notices. If a destructor panics, the policy stays as it was, and all other
    /// remains are still kept or pending.
    pub(crate) fn set_reclaim(&mut self, reclaim: Reclaim) {
        if reclaim == Reclaim::OnUse && self.reclaim() == Reclaim::OnRequest {
            self.drain(usize::MAX, 0);
        }
        self.kept.set_policy(reclaim);
    }

    /// Destroys the remains that `next_dead` returns. Returns the items that are left.
    fn drain(&mut self, mut left: usize, mut places: usize) -> usize {
        let drain = DrainGuard(self);
        while drain.0.next_dead(&mut left, &mut places).is_some() {}
        left
    }

    /// Takes kept remains, or else unlinks the next dead entry as `unlink_dead` does.
    #[inline(always)]
    fn next_dead(&mut self, left: &mut usize, places: &mut usize) -> Option<Remains<K, V>> {
        if *left == 0 {
            return None;
        }
        let kept = self.kept.take();
        if kept.is_none() {
            return self.unlink_dead(left, places);
        }
        *left -= 1;
        kept
    }

    /// As [`next_dead`](Self::next_dead), without limits.
    fn next_of_all(&mut self) -> Option<Remains<K, V>> {
        self.next_dead(&mut { usize::MAX }, &mut self.entries.num_buckets())
    }

    /// Takes the remains of one dead entry. Returns `None` if no entry is dead.
    pub(crate) fn take_dead(&mut self) -> Option<Remains<K, V>> {
        loop {
            let dead = self.next_of_all();
            // Arm each time: the caller may make no further call.
            self.arm();
            if dead.is_some() || self.is_idle() {
                return dead;
            }
        }
    }

    pub(super) fn shrink_queues(&mut self) {
        self.keys.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Drops all entries and kept remains, and keeps the memory of the entries. If a destructor
    /// panics, the other destructors still run.
    pub(crate) fn clear(&mut self) {
        self.deregister_all();
        self.shrink_queues();
        let mut panics = FirstPanic::default();
        panics.catch(|| self.drop_entries());
        panics.catch(|| self.kept.clear());
        panics.resume();
    }

    fn drop_entries(&mut self) {
        let mut entries = self.entries.drain();
        run_all(|| entries.next().is_some());
    }

    /// Moves all entries out, and leaves this collection empty and without memory. Under
    /// [`Reclaim::OnRequest`], the remains of dead entries stay with this collection.
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
    /// any more. Or a destructor may kill a key of this collection, whose notice would be useless.
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
        panics.catch(|| self.drop_entries());
        panics.catch(|| drop(self.replace_waker(None)));
        panics.catch(|| self.kept.clear());
        panics.resume();
    }
}
