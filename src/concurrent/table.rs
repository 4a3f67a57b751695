//! The table under the shared collections: that of [`raw`](super::raw), whose entries have keys, values and watches.
//!
//! * **T1** What a lookup finds is of an object that lives, or whose death has not finished yet: a death unlinks the entry
//!   before the memory of the payload is freed. Of polled objects the weak handle pins the address.
//! * **T2** A node is ended once, by the thread that has unlinked it: the table hands it to one thread only.
//! * **T3** A death unlinks the node with its registration and no other.
//! * **T4** User code never runs under a lock of ours.
//! * **T5** Destructors of users run before a result is in its place: the compiler leaks what a function is about to
//!   return if a local is dropped after that, and panics.
//! * **T6** An operation that returns an object of the entry that it replaces or removes gets the handle before it unlinks
//!   the entry: so the object is alive when the entry goes, or was dead before. (A handle that an operation asked for
//!   afterwards could come too late: another thread sees the entry gone, and drops the last handle.) An operation that
//!   replaces an entry also holds the objects that have to be polled: else an object could die unnoticed between the look at
//!   the entry and the replacement. It needs no handle where the caller has one, or where the death of the object unlinks
//!   the entry. A lookup that finds an object dead looks again if the entry is not linked any more (R5 of `raw`).

use core::cell::Cell;
use core::mem;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::bound::{Counts, Ends};
use super::flight::Overtaken;
use super::inside::{self, Asking};
use super::kept::Kept;
use super::node::{BoundOf, Compare, KeyKind, Node};
use super::raw::{Match, Put, RawTable, Registered, Unlinked, Writer};
use super::watch::{Unplaced, Watches};
use crate::hash::HashValue;
use crate::keep::Gone;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::sync::{barrier, const_fn};

/// Access to the nodes. What is unlinked with it is destroyed after it, when no thread looks at it any more.
pub(super) type Pin<'t, K, T, V> = Writer<'t, Node<K, T, V>>;

/// An entry that is about to be inserted.
pub(super) type NewNode<'t, K, T, V> = Unlinked<'t, Node<K, T, V>>;

/// A node that was inserted, and the node that it has replaced, if any.
#[must_use = "the table has to meet the new node"]
pub(super) struct Swapped<'g, N> {
    pub(super) old: Option<&'g N>,
    new: &'g N,
    /// A panic at the end of the old node: user code may run there.
    ended: FirstPanic,
}

/// The making of a value without a reservation. If its value is not inserted, it counts as discarded.
pub(crate) struct Race<'t, K: KeyKind, T: Watches, V> {
    table: &'t Table<K, T, V>,
    /// The number of invalidations when it began: before it reads anything that one could be about.
    begun: usize,
}

impl<K: KeyKind, T: Watches, V> Drop for Race<'_, K, T, V> {
    fn drop(&mut self) {
        self.table.count(|counts| &counts.discarded);
    }
}

pub(crate) struct Table<K: KeyKind, T: Registered, V> {
    /// The nodes; their context is what is kept of dead entries, and what bounds the table.
    pub(super) nodes: RawTable<Node<K, T, V>>,
}

// A table is consistent between any two calls; a panic can leave only a value half changed.
impl<K: KeyKind, T: Registered, V: RefUnwindSafe> UnwindSafe for Table<K, T, V> {}
impl<K: KeyKind, T: Registered, V: RefUnwindSafe> RefUnwindSafe for Table<K, T, V> {}

impl<K: KeyKind, T: Watches, V> Table<K, T, V> {
    const_fn! {
        /// Allocates nothing.
        pub(crate) fn new() -> Self {
            Table {
                nodes: RawTable::new(),
            }
        }
    }

    /// Makes room for so many entries in a new table.
    pub(crate) fn with_room_for(self, capacity: usize) -> Self {
        self.nodes.make_room_for(capacity);
        self
    }

    /// With what watches are registered.
    #[inline]
    pub(crate) fn core(&self) -> CoreRef {
        self.nodes.core_or_new()
    }

    /// What is kept of dead entries, if anything has ever been.
    #[inline]
    pub(super) fn kept(&self) -> Option<&Kept<K::Key, V>> {
        Some(&self.nodes.known_context()?.kept)
    }

    #[inline]
    pub(super) fn is_on_request(&self) -> bool {
        let ends = self.nodes.concern();
        ends.is_some_and(|ends| ends.kept.is_on_request())
    }

    #[inline]
    pub(super) fn bound(&self) -> Option<&BoundOf<K, T, V>> {
        self.nodes.concern()?.bound()
    }

