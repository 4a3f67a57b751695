//! Reclamation of dead entries: by their notices or, for pointers that send none, by polling.

use core::cell::Cell;
use core::task::Waker;

use super::compare::Compare;
use super::key::KeyKind;
use super::node::Node;
use super::raw::Entry;
use super::table::{Pin, Table};
use super::watch::{Deregister, Watches};
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::queue::{DrainGuard, Stripe};
use crate::table::Reclaim;

/// How deep drains may nest: the destructor of what one drain reclaims may start another.
const MAX_NESTED: usize = 16;

std::thread_local! {
    static DRAINS: Cell<usize> = const { Cell::new(0) };
}

impl<K: Compare<T>, T: Watches, V> Table<K, T, V> {
    /// Drains some notices, if there are any, and polls some of the entries that send none.
    #[inline]
    pub(crate) fn tidy(&self) {
        self.sweep_some();
        self.drain_some();
    }

    /// Drains some notices, if there are any.
    #[inline]
    pub(super) fn drain_some(&self) {
        if let Some(stripe) = self.queue().due() {
            self.drain(stripe, false);
        }
    }

    /// Sweeps on: polls the next few entries, if there are some that have to be polled, and unlinks the stale
    /// ones.
    #[inline]
    pub(super) fn sweep_some(&self) {
        if self.is_swept() {
            self.sweep_next();
        }
    }

    #[inline(never)]
    fn sweep_next(&self) {
        // The destructors it runs may use the table, and so sweep on.
        let Some(_depth) = Depth::enter() else { return };
        let pin = self.pin();
        pin.sweep(&self.position, |node| {
            if node.is_stale() {
                self.unlink(&pin, node);
            }
        });
    }

    /// Polls all entries, and unlinks the stale ones. `again`: to find those that the destructors of others have killed.
    ///
    /// But other threads may kill all the time, and insert what dies at once, and polling does not tell who has killed
    /// what. So a sweep that comes again looks twice before it destroys anything: what only the second look finds,
    /// others have killed.
    fn sweep_all(&self, again: bool, panics: &mut FirstPanic) -> Swept {
        let Some(_depth) = Depth::enter() else {
            return Swept::Nothing;
        };
        let pin = self.pin();
        if !self.unlink_stale(&pin, panics) {
            return Swept::Nothing;
        }
        let others = again && self.unlink_stale(&pin, panics);
        panics.catch(|| drop(pin));
        if others { Swept::OfOthers } else { Swept::Some }
    }

    /// Polls all entries that are there now, and unlinks the stale ones. Returns whether there were any.
    fn unlink_stale(&self, pin: &Pin<'_, K, T, V>, panics: &mut FirstPanic) -> bool {
        let mut any = false;
        for node in pin.entries() {
            panics.catch(|| any |= node.is_stale() && self.unlink(pin, node));
        }
        any
    }

    /// Polls the entries of one hash, and unlinks the stale ones. O(entries of that hash).
    #[inline]
    pub(super) fn sweep_hash(&self, hash: HashValue) {
        if self.is_swept() {
            let mut panics = FirstPanic::default();
            let pin = self.pin();
            pin.remove_all(hash.bits(), Node::is_stale, |dead| {
                panics.catch(|| _ = self.end(dead));
            });
            panics.catch(|| drop(pin));
            panics.resume();
        }
    }

