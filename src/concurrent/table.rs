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
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use equivalent::Equivalent;
use papaya::{Compute, Operation, ResizeMode};
use std::sync::Arc;

use super::node::{ByFlight, ByHook, ByKey, Itself, Node, State, Told};
use super::pin::{COMPANY, Pin, collector};
use super::tie::Tied;
use crate::dead::SharedQueue;
use crate::flight::{Circle, Flight};
use crate::hash::HashValue;

/// How deep drains may nest: a value that is destroyed by one may make another by what it does.
const NESTED: usize = 16;

std::thread_local! {
    static DRAINS: Cell<usize> = const { Cell::new(0) };
}

type Nodes<K, T, V> = papaya::HashMap<Node<K, T, V>, (), Told>;

pub(crate) struct Table<K, T, V> {
    // Dropped before the queue (Q4).
    nodes: Nodes<K, T, V>,
    queue: SharedQueue,
    /// Nodes that stand for values being made.
    flying: AtomicUsize,
    /// Entries that went because an object had died.
    dead: AtomicUsize,
    /// Entries that went although no object had died, and values that were made and not kept.
    discarded: AtomicUsize,
    /// Whether there are entries that have to be asked whether they are dead.
    swept: AtomicBool,
    /// New entries until the next sweep.
    until_sweep: AtomicUsize,
}

/// What came of an attempt to have something made.
pub(crate) enum Made<R> {
    /// It was there.
    Hit(R),
    /// It was made, and kept if nobody has removed it meanwhile.
    Miss(R),
}

impl<R> Made<R> {
    pub(crate) fn into_inner(self) -> R {
        match self {
            Made::Hit(made) | Made::Miss(made) => made,
        }
    }
}

/// Why something was not made.
pub(crate) enum Failed<E> {
    /// It is being made by this thread, or by one that waits for it.
    Circle,
    /// Its maker says so.
    By(E),
}