    /// Made now, if nothing has used it.
    #[inline]
    pub(super) fn ends(&self) -> &Ends<K::Key, T, V, Node<K, T, V>> {
        self.nodes.context()
    }

    #[inline]
    pub(super) fn pin(&self) -> Pin<'_, K, T, V> {
        self.nodes.write()
    }

    /// Whether there never was an entry.
    pub(super) fn is_new(&self) -> bool {
        self.nodes.is_new()
    }

    /// Whether there may be entries that have to be polled.
    #[inline]
    pub(super) fn is_swept(&self) -> bool {
        // Relaxed: a thread that misses it sees it the next time.
        T::SWEPT.unwrap_or_else(|| {
            let ends = self.nodes.known_context();
            ends.is_some_and(|ends| ends.swept.load(Relaxed))
        })
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of live entries, each of which is checked.
    pub(crate) fn len_live(&self) -> usize {
        let mut live = 0;
        self.each(|_, watch, _| live += usize::from(!watch.is_expired()));
        live
    }

    /// Entries that are unlinked and not destroyed: in the lists of the dead, waiting for a thread that may look at them,
    /// or with something that is kept.
    pub(crate) fn pending_dead(&self) -> usize {
        self.nodes.dead() + self.nodes.waiting() + self.kept().map_or(0, Kept::len)
    }

    /// Counts one more, if this table counts.
    #[inline]
    pub(super) fn count(&self, which: impl FnOnce(&Counts) -> &AtomicUsize) {
        if T::COUNTED {
            // Relaxed: a count.
            which(&self.ends().counts).fetch_add(1, Relaxed);
        }
    }

    fn counted(&self, which: impl FnOnce(&Counts) -> &AtomicUsize) -> usize {
        let ends = self.nodes.known_context();
        ends.map_or(0, |ends| which(&ends.counts).load(Relaxed))
    }

    /// How many entries have gone because an object had died. For a table whose watches are
    /// [counted](Watches::COUNTED).
    pub(crate) fn dead(&self) -> usize {
        self.counted(|counts| &counts.dead)
            .wrapping_add(self.nodes.unlinked())
    }

    /// How many entries have gone although no object had died, or were not kept.
    pub(crate) fn discarded(&self) -> usize {
        self.counted(|counts| &counts.discarded)
    }

    /// How many entries were put.
    pub(crate) fn inserted(&self) -> usize {
        self.counted(|counts| &counts.inserted)
    }

    /// How many invalidations there were.
    pub(super) fn invalidations(&self) -> usize {
        // Acquire: with `begin_invalidation`: what the caller has changed before that.
        let ends = self.nodes.known_context();
        ends.map_or(0, |ends| ends.counts.invalidations.load(Acquire))
    }

    /// Begins to invalidate the entries with some hashes, or all: the caller then removes those that are there. A value whose
    /// making has begun before that, without a reservation, is not inserted afterwards: the thread that inserts the value looks
    /// at the number of invalidations under the lock of the bucket, which is passed here. So that thread sees this
    /// invalidation, or the caller finds the entry.
    ///
    /// `hashes` are asked for after the count. If an object is registered for another hash then, that was before a barrier of
    /// the thread that makes the value, which enters the table to insert it: so that thread sees this invalidation.
    pub(crate) fn begin_invalidation<H: AsRef<[HashValue]>>(
        &self,
        hashes: impl FnOnce() -> Option<H>,
    ) -> Option<H> {
        // Release: with `invalidations`.
        self.ends().counts.invalidations.fetch_add(1, Release);
        barrier();
        let hashes = hashes();
        self.pass(hashes.as_ref().map(AsRef::as_ref));
        hashes
    }

    fn pass(&self, hashes: Option<&[HashValue]>) {
        if self.nodes.is_new() {
            return;
        }
        let pin = self.pin();
        match hashes {
            Some(hashes) => hashes.iter().for_each(|hash| pin.pass(hash.bits())),
            None => pin.pass_all(),
        }
    }

    /// Visits all entries that are not stale, in no order.
    pub(crate) fn each(&self, mut look: impl FnMut(&K::Key, &T, &V)) {
        if self.nodes.is_new() {
            return;
        }
        let reader = self.nodes.read();
        for node in reader.entries() {
            if let Some((key, watch, value)) = node.live_entry() {
                look(key, watch, value);
            }
        }
    }

    /// An entry that is about to be inserted. With a pin, in the memory of one that was reclaimed, if there is one.
    // Always: see `RawTable::entry`.
    #[inline(always)]
    pub(super) fn ready<'t>(
        &'t self,
        pin: Option<&Pin<'t, K, T, V>>,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'t, T>,
        value: V,
    ) -> NewNode<'t, K, T, V> {
        if T::SWEPT.is_none() && watch.is_swept() && !self.is_swept() {
            self.ends().swept.store(true, Relaxed);
        }
        let make = || Node::new(hash, key, value, watch.into_inner());
        match pin {
            Some(pin) => pin.entry(make),
            None => self.nodes.entry(make),
        }
    }
}