    /// Drains some notices, if there are any, for an operation that is about to change the table, and returns its
    /// pin. What is drained is destroyed before that: else its destructors could change what the operation has just
    /// done. But where nothing has a destructor, one pin serves both, since to enter and to leave costs a barrier
    /// each. (The drain ends here even so: what is destroyed after it starts no other, and kills nothing.)
    #[inline]
    pub(super) fn drain_and_pin(&self) -> Pin<'_, K, T, V> {
        if Node::<K, T, V>::PROMPT {
            self.drain_some();
            return self.pin();
        }
        let pin = self.pin();
        if let Some(stripe) = self.queue().due() {
            if let Some(_drained) = Drained::of(stripe) {
                self.unlink_notified(&pin, stripe, false);
            }
        }
        pin
    }

    /// Takes some notices and unlinks their entries, which are destroyed at the end. Returns whether there were
    /// any.
    #[cold]
    fn drain(&self, stripe: &Stripe, patient: bool) -> bool {
        let Some(_drained) = Drained::of(stripe) else {
            return false;
        };
        // Dropped first: it destroys what was unlinked.
        let pin = self.pin();
        self.unlink_notified(&pin, stripe, patient)
    }

    /// Takes some notices and unlinks their entries. Returns whether there were any.
    #[inline(never)]
    fn unlink_notified(&self, pin: &Pin<'_, K, T, V>, stripe: &Stripe, patient: bool) -> bool {
        let mut any = false;
        for notice in stripe.take(patient) {
            any = true;
            let hook = notice.hook();
            let hash = notice.hash();
            match self.unlink_if(pin, hash, |node| node.is_named_by(hook), |_| true) {
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
                None => self.queue().complete_late(notice),
            }
        }
        any
    }

    /// Drains all notices, and those that follow from that, and destroys what is kept of dead entries. Inside a
    /// destructor that a drain runs, it may leave some to that drain. All destructors run, even if some panic.
    pub(crate) fn purge(&self) {
        let mut panics = FirstPanic::default();
        self.unlink_dead(true, &mut panics);
        // Where nothing has a destructor, a reader may have left memory to the next who leaves (D3 of `raw`).
        if !Node::<K, T, V>::PROMPT && !self.nodes.is_new() {
            panics.catch(|| drop(self.pin()));
        }
        panics.resume();
    }

    /// Unlinks the dead, and gives memory back.
    pub(crate) fn shrink_to_fit(&self) {
        let mut panics = FirstPanic::default();
        self.unlink_dead(false, &mut panics);
        if !self.nodes.is_new() {
            panics.catch(|| self.pin().shrink_to_fit());
        }
        panics.resume();
    }

    /// Unlinks the dead, and those that die of that. With `kept`, it also destroys what is kept of dead entries.
    ///
    /// It looks at each entry three times at most, and twice more for each generation of entries that its own
    /// destructors kill.
    fn unlink_dead(&self, kept: bool, panics: &mut FirstPanic) {
        let mut again = false;
        loop {
            let mut swept = Swept::Nothing;
            if self.is_swept() {
                swept = self.sweep_all(again, panics);
            }
            let drained = self.drain_all(panics);
            let destroyed = kept && self.destroy_kept(panics);
            // That may have killed some that the sweep has passed.
            let unlinked = self.is_swept() && (drained || swept == Swept::Some);
            again = destroyed || unlinked && Node::<K, T, V>::PROMPT;
            if !again || swept == Swept::OfOthers {
                return;
            }
        }
    }

    /// Drains all notices, and those that follow from that. Returns whether there were any.
    fn drain_all(&self, panics: &mut FirstPanic) -> bool {
        let (mut any, mut turn) = (false, 0);
        loop {
            let Some(stripe) = self.queue().due() else {
                self.queue().arm();
                // What had come in before that woke nobody.
                if self.queue().is_idle() {
                    return any;
                }
                continue;
            };
            if DRAINS.get() >= MAX_NESTED {
                return any;
            }
            any = true;
            // A drain that panics has taken some.
            let mut drained = true;
            panics.catch(|| drained = self.drain(stripe, true));
            // Another thread may have taken the last of them, and be about to unlink their entries.
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

    pub(crate) fn set_waker(&self, waker: Option<Waker>) {
        self.queue().set_waker(waker);
    }

    /// Destroys what is kept, even if some destructors panic. Returns whether there was anything. Inside a
    /// destructor that this runs, it may leave some to that outer call.
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

impl<K: KeyKind, T: Deregister, V> Drop for Table<K, T, V> {
    /// The waker goes before the entries: what they own may be the last handles to other keys, and nobody can purge this
    /// table any more.
    fn drop(&mut self) {
        self.nodes.context().queue.set_waker(None);
    }
}

/// What a sweep over all entries has found.
#[derive(PartialEq)]
enum Swept {
    Nothing,
    Some,
    /// Some, and others are killed meanwhile by other threads.
    OfOthers,
}

/// A drain, until what it has unlinked is destroyed.
struct Drained<'t> {
    _draining: DrainGuard<'t>,
    _depth: Depth,
}

impl<'t> Drained<'t> {
    /// `None` if drains nest too deep.
    #[inline]
    fn of(stripe: &'t Stripe) -> Option<Self> {
        let _depth = Depth::enter()?;
        let _draining = stripe.draining();
        Some(Drained { _draining, _depth })
    }
}

/// How deep this thread is in drains, until this is dropped.
pub(super) struct Depth {
    before: usize,
}

impl Depth {
    /// Enters one more drain; `None` if they nest too deep.
    pub(super) fn enter() -> Option<Self> {
        let before = DRAINS.get();
        (before < MAX_NESTED).then(|| Self::set(before, before + 1))
    }

    /// As deep as possible: nothing is drained meanwhile.
    pub(super) fn full() -> Self {
        Self::set(DRAINS.get(), MAX_NESTED)
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
