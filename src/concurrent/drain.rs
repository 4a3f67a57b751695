//! How the dead are buried: by their notices, or where there are none, by asking.

use core::cell::Cell;
use core::sync::atomic::Ordering::*;

use super::node::Node;
use super::table::{MANY, Table};
use super::tie::Tied;
use crate::hash::HashValue;

/// How deep drains may nest: a value that is destroyed by one may make another by what it does.
const NESTED: usize = 16;

std::thread_local! {
    static DRAINS: Cell<usize> = const { Cell::new(0) };
}

impl<K: Eq, T: Tied, V> Table<K, T, V> {
    /// Works off some notices, if there are any.
    #[inline]
    pub(crate) fn tend(&self) {
        if !self.queue.is_idle() {
            self.drain(false);
        }
    }

    /// Counts a new entry, and sweeps when there are as many new ones as there were.
    #[inline]
    pub(super) fn has_grown(&self) {
        if self.swept.load(Relaxed) && self.until_sweep.fetch_sub(1, Relaxed) == 1 {
            self.sweep();
        }
    }

    /// Unlinks what is stale, by asking. Says how many.
    fn sweep(&self) -> usize {
        let pin = self.pin();
        let mut swept = 0;
        // Set at once, or it would count below zero, also when somebody's code panics here.
        self.until_sweep.store(self.entries().max(MANY), Relaxed);
        for node in pin.entries() {
            if node.is_stale() && self.unlink(&pin, node) {
                swept += 1;
            }
        }
        self.until_sweep.store(self.entries().max(MANY), Relaxed);
        swept
    }

    /// The same for the entries of one hash.
    #[inline]
    pub(super) fn sweep_hash(&self, hash: HashValue) {
        if self.swept.load(Relaxed) {
            let pin = self.pin();
            while let Some(dead) = self.unlink_if(&pin, hash, Node::is_stale, |_| true) {
                self.end(dead);
            }
        }
    }

    /// Takes some notices and unlinks their entries, which are destroyed at the end. Says whether there
    /// were any.
    #[cold]
    fn drain(&self, patient: bool) -> bool {
        let Some(_depth) = Depth::enter() else {
            return false;
        };
        let pin = self.pin();
        let mut any = false;
        for notice in self.queue.take(patient) {
            any = true;
            let hook = notice.hook();
            let hash = notice.hash();
            match self.unlink_if(&pin, hash, |node| node.is_named_by(hook), |_| true) {
                Some(node) => {
                    if let Some((tie, _)) = node.ready() {
                        tie.settle(hook);
                    }
                    if self.kept.is_on_request() {
                        self.keep(node);
                    }
                    self.dead.fetch_add(1, Relaxed);
                    notice.bury();
                }
                None => notice.bury_orphan(),
            }
        }
        any
    }

    /// Works off all notices, and those that follow from them, and destroys what is kept of the dead. Inside
    /// a destructor that a drain runs, it may leave some to that drain.
    pub(crate) fn purge(&self) {
        loop {
            self.unlink_dead();
            // Which may have killed others.
            if !self.destroy_kept() {
                return;
            }
        }
    }

    fn unlink_dead(&self) {
        if self.swept.load(Relaxed) {
            while self.sweep() > 0 {}
        }
        let mut turn = 0;
        while !self.queue.is_idle() {
            if DRAINS.get() >= NESTED {
                return;
            }
            // Another thread may have taken the last of them, and be about to bury them.
            if !self.drain(true) {
                crate::sync::relax(&mut turn);
            }
        }
    }
}

/// How deep this thread is in drains, until it is dropped.
pub(super) struct Depth {
    before: usize,
}

impl Depth {
    /// One drain more; none if there are too many.
    pub(super) fn enter() -> Option<Self> {
        let before = DRAINS.get();
        (before < NESTED).then(|| Self::set(before, before + 1))
    }

    /// As deep as can be: nothing is drained.
    pub(super) fn full() -> Self {
        Self::set(DRAINS.get(), NESTED)
    }

    fn set(before: usize, now: usize) -> Self {
        DRAINS.set(now);
        Depth { before }
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DRAINS.set(self.before);
    }
}
