//! The waker: called by the first notice that comes while nothing is pending.

use alloc::sync::Arc;
use core::task::{Context, Poll, Waker};
use hashbrown::HashTable;

use super::entries::Table;
use super::entry::Entry;
use crate::ptr::WakerCell;
use crate::queue::NoticeQueue;
use crate::reference::Slot;

/// An operation that drains notices. When the operation ends, even by a panic, the waker is armed
/// again if nothing is pending. It is not armed earlier, because a destructor that the drain runs
/// may kill the next key, whose notice the same drain takes.
pub(super) struct DrainGuard<'a, K: Slot, V: Slot>(pub(super) &'a mut Table<K, V>);

impl<K: Slot, V: Slot> Drop for DrainGuard<'_, K, V> {
    #[inline]
    fn drop(&mut self) {
        self.0.arm();
    }
}

impl<K: Slot, V: Slot> Table<K, V> {
    /// Arms the waker, if there is a waker and nothing is pending.
    #[inline]
    pub(super) fn arm(&mut self) {
        self.keys.arm();
        self.values.arm();
    }

    /// Arms the waker, as [`arm`](Self::arm) does. Before, finishes a late notice that is alone in
    /// its queue.
    pub(super) fn settle(&mut self) {
        let (entries, keys, values) = (&self.entries, &mut self.keys, &mut self.values);
        finish_late(keys, entries, |entry, notice| entry.key.is_named_by(notice));
        finish_late(values, entries, |entry, notice| {
            entry.value.is_named_by(notice)
        });
        self.arm();
    }

    #[inline(always)]
    pub(super) fn waker(&self) -> Option<&Arc<WakerCell>> {
        self.keys.waker().or_else(|| self.values.waker())
    }

    /// Sets or removes the waker. If the collection gets no notices, the waker is dropped at once.
    pub(crate) fn set_waker(&mut self, waker: Option<Waker>) {
        drop(self.replace_waker(waker.map(Arc::new)));
    }

    /// Returns whether a purge would destroy something. If not, the next notice calls the waker of
    /// `context`.
    pub(crate) fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.waker() {
            Some(cell) => cell.renew(context.waker()),
            None => self.set_waker(Some(context.waker().clone())),
        }
        // Set the waker first, and look after both stacks are armed. A notice that comes while only
        // one stack is armed wakes nobody (W2 of `ptr::waker`).
        self.settle();
        if self.is_idle() && self.kept.len() == 0 {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    /// Replaces the waker, and returns the old waker. Returns the new waker if the collection gets
    /// no notices.
    pub(super) fn replace_waker(&mut self, waker: Option<Arc<Waker>>) -> Option<Arc<Waker>> {
        if let Some(cell) = self.waker() {
            return cell.replace(waker);
        }
        if waker.is_some() {
            let cell = WakerCell::new();
            self.keys.attach(&cell);
            self.values.attach(&cell);
            if self.waker().is_none() {
                // This collection gets no notices.
                return waker;
            }
            cell.replace(waker);
        }
        None
    }
}

/// Finishes a notice that is alone in its queue, if it is late. `named` returns whether an entry
/// belongs to a notice.
fn finish_late<D: NoticeQueue, K: Slot, V: Slot>(
    deaths: &mut D,
    entries: &HashTable<Entry<K, V>>,
    named: impl Fn(&Entry<K, V>, &D::Notice) -> bool,
) {
    let late = deaths.alone().is_some_and(|alone| {
        let entry = entries.find(D::cookie(&alone).get(), |entry| named(entry, &alone));
        entry.is_none()
    });
    if let Some(notice) = late.then(|| deaths.next()).flatten() {
        deaths.finish(notice);
        deaths.was_late();
    }
}
