//! The table under the shared collections: that of [`raw`](super::raw), with a queue of deaths.
//!
//! * **T1** Whether nothing is pending is asked *before* the table is looked at; else the node that was
//!   found is asked whether it is stale (Q2 of the queue).
//! * **T2** A node is ended by whoever has unlinked it, once: the table gives it to one.
//! * **T3** A notice unlinks the node with its hook and no other.
//! * **T4** Code of users never runs while something of ours is locked, nor between the taking of a
//!   notice and its burial.

use core::cell::Cell;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use equivalent::Equivalent;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::inside::{self, Asking};
use super::kept::Kept;
use super::node::{Node, Ready, State};
use super::raw::{Put, RawTable, Writer};
use super::tie::Tied;
use crate::hash::HashValue;
use crate::queue::SharedQueue;

/// New entries before the first sweep.
pub(super) const MANY: usize = 16;

/// Access to the nodes. What is unlinked with it is destroyed after it, when nobody looks at it any more.
pub(super) type Pin<'t, K, T, V> = Writer<'t, Node<K, T, V>>;

pub(crate) struct Table<K, T, V> {
    // Dropped before the queue (Q4).
    pub(super) nodes: RawTable<Node<K, T, V>>,
    pub(super) queue: SharedQueue,
    /// What the dead leave, if that is to be kept.
    pub(super) kept: Arc<Kept<K, V>>,
    /// Nodes that stand for values being made.
    pub(super) flying: AtomicUsize,
    /// Entries that went because an object had died.
    pub(super) dead: AtomicUsize,
    /// Entries that went although no object had died, and values that were made and not kept.
    pub(super) discarded: AtomicUsize,
    /// Whether there are entries that have to be asked whether they are dead.
    pub(super) swept: AtomicBool,
    /// New entries until the next sweep.
    pub(super) until_sweep: AtomicUsize,
}

/// A node that was put in, and what it has replaced, if anything, and whether that was stale.
pub(super) struct Swapped<'g, N> {
    pub(super) new: &'g N,
    pub(super) old: Option<(&'g N, bool)>,
}

// A table is whole between any two calls; what a panic can leave half done is a value.
impl<K, T, V: RefUnwindSafe> UnwindSafe for Table<K, T, V> {}
impl<K, T, V: RefUnwindSafe> RefUnwindSafe for Table<K, T, V> {}