impl<K: Eq, T: Tied, V> Table<K, T, V> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Table {
            nodes: papaya::HashMap::builder()
                .capacity(capacity)
                .hasher(Told)
                .collector(collector())
                // Else what is unlinked while the table grows is destroyed when it has grown.
                .resize_mode(ResizeMode::Blocking)
                .build(),
            queue: SharedQueue::new(),
            flying: AtomicUsize::new(0),
            dead: AtomicUsize::new(0),
            discarded: AtomicUsize::new(0),
            swept: AtomicBool::new(false),
            until_sweep: AtomicUsize::new(COMPANY),
        }
    }

    #[inline]
    pub(crate) fn queue(&self) -> &SharedQueue {
        &self.queue
    }

    #[inline]
    fn pin(&self) -> Pin<'_> {
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

    pub(crate) fn announced(&self) -> usize {
        self.queue.announced()
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
            if let Some((tie, value)) = node.ready()
                && !tie.is_stale()
            {
                look(&node.key, tie, value);
            }
        }
    }

    /// An entry that is about to be put in.
    #[inline]
    fn ready(&self, hash: HashValue, key: K, tie: T, value: V) -> Node<K, T, V> {
        if tie.is_swept() && !self.swept.load(Relaxed) {
            self.swept.store(true, Relaxed);
        }
        let state = State::Ready(tie, value);
        Node { hash, key, state }
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
                .filter(|node| !node.is_stale())
                .and_then(Node::ready)
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
            let shown = there.filter(|node| !node.is_stale()).and_then(Node::ready);
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
    fn swap<'g>(
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
    fn end(&self, node: &Node<K, T, V>) -> bool {
        if node.ready().is_none() {
            self.flying.fetch_sub(1, Relaxed);
        }
        let stale = node.is_stale();
        if stale {
            self.dead.fetch_add(1, Relaxed);
        } else if node.ready().is_some() {
            self.discarded.fetch_add(1, Relaxed);
        }
        node.end();
        stale
    }

    /// Unlinks this very node, if it is still there.
    fn unlink(&self, pin: &Pin<'_>, node: &Node<K, T, V>) -> bool {
        self.unlink_if(pin, &Itself(node.hash, node), |now| ptr::eq(now, node))
            .map(|node| self.end(node))
            .is_some()
    }

    /// T2, T3: `wanted` is asked of what is unlinked, which is the caller's to end.
    fn unlink_if<'g, Q>(
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
            if let Some((tie, value)) = node.ready()
                && !tie.is_stale()
                && !wanted(&node.key, tie, value)
            {
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

    /// What is there, or else what `make` makes, which only one thread does at a time. `read` says what to
    /// give out, none if it is of no use.
    pub(crate) fn get_or_make<Q, R, E>(
        &self,
        hash: HashValue,
        key: &Q,
        owned: impl Fn() -> K,
        read: impl Fn(&T, &V) -> Option<R>,
        make: impl FnOnce() -> Result<(T, V, R), E>,
    ) -> Result<Made<R>, Failed<E>>
    where
        Q: ?Sized + Equivalent<K>,
    {
        loop {
            let there = {
                // T1
                let idle = self.queue.is_idle();
                let guard = self.nodes.guard();
                match self.nodes.get_key_value(&ByKey(hash, key), &guard) {
                    Some((node, ())) => match &node.state {
                        State::Flying(flight) => Err(Arc::clone(flight)),
                        State::Ready(tie, _) if !idle && tie.is_stale() => Ok(None),
                        State::Ready(tie, value) => Ok(read(tie, value)),
                    },
                    None => Ok(None),
                }
            };
            match there {
                Ok(Some(made)) => return Ok(Made::Hit(made)),
                Err(flight) => match Flight::wait(&flight) {
                    Ok(()) => continue,
                    Err(Circle) => return Err(Failed::Circle),
                },
                Ok(None) => {}
            }
            self.tend();
            if let Some(leader) = self.take_off(hash, &owned, &read) {
                let (tie, value, made) = make().map_err(Failed::By)?;
                leader.arrive(owned(), tie, value);
                return Ok(Made::Miss(made));
            }
        }
    }

    /// Announces that this thread makes the value of a key; none if there is one, or another does.
    fn take_off<R>(
        &self,
        hash: HashValue,
        owned: impl Fn() -> K,
        read: impl Fn(&T, &V) -> Option<R>,
    ) -> Option<Leader<'_, K, T, V>> {
        let flight = Flight::start();
        let state = State::Flying(Arc::clone(&flight));
        let key = owned();
        let node = Node { hash, key, state };
        let pin = self.pin();
        let free = |now: Option<&Node<K, T, V>>| match now.map(|node| &node.state) {
            None => true,
            Some(State::Flying(_)) => false,
            Some(State::Ready(tie, value)) => tie.is_stale() || read(tie, value).is_none(),
        };
        // Before it is there, or whoever removes it at once would count below zero.
        let counted = Counted::one(&self.flying);
        self.swap(&pin, node, free)?;
        // It is counted off by whoever unlinks it.
        mem::forget(counted);
        Some(Leader {
            table: self,
            hash,
            flight,
            arrived: false,
        })
    }

    /// Works off some notices, if there are any; sweeps, if that is due.
    #[inline]
    pub(crate) fn tend(&self) {
        if !self.queue.is_idle() {
            self.drain(false);
        }
    }

    /// Counts a new entry, and sweeps when there are as many new ones as there were.
    #[inline]
    fn has_grown(&self) {
        if self.swept.load(Relaxed) && self.until_sweep.fetch_sub(1, Relaxed) == 1 {
            self.sweep();
        }
    }

    /// Unlinks what is stale, by asking. Says how many.
    fn sweep(&self) -> usize {
        let pin = self.pin();
        let mut swept = 0;
        for (node, ()) in self.nodes.iter(pin.guard()) {
            if node.is_stale() && self.unlink(&pin, node) {
                swept += 1;
            }
        }
        self.until_sweep
            .store(self.nodes.len().max(COMPANY), Relaxed);
        swept
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
            let query = ByHook(HashValue::told(notice.hash()), hook);
            match self.unlink_if(&pin, &query, |node| node.is_named_by(hook)) {
                Some(node) => {
                    if let Some((tie, _)) = node.ready() {
                        tie.settle(hook);
                    }
                    self.dead.fetch_add(1, Relaxed);
                    notice.bury();
                }
                None => notice.bury_orphan(),
            }
        }
        any
    }

    /// Works off all notices, and those that follow from them. Inside a destructor that a drain runs, it
    /// may leave some to that drain.
    pub(crate) fn purge(&self) {
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
struct Depth {
    before: usize,
}

impl Depth {
    /// One drain more; none if there are too many.
    fn enter() -> Option<Self> {
        let before = DRAINS.get();
        (before < NESTED).then(|| Self::set(before, before + 1))
    }

    /// As deep as can be: nothing is drained.
    fn full() -> Self {
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

/// Who makes the value of a key. Lands in any case; if there is no value, what stands for it goes.
struct Leader<'a, K: Eq, T: Tied, V> {
    table: &'a Table<K, T, V>,
    hash: HashValue,
    flight: Arc<Flight>,
    /// Whether what became of the value is known, and counted.
    arrived: bool,
}

impl<K: Eq, T: Tied, V> Leader<'_, K, T, V> {
    /// The value is there. It is not kept if what stands for it has been removed or replaced meanwhile, nor
    /// if an object has died that nobody held.
    fn arrive(mut self, key: K, tie: T, value: V) {
        let table = self.table;
        let pin = table.pin();
        // As long as this is held, nobody takes what he finds to be fresh without asking (T1); so between
        // the two looks below nobody is misled, and what has died before the first is not put in. (A purge
        // waits for the end of it; one in a destructor that runs meanwhile must not.)
        let held = (!tie.is_held()).then(|| (table.queue.hold(), Depth::full()));
        if held.is_some() && tie.has_died() {
            table.dead.fetch_add(1, Relaxed);
            self.arrived = true;
            return;
        }
        let node = table.ready(self.hash, key, tie, value);
        let own =
            |now: Option<&Node<K, T, V>>| now.is_some_and(|now| now.is_flown_by(&self.flight));
        let Some(node) = table.swap(&pin, node, own) else {
            return;
        };
        self.arrived = true;
        if held.is_some() && node.ready().is_some_and(|(tie, _)| tie.has_died()) {
            table.unlink(&pin, node);
        }
    }
}

/// Lands a flight at its end.
struct Landing<'a>(&'a Flight);

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.0.land();
    }
}

/// Counts one, and off again at its end.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn one(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Relaxed);
        Counted(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl<K: Eq, T: Tied, V> Drop for Leader<'_, K, T, V> {
    fn drop(&mut self) {
        // Whatever happens: who waits would wait for ever.
        let _landing = Landing(&self.flight);
        let table = self.table;
        {
            let pin = table.pin();
            let query = ByFlight(self.hash, &self.flight);
            // Unless it has arrived, or somebody has removed it.
            if let Some(node) = table.unlink_if(&pin, &query, |node| node.is_flown_by(&self.flight))
            {
                table.end(node);
            }
        }
        if !self.arrived {
            table.discarded.fetch_add(1, Relaxed);
        }
    }
}
