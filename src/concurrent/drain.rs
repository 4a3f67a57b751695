//! How the dead are reclaimed: by their notices, or where there are none, by asking.

use core::cell::Cell;

use super::node::Node;
use super::raw::FirstPanic;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;
use crate::queue::Stripe;
use crate::table::Reclaim;

/// How deep drains may nest: a value that is destroyed by one may make another by what it does.
const NESTED: usize = 16;

std::thread_local! {
    static DRAINS: Cell<usize> = const { Cell::new(0) };
}

impl<K: Eq, T: Watches, V> Table<K, T, V> {
    /// Works off some notices, if there are any, and looks for some of the dead of whom nobody tells.
    #[inline]
    pub(crate) fn tidy(&self) {
        self.sweep_some();
        self.drain_some();
    }

    /// Works off some notices, if there are any.
    #[inline]
    pub(super) fn drain_some(&self) {
        if let Some(stripe) = self.queue().due() {
            self.drain(stripe, false);
        }
    }

    /// Looks at the next few entries of a sweep that goes round, if there are some whose death is not told, and
    /// unlinks those that are stale.
    #[inline]
    pub(super) fn sweep_some(&self) {
        if self.is_swept() {
            self.sweep_next();
        }
    }

    #[inline(never)]
    fn sweep_next(&self) {
        // Those it destroys may use the table, and so find more of them.
        let Some(_depth) = Depth::enter() else { return };
        let pin = self.pin();
        pin.sweep(&self.position, |node| {
            if node.is_stale() {
                self.unlink(&pin, node);
            }
        });
    }

    /// Looks at all entries, and unlinks those that are stale. Says how many.
    fn sweep_all(&self, panics: &mut FirstPanic) -> usize {
        let Some(_depth) = Depth::enter() else {
            return 0;
        };
        let pin = self.pin();
        let mut swept = 0;
        for node in pin.entries() {
            panics.catch(|| swept += usize::from(node.is_stale() && self.unlink(&pin, node)));
        }
        panics.catch(|| drop(pin));
        swept
    }

    /// The same for the entries of one hash.
    #[inline]
    pub(super) fn sweep_hash(&self, hash: HashValue) {
        if self.is_swept() {
            let pin = self.pin();
            while let Some(dead) = self.unlink_if(&pin, hash, Node::is_stale, |_| true) {
                self.end(dead);
            }
        }
    }

    /// Takes some notices and unlinks their entries, which are destroyed at the end. Says whether there
    /// were any.
    #[cold]
    fn drain(&self, stripe: &Stripe, patient: bool) -> bool {
        let Some(_depth) = Depth::enter() else {
            return false;
        };
        let pin = self.pin();
        let mut any = false;
        for notice in stripe.take(patient) {
            any = true;
            let hook = notice.hook();
            let hash = notice.hash();
            match self.unlink_if(&pin, hash, |node| node.is_named_by(hook), |_| true) {
                Some(node) => {
                    if let Some((watch, _)) = node.ready() {
                        watch.complete(hook, self.queue());
                    }
                    if self.kept().is_on_request() {
                        node.keep();
                    }
                    self.count(&self.dead);
                    notice.complete();
                }
                None => self.queue().is_late(notice),
            }
        }
        any
    }

    /// Works off all notices, and those that follow from them, and destroys what is kept of the dead. Inside
    /// a destructor that a drain runs, it may leave some to that drain. Destructors that panic keep none from
    /// being run.
    pub(crate) fn purge(&self) {
        let mut panics = FirstPanic::default();
        loop {
            self.unlink_dead(&mut panics);
            // Which may have killed others.
            if !self.destroy_kept(&mut panics) {
                break;
            }
        }
        panics.resume();
    }

    /// Unlinks the dead, and gives memory back.
    pub(crate) fn shrink_to_fit(&self) {
        let mut panics = FirstPanic::default();
        self.unlink_dead(&mut panics);
        if !self.nodes.is_new() {
            panics.catch(|| self.pin().shrink_to_fit());
        }
        panics.resume();
    }

    fn unlink_dead(&self, panics: &mut FirstPanic) {
        if self.is_swept() {
            while self.sweep_all(panics) > 0 {}
        }
        let mut turn = 0;
        while let Some(stripe) = self.queue().due() {
            if DRAINS.get() >= NESTED {
                return;
            }
            // One that panics has taken some.
            let mut drained = true;
            panics.catch(|| drained = self.drain(stripe, true));
            // Another thread may have taken the last of them, and be about to bury them.
            if !drained {
                crate::sync::relax(&mut turn);
            }
        }
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        if self.kept().is_on_request() {
            Reclaim::OnRequest
        } else {
            Reclaim::OnUse
        }
    }

    pub(crate) fn set_reclaim(&self, reclaim: Reclaim) {
        self.kept().set_on_request(reclaim == Reclaim::OnRequest);
        if reclaim == Reclaim::OnUse {
            let mut panics = FirstPanic::default();
            self.destroy_kept(&mut panics);
            panics.resume();
        }
    }

    /// Destroys what is kept, also if some destructors panic. Says whether there was anything. Inside a
    /// destructor that this runs, it may leave some to that.
    fn destroy_kept(&self, panics: &mut FirstPanic) -> bool {
        let mut any = false;
        if let Some(_depth) = Depth::enter() {
            while let Some(left) = self.kept().take() {
                any = true;
                panics.catch(|| drop(left));
            }
        }
        any
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