impl<K: Compare<T>, T: Watches, V> Table<K, T, V> {
    /// Inserts an entry, or replaces the one with its key. T6: `hold` is asked about the entry that is there, again when
    /// another thread changes that, and returns `None` if an object of the entry is dead. `show` gets what `hold` returned
    /// for the entry that was replaced, with its value.
    #[inline]
    pub(crate) fn put<H, R>(
        &self,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'_, T>,
        value: V,
        hold: impl Fn(&T, &V) -> Option<H>,
        show: impl FnOnce(H, &V) -> R,
    ) -> Option<R> {
        self.sweep_some();
        // T5. The pin goes with its block, and not by `drop`: that would copy it.
        let settling = self.settling();
        let (mut shown, mut settles) = (None, false);
        let mut overtaken = Overtaken::default();
        let mut node;
        {
            let taken = self.take_some();
            let pin = self.pin();
            self.reap(&pin, taken);
            node = self.ready(Some(&pin), hash, key, watch, value);
            let weight = self.weigh(&node);
            let held = Cell::new(None);
            let expected = |now: Option<&Node<K, T, V>>| {
                let ready = now.and_then(Node::ready);
                drop(held.replace(ready.and_then(|(watch, value)| hold(watch, value))));
                true
            };
            let asking = Asking::about(self, hash);
            if let Some(swapped) = self.swap(&pin, &mut node, &asking, expected) {
                self.count(|counts| &counts.inserted);
                overtaken.set(swapped.old.and_then(Node::flight));
                let entry = held.take().zip(swapped.old.and_then(Node::ready));
                settles = self.meet_new(swapped, weight);
                shown = entry.map(|(held, (_, value))| show(held, value));
            }
        }
        drop(node);
        self.settle_after(settling, settles);
        drop(overtaken);
        shown
    }