impl<K: Eq, T: Tied, V> Table<K, T, V> {
    /// For keys that own nothing.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self::with_kept(capacity, Kept::new(false))
    }

    pub(crate) fn with_owned_keys(capacity: usize) -> Self {
        Self::with_kept(capacity, Kept::new(true))
    }

    fn with_kept(capacity: usize, kept: Kept<K, V>) -> Self {
        Table {
            nodes: RawTable::with_capacity(capacity),
            queue: SharedQueue::new(),
            kept: Arc::new(kept),
            flying: AtomicUsize::new(0),
            dead: AtomicUsize::new(0),
            discarded: AtomicUsize::new(0),
            swept: AtomicBool::new(false),
            until_sweep: AtomicUsize::new(MANY),
        }
    }

    #[inline]
    pub(crate) fn queue(&self) -> &SharedQueue {
        &self.queue
    }

    #[inline]
    pub(super) fn pin(&self) -> Pin<'_, K, T, V> {
        self.nodes.write()
    }

    /// Entries that are there and not announced dead.
    pub(crate) fn len(&self) -> usize {
        self.entries().saturating_sub(self.announced())
    }

    /// Entries that are there.
    pub(crate) fn entries(&self) -> usize {
        self.nodes.len().saturating_sub(self.flying.load(Relaxed))
    }

    /// Entries that are announced dead, and those of which something is kept.
    pub(crate) fn pending(&self) -> usize {
        self.announced() + self.kept.len()
    }

    /// Entries that are announced dead.
    fn announced(&self) -> usize {
        let notices = self.queue.announced();
        if !T::IS_PAIR || notices < 2 {
            return notices;
        }
        // Each entry once: the second notice of one is a late one when the first has been worked off.
        let reader = self.nodes.read();
        let entries = reader.entries();
        let twice = entries.iter().filter(|node| node.is_told_twice());
        notices.saturating_sub(twice.count())
    }

    /// How many entries have gone because an object had died.
    pub(crate) fn dead(&self) -> usize {
        self.dead.load(Relaxed)
    }

    /// How many entries have gone although no object had died, or were not kept.
    pub(crate) fn discarded(&self) -> usize {
        self.discarded.load(Relaxed)
    }

    /// Looks at the entry of a key. The closure runs while its destruction is put off, and under no lock.
    #[inline]
    pub(crate) fn read<Q, R>(
        &self,
        hash: HashValue,
        key: &Q,
        read: impl FnOnce(&T, &V) -> R,
    ) -> Option<R>
    where
        Q: ?Sized + Equivalent<K>,
    {
        // T1
        let idle = self.queue.is_idle();
        let reader = self.nodes.read();
        let node = reader.get(hash.get(), |node| key.equivalent(&node.key))?;
        let (tie, value) = node.ready()?;
        if !idle && tie.is_stale() {
            return None;
        }
        Some(read(tie, value))
    }

    /// Looks at all entries that are not stale, in no order.
    pub(crate) fn each(&self, mut look: impl FnMut(&K, &T, &V)) {
        let reader = self.nodes.read();
        for node in reader.entries() {
            if let Some((tie, value)) = node.fresh() {
                look(&node.key, tie, value);
            }
        }
    }

    /// An entry that is about to be put in.
    #[inline]
    pub(super) fn ready(&self, hash: HashValue, key: K, tie: T, value: V) -> Box<Node<K, T, V>> {
        if tie.is_swept() && !self.swept.load(Relaxed) {
            self.swept.store(true, Relaxed);
        }
        let state = State::Ready(Ready { value, tie });
        Node::new(hash, key, state)
    }

    /// Puts an entry in, in the place of the one with its key; `old` is shown that one, if it was not
    /// stale.
    #[inline]
    pub(crate) fn put<R>(
        &self,
        hash: HashValue,
        key: K,
        tie: T,
        value: V,
        old: impl FnOnce(&T, &V) -> R,
    ) -> Option<R> {
        self.tend();
        let node = self.ready(hash, key, tie, value);
        let pin = self.pin();
        let Some((there, stale)) = self.swap(&pin, node, |_| true)?.old else {
            self.has_grown();
            return None;
        };
        let (tie, value) = there.ready().filter(|_| !stale)?;
        Some(old(tie, value))
    }

    /// Puts an entry in, unless there is one that is of use, as `read` says. Gives that out.
    pub(crate) fn put_unless<R>(
        &self,
        hash: HashValue,
        key: K,
        tie: T,
        value: V,
        read: impl Fn(&T, &V) -> Option<R>,
    ) -> Option<R> {
        self.tend();
        let node = self.ready(hash, key, tie, value);
        let pin = self.pin();
        let there = Cell::new(None);
        let put = self.swap(&pin, node, |now| {
            let of_use = now
                .and_then(Node::fresh)
                .and_then(|(tie, value)| read(tie, value));
            let free = of_use.is_none();
            drop(there.replace(of_use));
            free
        });
        if put.is_some_and(|put| put.old.is_none()) {
            self.has_grown();
        }
        there.into_inner()
    }

    /// Changes the entry of a key: `change` is shown what is there, and says what is to be. It may be asked
    /// several times, when others change the same entry.
    #[track_caller]
    pub(crate) fn compute<R>(
        &self,
        hash: HashValue,
        key: &K,
        mut change: impl FnMut(Option<(&T, &V)>) -> (Option<(T, V)>, R),
    ) -> R
    where
        K: Clone,
    {
        self.tend();
        let pin = self.pin();
        let mut asking = Asking::about(hash);
        loop {
            // In the order in which `swap` asks, or an `Eq` that is not symmetric would never let it.
            let there = pin.get(hash.get(), |node| *key == *node.key);
            let shown = there.and_then(Node::fresh);
            let address = there.map(|there| ptr::from_ref(there).cast());
            let (wanted, answer) = asking.ask(address, || change(shown));
            let done = match (wanted, there) {
                (Some((tie, value)), there) => {
                    let node = self.ready(hash, key.clone(), tie, value);
                    let put = self.swap(&pin, node, |now| match (now, there) {
                        (Some(now), Some(there)) => ptr::eq(now, there),
                        (None, None) => true,
                        _ => false,
                    });
                    let done = put.is_some();
                    if put.is_some_and(|put| put.old.is_none()) {
                        self.has_grown();
                    }
                    done
                }
                (None, Some(there)) => shown.is_none() || self.unlink(&pin, there),
                (None, None) => true,
            };
            if done {
                return answer;
            }
        }
    }

    /// Puts a node in the place of what is there for its key, if that is `expected`. If there was none, this is
    /// for the caller to [count](Self::has_grown).
    #[inline]
    pub(super) fn swap<'g>(
        &self,
        pin: &'g Pin<'_, K, T, V>,
        node: Box<Node<K, T, V>>,
        expected: impl Fn(Option<&Node<K, T, V>>) -> bool,
    ) -> Option<Swapped<'g, Node<K, T, V>>> {
        let hash = node.hash;
        let same = |node: &Node<K, T, V>, there: &Node<K, T, V>| node.key == there.key;
        let (old, new) = match pin.put(node, same, expected) {
            Put::Added(new) => (None, new),
            Put::Replaced { old, new } => (Some(old), new),
            Put::Refused => return None,
        };
        inside::has_put(hash, ptr::from_ref(new).cast());
        let old = old.map(|old| (old, self.end(old)));
        Some(Swapped { new, old })
    }

    /// T2: this node has been unlinked, by us. Says whether it was stale.
    pub(super) fn end(&self, node: &Node<K, T, V>) -> bool {
        let on_request = self.kept.is_on_request();
        // Code of a user.
        let asked = catch_unwind(AssertUnwindSafe(|| {
            let stale = node.is_stale();
            (stale, stale || on_request && node.is_dead())
        }));
        // Who does not say may be dead.
        let (stale, dead) = *asked.as_ref().unwrap_or(&(false, true));
        if on_request && dead {
            self.keep(node);
        }
        if node.ready().is_none() {
            self.flying.fetch_sub(1, Relaxed);
        } else if stale {
            self.dead.fetch_add(1, Relaxed);
        } else {
            self.discarded.fetch_add(1, Relaxed);
        }
        node.end();
        asked.map_or_else(|panic| resume_unwind(panic), |_| stale)
    }

    /// Unlinks this very node, if it is still there.
    pub(super) fn unlink(&self, pin: &Pin<'_, K, T, V>, node: &Node<K, T, V>) -> bool {
        self.unlink_if(pin, node.hash, |now| ptr::eq(now, node), |_| true)
            .map(|node| self.end(node))
            .is_some()
    }

    /// Unlinks the first node of a hash that is the one that is `sought`, if it is `wanted`, which is asked
    /// once for each. T2: it is the caller's to end.
    pub(super) fn unlink_if<'g>(
        &self,
        pin: &'g Pin<'_, K, T, V>,
        hash: HashValue,
        sought: impl FnMut(&Node<K, T, V>) -> bool,
        mut wanted: impl FnMut(&Node<K, T, V>) -> bool,
    ) -> Option<&'g Node<K, T, V>> {
        let mut asked = ptr::null();
        pin.remove_if(hash.get(), sought, |node| {
            let yes = ptr::eq(asked, node) || wanted(node);
            asked = node;
            yes
        })
    }

    /// Removes the entry of a key, if `wanted`, and shows it.
    pub(crate) fn remove<Q, R>(
        &self,
        hash: HashValue,
        key: &Q,
        mut wanted: impl FnMut(&T, &V) -> bool,
        show: impl FnOnce(&T, &V) -> R,
    ) -> Option<R>
    where
        Q: ?Sized + Equivalent<K>,
    {
        self.tend();
        let idle = self.queue.is_idle();
        let pin = self.pin();
        let sought = |node: &Node<K, T, V>| key.equivalent(&node.key);
        let mut asking = Asking::about(hash);
        let node = self.unlink_if(&pin, hash, sought, |node| {
            let address = ptr::from_ref(node).cast();
            match node.ready() {
                Some((tie, value)) => {
                    let wanted = || wanted(tie, value);
                    (idle || !tie.is_stale()) && asking.ask(Some(address), wanted)
                }
                // Who makes it will keep it for himself.
                None => true,
            }
        })?;
        self.end(node);
        node.ready().map(|(tie, value)| show(tie, value))
    }

    /// Removes the entries that are not `wanted`; those that are stale go with their notices.
    pub(crate) fn retain(&self, mut wanted: impl FnMut(&K, &T, &V) -> bool) {
        self.tend();
        let pin = self.pin();
        for node in pin.entries() {
            let unwanted = |(tie, value)| !wanted(&node.key, tie, value);
            if node.fresh().is_some_and(unwanted) {
                self.unlink(&pin, node);
            }
        }
    }

    /// Removes all entries that are there, dead or alive; what is being made will not be kept.
    pub(crate) fn clear(&self) {
        let pin = self.pin();
        for node in pin.entries() {
            self.unlink(&pin, node);
        }
        drop(pin);
        self.purge();
    }
}
