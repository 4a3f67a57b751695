//! The table under the shared collections: `papaya`'s, with a queue of deaths.
//!
//! * **T1** Whether nothing is pending is asked *before* the table is looked at; else the node that was
//!   found is asked whether it is stale (Q2 of the queue).
//! * **T2** A node is ended by whoever has unlinked it, once: the table gives it to one.
//! * **T3** A notice unlinks the node with its hook and no other; the table may offer it one that has
//!   taken the place of another meanwhile, so it asks again at the last moment.
//! * **T4** Code of users never runs while something of ours is locked, nor between the taking of a
//!   notice and its burial.

use core::cell::Cell;
use core::convert::Infallible;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use equivalent::Equivalent;
use papaya::{Compute, Operation, ResizeMode};
use std::sync::Arc;

use super::kept::Kept;
use super::node::{ByKey, Itself, Node, Ready, State, Told};
use super::pin::{MANY, Pin, collector};
use super::tie::Tied;
use crate::dead::SharedQueue;
use crate::hash::HashValue;

type Nodes<K, T, V> = papaya::HashMap<Node<K, T, V>, (), Told>;

pub(crate) struct Table<K, T, V> {
    // Dropped before the queue (Q4).
    pub(super) nodes: Nodes<K, T, V>,
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
            nodes: papaya::HashMap::builder()
                .capacity(capacity)
                .hasher(Told)
                .collector(collector())
                // Else what is unlinked while the table grows is destroyed when it has grown.
                .resize_mode(ResizeMode::Blocking)
                .build(),
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
    pub(super) fn pin(&self) -> Pin<'_> {
        Pin::new(self.nodes.guard())
    }

    /// Entries that are there and not announced dead.
    pub(crate) fn len(&self) -> usize {
        self.entries().saturating_sub(self.queue.announced())
    }

    /// Entries that are there.
    pub(crate) fn entries(&self) -> usize {
        self.nodes.len().saturating_sub(self.flying.load(Relaxed))
    }

    /// Entries that are announced dead, and those of which something is kept.
    pub(crate) fn pending(&self) -> usize {
        self.queue.announced() + self.kept.len()
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
        let guard = self.nodes.guard();
        let (node, ()) = self.nodes.get_key_value(&ByKey(hash, key), &guard)?;
        let (tie, value) = node.ready()?;
        if !idle && tie.is_stale() {
            return None;
        }
        Some(read(tie, value))
    }

    /// Looks at all entries that are not stale, in no order.
    pub(crate) fn each(&self, mut look: impl FnMut(&K, &T, &V)) {
        let guard = self.nodes.guard();
        for (node, ()) in self.nodes.iter(&guard) {
            if let Some((tie, value)) = node.fresh() {
                look(&node.key, tie, value);
            }
        }
    }

    /// An entry that is about to be put in.
    #[inline]
    pub(super) fn ready(&self, hash: HashValue, key: K, tie: T, value: V) -> Node<K, T, V> {
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
        let insert = |_: Option<_>| Operation::Insert::<(), Infallible>(());
        let replaced = match self.nodes.compute(node, insert, pin.guard()) {
            Compute::Updated {
                old: (there, ()), ..
            } => {
                pin.has_unlinked();
                let stale = self.end(there);
                there
                    .ready()
                    .filter(|_| !stale)
                    .map(|(tie, value)| old(tie, value))
            }
            _ => {
                self.has_grown();
                None
            }
        };
        drop(pin);
        replaced
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
        self.swap(&pin, node, |now| {
            let of_use = now
                .and_then(Node::fresh)
                .and_then(|(tie, value)| read(tie, value));
            let free = of_use.is_none();
            drop(there.replace(of_use));
            free
        });
        there.into_inner()
    }

    /// Changes the entry of a key: `change` is shown what is there, and says what is to be. It may be asked
    /// several times, when others change the same entry.
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
        loop {
            let pin = self.pin();
            let query = ByKey(hash, key);
            let there = self.nodes.get_key_value(&query, pin.guard());
            let there = there.map(|(node, ())| node);
            let shown = there.and_then(Node::fresh);
            let (wanted, answer) = change(shown);
            let done = match (wanted, there) {
                (Some((tie, value)), there) => {
                    let node = self.ready(hash, key.clone(), tie, value);
                    self.swap(&pin, node, |now| match (now, there) {
                        (Some(now), Some(there)) => ptr::eq(now, there),
                        (None, None) => true,
                        _ => false,
                    })
                    .is_some()
                }
                (None, Some(there)) => shown.is_none() || self.unlink(&pin, there),
                (None, None) => true,
            };
            if done {
                return answer;
            }
        }
    }

    /// Puts a node in the place of what is there, if that is `expected`, and gives it out.
    pub(super) fn swap<'g>(
        &self,
        pin: &'g Pin<'_>,
        node: Node<K, T, V>,
        expected: impl Fn(Option<&Node<K, T, V>>) -> bool,
    ) -> Option<&'g Node<K, T, V>>
    where
        K: 'g,
        T: 'g,
        V: 'g,
    {
        let insert = |now: Option<(&'g Node<K, T, V>, &'g ())>| {
            if expected(now.map(|(node, ())| node)) {
                Operation::Insert(())
            } else {
                Operation::Abort(())
            }
        };
        match self.nodes.compute(node, insert, pin.guard()) {
            Compute::Updated {
                old: (there, ()),
                new: (node, ()),
            } => {
                pin.has_unlinked();
                self.end(there);
                Some(node)
            }
            Compute::Inserted(node, ()) => {
                self.has_grown();
                Some(node)
            }
            _ => None,
        }
    }

    /// T2: this node has been unlinked, by us. Says whether it was stale.
    pub(super) fn end(&self, node: &Node<K, T, V>) -> bool {
        let stale = node.is_stale();
        if self.kept.is_on_request() && node.is_dead() {
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
        stale
    }

    /// Unlinks this very node, if it is still there.
    pub(super) fn unlink(&self, pin: &Pin<'_>, node: &Node<K, T, V>) -> bool {
        self.unlink_if(pin, &Itself(node.hash, node), |now| ptr::eq(now, node))
            .map(|node| self.end(node))
            .is_some()
    }

    /// T2, T3: `wanted` is asked of what is unlinked, which is the caller's to end.
    pub(super) fn unlink_if<'g, Q>(
        &self,
        pin: &'g Pin<'_>,
        query: &Q,
        mut wanted: impl FnMut(&Node<K, T, V>) -> bool,
    ) -> Option<&'g Node<K, T, V>>
    where
        Q: core::hash::Hash + Equivalent<Node<K, T, V>>,
    {
        let unlinked = self
            .nodes
            .remove_if(query, |node, ()| wanted(node), pin.guard());
        let (node, ()) = unlinked.ok().flatten()?;
        pin.has_unlinked();
        Some(node)
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
        let node = self.unlink_if(&pin, &ByKey(hash, key), |node| {
            match node.ready() {
                Some((tie, value)) => (idle || !tie.is_stale()) && wanted(tie, value),
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
        for (node, ()) in self.nodes.iter(pin.guard()) {
            let unwanted = |(tie, value)| !wanted(&node.key, tie, value);
            if node.fresh().is_some_and(unwanted) {
                self.unlink(&pin, node);
            }
        }
    }

    /// Removes all entries that are there, dead or alive; what is being made will not be kept.
    pub(crate) fn clear(&self) {
        let pin = self.pin();
        for (node, ()) in self.nodes.iter(pin.guard()) {
            self.unlink(&pin, node);
        }
        drop(pin);
        self.purge();
    }
}