    /// Begins to make a value without a reservation, for [`put_unless`](Self::put_unless).
    pub(crate) fn begin_race(&self) -> Race<'_, K, T, V> {
        // An invalidation that finds no array has counted itself before: with the barrier there.
        self.nodes.make_room_for(1);
        barrier();
        Race {
            table: self,
            begun: self.invalidations(),
        }
    }

    /// Inserts an entry, unless there is one for which `read` returns a result, which is returned. It inserts none either if
    /// there was an [invalidation](Self::begin_invalidation) since the beginning of the race.
    pub(crate) fn put_unless<R>(
        &self,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'_, T>,
        value: V,
        read: impl Fn(&T, &V) -> Option<R>,
        race: Option<Race<'_, K, T, V>>,
    ) -> Option<R> {
        self.sweep_some();
        // T5, as in `put`.
        let settling = self.settling();
        let there = Cell::new(None);
        let mut overtaken = Overtaken::default();
        let mut settles = false;
        let mut node;
        {
            let taken = self.take_some();
            let pin = self.pin();
            self.reap(&pin, taken);
            node = self.ready(Some(&pin), hash, key, watch, value);
            if let Some(race) = &race {
                node.unless_changed(&self.ends().counts.invalidations, race.begun);
            }
            let weight = self.weigh(&node);
            let expected = |now: Option<&Node<K, T, V>>| {
                let of_use = now
                    .and_then(Node::live)
                    .and_then(|(watch, value)| read(watch, value));
                let free = of_use.is_none();
                drop(there.replace(of_use));
                free
            };
            let asking = Asking::about(self, hash);
            match self.swap(&pin, &mut node, &asking, expected) {
                Some(swapped) => {
                    mem::forget(race);
                    overtaken.set(swapped.old.and_then(Node::flight));
                    settles |= self.meet_new(swapped, weight);
                }
                None if node.is_expired() => {
                    mem::forget(race);
                    self.count(|counts| &counts.dead);
                }
                None => drop(race),
            }
        }
        drop(node);
        self.settle_after(settling, settles);
        drop(overtaken);
        there.into_inner()
    }

    /// Changes the entry of a key: `change` is shown the present entry, and returns the new one. It may be called
    /// again when other threads change the same entry. T6: `hold` is as for [`put`](Self::put).
    #[track_caller]
    pub(crate) fn compute<'t, H, R>(
        &'t self,
        hash: HashValue,
        key: &K::FlightKey,
        hold: impl Fn(&T, &V) -> Option<H>,
        mut change: impl FnMut(Option<(&T, &V)>) -> (Option<(Unplaced<'t, T>, V)>, R),
    ) -> R
    where
        K::FlightKey: Clone,
    {
        self.tidy();
        // T5, as in `put`.
        let settling = self.settling();
        let (mut answered, mut settles) = (None, false);
        let mut overtaken = Overtaken::default();
        {
            let pin = self.pin();
            let asking = Asking::about(self, hash);
            while answered.is_none() {
                // Compares in the same order as `swap`: with an `Eq` that is not symmetric, `swap` would never succeed
                // otherwise. Nothing is noted the first time.
                let is_of = |node: &Node<K, T, V>| K::is_of(key, node);
                let mut gone = false;
                let there = pin.get(hash.bits(), |node| {
                    let ask = || gone |= pin.has_gone(node);
                    asking.is_sought_still(node, || is_of(node).is_it(&mut false, ask))
                });
                if there.is_none() && gone {
                    continue;
                }
                let held = there
                    .and_then(Node::ready)
                    .and_then(|(watch, value)| Some((hold(watch, value)?, watch, value)));
                let shown = held.as_ref().map(|(_, watch, value)| (*watch, *value));
                let address = there.map(|there| ptr::from_ref(there).cast());
                let (wanted, answer) = asking.ask(address, || change(shown));
                let done = match (wanted, there) {
                    (None, None | Some(Node::InFlight { .. })) => true,
                    // Also if it is dead: if it is not linked any more, another may have taken its place.
                    (None, Some(there)) => self.unlink(&pin, there),
                    (Some((watch, value)), there) => {
                        let mut node = self.ready(None, hash, K::key(key), watch, value);
                        let weight = self.weigh(&node);
                        let expected = |now: Option<&_>| match (now, there) {
                            (Some(now), Some(there)) => ptr::eq(now, there),
                            (None, None) => true,
                            _ => false,
                        };
                        let swapped = self.swap(&pin, &mut node, &asking, expected);
                        let is_put = swapped.is_some();
                        if let Some(swapped) = swapped {
                            overtaken.set(swapped.old.and_then(Node::flight));
                            settles |= self.meet_new(swapped, weight);
                        }
                        is_put
                    }
                };
                if done {
                    answered = Some(answer);
                }
            }
        }
        self.settle_after(settling, settles);
        drop(overtaken);
        match answered {
            Some(answer) => answer,
            None => unreachable!("it is done"),
        }
    }

    /// Inserts a node, or replaces the one with its key, if what is there is `expected`. Otherwise the node stays
    /// with the caller.
    #[inline]
    pub(super) fn swap<'g>(
        &self,
        pin: &'g Pin<'_, K, T, V>,
        node: &mut NewNode<'_, K, T, V>,
        asking: &Asking,
        expected: impl Fn(Option<&Node<K, T, V>>) -> bool,
    ) -> Option<Swapped<'g, Node<K, T, V>>> {
        let hash = node.hash();
        let same = |node: &Node<K, T, V>, there: &Node<K, T, V>| {
            // Addresses are compared by no user's code, so that may be under the lock.
            if K::BY_ADDRESS {
                K::are_same(node, there)
            } else {
                asking.is_sought(there, || K::are_same(node, there))
            }
        };
        let (old, new) = match pin.put(node, same, expected) {
            Put::Added(new) => (None, new),
            Put::Replaced { old, new } => (Some(old), new),
            Put::Refused => return None,
        };
        inside::has_put(self, hash, new);
        let mut ended = FirstPanic::default();
        if let Some(old) = old {
            ended.catch(|| _ = self.end(old));
        }
        Some(Swapped { old, new, ended })
    }

    /// Meets a node that was inserted, before any user code may panic that runs because of the old node: else
    /// a limit would not know of the new node.
    ///
    /// # Panics
    /// If the end of the old node has panicked.
    #[inline]
    pub(super) fn meet_new(
        &self,
        swapped: Swapped<'_, Node<K, T, V>>,
        weight: Option<usize>,
    ) -> bool {
        let mut panics = swapped.ended;
        let mut settles = false;
        panics.catch(|| settles = self.meet(swapped.new, weight));
        panics.resume();
        settles
    }
}

