//! The waker: the first notice since nothing was pending calls it.

use alloc::sync::Arc;
use core::task::{Context, Poll, Waker};

use super::entries::Table;
use crate::ptr::WakerCell;
use crate::queue::NoticeQueue;
use crate::reference::Slot;

/// An operation that drains notices. When it ends, also by a panic, the waker is armed again if
/// nothing is pending: not before, since what a drain destroys may kill the next key, which the
/// same drain finds.
pub(super) struct DrainGuard<'a, K: Slot, V: Slot>(pub(super) &'a mut Table<K, V>);

impl<K: Slot, V: Slot> Drop for DrainGuard<'_, K, V> {
    #[inline]
    fn drop(&mut self) {
        self.0.arm();
    }
}

impl<K: Slot, V: Slot> Table<K, V> {
    #[inline]
    pub(super) fn draining(&mut self) -> DrainGuard<'_, K, V> {
        DrainGuard(self)
    }

    /// Arms the waker, if there is one and nothing is pending.
    #[inline]
    pub(super) fn arm(&mut self) {
        self.keys.arm();
        self.values.arm();
    }

    /// The same if only one late notice of each side is pending.
    pub(super) fn settle(&mut self) {
        self.keys.settle();
        self.values.settle();
    }

    #[inline(always)]
    pub(super) fn waker(&self) -> Option<&Arc<WakerCell>> {
        self.keys.waker().or_else(|| self.values.waker())
    }

    /// Sets or removes the waker. One of a table that gets no notices is dropped at once.
    pub(crate) fn set_waker(&mut self, waker: Option<Waker>) {
        drop(self.replace_waker(waker.map(Arc::new)));
    }

    /// Whether there is something that a purge destroys. If not, the next notice calls this waker.
    pub(crate) fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.waker() {
            Some(cell) => cell.renew(context.waker()),
            None => self.set_waker(Some(context.waker().clone())),
        }
        // First the waker, then the look, and only when both stacks are armed: what has come
        // meanwhile wakes nobody, if the other one was not (W2 of `ptr::waker`).
        self.settle();
        if self.is_idle() && self.kept.len() == 0 {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    pub(super) fn replace_waker(&mut self, waker: Option<Arc<Waker>>) -> Option<Arc<Waker>> {
        if let Some(cell) = self.waker() {
            return cell.replace(waker);
        }
        if waker.is_some() {
            let cell = WakerCell::new();
            self.keys.attach(&cell);
            self.values.attach(&cell);
            if self.waker().is_none() {
                // No notices come.
                return waker;
            }
            cell.replace(waker);
        }
        None
    }
}