impl<K: KeyKind, T: Watches, V> Table<K, T, V> {
    /// T2: ends a node that this thread has unlinked. Returns whether it was stale.
    #[inline]
    pub(super) fn end(&self, node: &Node<K, T, V>) -> bool {
        let on_request = self.is_on_request();
        let mut panics = FirstPanic::default();
        // If what this asks panics, the entry may be dead.
        let (mut stale, mut dead) = (false, true);
        panics.catch(|| {
            let is_stale = node.is_stale();
            dead = is_stale || on_request && node.is_expired();
            stale = is_stale;
        });
        if on_request && dead {
            node.keep();
        }
        if node.ready().is_some() {
            self.count(|counts| {
                if stale {
                    &counts.dead
                } else {
                    &counts.discarded
                }
            });
        }
        if let (Some(bound), Some(stamp)) = (self.bound(), node.stamp()) {
            if !stale {
                node.set_gone(Gone::Removed);
            }
            // The object may die by that.
            panics.catch(|| bound.leave(node, stamp));
        }
        node.deregister();
        panics.resume();
        stale
    }

    /// Unlinks this very node, if it is still linked.
    pub(super) fn unlink(&self, pin: &Pin<'_, K, T, V>, node: &Node<K, T, V>) -> bool {
        self.unlink_if(pin, node.hash(), |now| ptr::eq(now, node), |_| true)
            .map(|node| self.end(node))
            .is_some()
    }

    /// Unlinks the first node of a hash for which `sought` is true, if it is `wanted`, which is called once for
    /// each node. T2: the caller has to end it.
    pub(super) fn unlink_if<'g>(
        &self,
        pin: &'g Pin<'_, K, T, V>,
        hash: HashValue,
        sought: impl FnMut(&Node<K, T, V>) -> bool,
        mut wanted: impl FnMut(&Node<K, T, V>) -> bool,
    ) -> Option<&'g Node<K, T, V>> {
        let mut asked = ptr::null();
        pin.remove_if(hash.bits(), sought, |node| {
            let yes = ptr::eq(asked, node) || wanted(node);
            asked = node;
            yes
        })
    }

    /// Removes the entry that is `sought`, if it is wanted, and shows it. T6: `hold` is asked about the entry, once for each
    /// that is there, and returns `None` if the entry is not wanted; `show` gets what `hold` returned for the removed one. Where
    /// the value is being made, `hold` is shown none, and a removal has the thread or the tasks that make the value return that
    /// without keeping it.
    pub(super) fn remove_where<S: Into<Match>, H, R>(
        &self,
        hash: HashValue,
        mut sought: impl FnMut(&Node<K, T, V>) -> S,
        mut hold: impl FnMut(Option<(&T, &V)>) -> Option<H>,
        show: impl FnOnce(H, &K::Key, &V) -> R,
    ) -> Option<R> {
        if self.nodes.is_new() {
            return None;
        }
        let settling = self.settling();
        // T5, as in `put`.
        let mut removed = None;
        let (mut sweeps, mut dead) = (true, false);
        {
            let taken = self.take_some();
            let pin = self.pin();
            self.reap(&pin, taken);
            let asking = Asking::about(self, hash);
            let mut held = None;
            let node = loop {
                let (mut gone, mut unwanted) = (false, false);
                let is_sought = |node: &Node<K, T, V>| {
                    let ask = || gone |= pin.has_gone(node);
                    asking.is_sought(node, || sought(node).into().is_it(&mut dead, ask))
                };
                let node = self.unlink_if(&pin, hash, is_sought, |node| {
                    let address = ptr::from_ref(node).cast();
                    let ready = node.ready();
                    held = asking.ask(Some(address), || hold(ready));
                    unwanted = held.is_none();
                    // As in `read_where`.
                    let stays_stale = unwanted && ready.is_some_and(|(watch, _)| watch.is_stale());
                    sweeps = T::SWEPT != Some(false) && !stays_stale;
                    !unwanted
                });
                if node.is_some() || unwanted || !gone {
                    break node;
                }
            };
            if let Some(node) = node {
                self.end(node);
                let entry = node.entry().zip(held);
                removed = entry.map(|((key, _, value), held)| show(held, key, value));
            }
        }
        self.settle_after(settling, false);
        if T::SWEPT != Some(false) && dead && removed.is_none() {
            self.evict(hash);
        }
        // Afterwards: in the destructor of its object, a sweep would take this very entry for dead.
        if sweeps {
            self.sweep_some();
        }
        removed
    }
}
