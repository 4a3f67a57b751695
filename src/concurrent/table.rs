//! The table under the shared collections: that of [`raw`](super::raw), whose entries have keys, values and watches.
//!
//! * **T1** What a lookup finds is of an object that lives, or whose death has not finished yet: a death unlinks the entry
//!   before the memory of the payload is freed. Of polled objects the weak handle pins the address.
//! * **T2** A node is ended once, by the thread that has unlinked it: the table hands it to one thread only.
//! * **T3** A death unlinks the node with its registration and no other.
//! * **T4** User code never runs under a lock of ours.
//! * **T5** Destructors of users run before a result is in its place: the compiler leaks what a function is about to
//!   return if a local is dropped after that, and panics.

use core::cell::Cell;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

use super::bound::Ends;
use super::flight::Overtaken;
use super::inside::{self, Asking};
use super::kept::Kept;
use super::node::{Compare, KeyKind, Node};
use super::raw::{Put, RawTable, Registered, SweepPosition, Unlinked, Writer};
use super::watch::{Unplaced, Watches};
use crate::hash::HashValue;
use crate::keep::Gone;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::sync::{self, barrier, const_fn};

/// Access to the nodes. What is unlinked with it is destroyed after it, when no thread looks at it any more.
pub(super) type Pin<'t, K, T, V> = Writer<'t, Node<K, T, V>>;

/// An entry that is about to be inserted.
pub(super) type NewNode<'t, K, T, V> = Unlinked<'t, Node<K, T, V>>;

pub(crate) struct Table<K: KeyKind, T: Registered, V> {
    /// The nodes; their context is what is kept of dead entries, and what bounds the table.
    pub(super) nodes: RawTable<Node<K, T, V>>,
    /// How many invalidations there were.
    invalidations: sync::AtomicUsize,
    /// Entries that went because an object had died, and that were not unlinked by its death.
    pub(super) dead: AtomicUsize,
    /// Entries that went although no object had died, and values that were made and not kept.
    pub(super) discarded: AtomicUsize,
    /// Entries that were [put](Self::put).
    inserted: AtomicUsize,
    /// Whether there have been entries that have to be polled, if the type does not tell (see
    /// [`is_swept`](Self::is_swept)).
    swept: AtomicBool,
    /// The sweep position.
    pub(super) position: SweepPosition,
}

// A table is consistent between any two calls; a panic can leave only a value half changed.
impl<K: KeyKind, T: Registered, V: RefUnwindSafe> UnwindSafe for Table<K, T, V> {}
impl<K: KeyKind, T: Registered, V: RefUnwindSafe> RefUnwindSafe for Table<K, T, V> {}

impl<K: KeyKind, T: Watches, V> Table<K, T, V> {
    const_fn! {
        /// Allocates nothing.
        pub(crate) fn new() -> Self {
            Table {
                nodes: RawTable::new(Ends::new()),
                invalidations: sync::AtomicUsize::new(0),
                dead: AtomicUsize::new(0),
                discarded: AtomicUsize::new(0),
                inserted: AtomicUsize::new(0),
                swept: AtomicBool::new(false),
                position: SweepPosition::new(),
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

    #[inline]
    pub(super) fn kept(&self) -> &Kept<K::Key, V> {
        &self.ends().kept
    }

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
        T::SWEPT.unwrap_or_else(|| self.swept.load(Relaxed))
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
        self.nodes.dead() + self.nodes.waiting() + self.kept().len()
    }

    /// Counts an entry that has gone, if this table counts them.
    #[inline]
    pub(super) fn count(&self, gone: &AtomicUsize) {
        if T::COUNTED {
            // Relaxed: a count.
            gone.fetch_add(1, Relaxed);
        }
    }

    /// How many entries have gone because an object had died. For a table whose watches are
    /// [counted](Watches::COUNTED).
    pub(crate) fn dead(&self) -> usize {
        self.dead.load(Relaxed).wrapping_add(self.nodes.unlinked())
    }

    /// How many entries have gone although no object had died, or were not kept.
    pub(crate) fn discarded(&self) -> usize {
        self.discarded.load(Relaxed)
    }

    /// How many entries were put.
    pub(crate) fn inserted(&self) -> usize {
        self.inserted.load(Relaxed)
    }

    /// How many invalidations there were.
    pub(super) fn invalidations(&self) -> usize {
        // Acquire: with `begin_invalidation`: what the caller has changed before that.
        self.invalidations.load(Acquire)
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
        self.invalidations.fetch_add(1, Release);
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

    /// Shows the entry that is `sought` to a closure, which runs under no lock and while the entry is pinned. The
    /// closure returns the result, or `None` if this is not the entry that was meant.
    ///
    /// Each n-th call of a thread sweeps, where that may be of use.
    #[inline]
    pub(super) fn read_where<R>(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<K, T, V>) -> bool,
        read: impl FnOnce(&K::Key, &T, &V) -> Option<R>,
    ) -> Option<R> {
        if self.nodes.is_new() {
            return None;
        }
        let reader = self.nodes.read();
        let mut sweeps = T::SWEPT != Some(false) && reader.is_nth();
        let mut news = None;
        let found = reader.get(hash.bits(), sought).and_then(|node| {
            let (key, watch, value) = node.entry()?;
            let found = read(key, watch, value)?;
            news = self.news_of(node);
            // Not in the destructor of its object, which may look it up once more.
            sweeps = sweeps && !watch.is_stale();
            Some(found)
        });
        if let Some(news) = news {
            // Apart from the end of most, which have nothing to keep for it.
            let settling = self.settling();
            let settles = self.tell(news, None);
            drop(reader);
            self.settle_after(settling, settles);
            return found;
        }
        drop(reader);
        if sweeps {
            self.sweep_some();
        }
        found
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
    #[inline]
    pub(super) fn ready<'t>(
        &'t self,
        pin: Option<&Pin<'t, K, T, V>>,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'t, T>,
        value: V,
    ) -> NewNode<'t, K, T, V> {
        if T::SWEPT.is_none() && watch.is_swept() && !self.is_swept() {
            self.swept.store(true, Relaxed);
        }
        let make = || Node::new(hash, key, value, watch.into_inner());
        match pin {
            Some(pin) => pin.entry(make),
            None => self.nodes.entry(make),
        }
    }
}

impl<K: Compare<T>, T: Watches, V> Table<K, T, V> {
    /// Inserts an entry, or replaces the one with its key; `old` is shown the replaced one, unless it was stale.
    #[inline]
    pub(crate) fn put<R>(
        &self,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'_, T>,
        value: V,
        old: impl FnOnce(&T, &V) -> R,
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
            let asking = Asking::about(self, hash);
            let placed = self.swap_showing(
                &pin,
                &mut node,
                &asking,
                |_| true,
                |there, stale| {
                    overtaken.set(there.flight());
                    if !stale {
                        shown = there.ready().map(|(watch, value)| old(watch, value));
                    }
                },
            );
            if let Some(new) = placed {
                self.count(&self.inserted);
                settles = self.meet(new, weight);
            }
        }
        drop(node);
        self.settle_after(settling, settles);
        drop(overtaken);
        shown
    }

    /// Inserts an entry, unless there is one for which `read` returns a result, which is returned. Nor does it if `begun` is
    /// another number than that of the [invalidations](Self::begin_invalidation) by now.
    pub(crate) fn put_unless<R>(
        &self,
        hash: HashValue,
        key: K::Key,
        watch: Unplaced<'_, T>,
        value: V,
        read: impl Fn(&T, &V) -> Option<R>,
        begun: Option<usize>,
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
            if let Some(begun) = begun {
                node.unless_changed(&self.invalidations, begun);
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
            let placed = self.swap_showing(&pin, &mut node, &asking, expected, |old, _| {
                overtaken.set(old.flight());
            });
            match placed {
                Some(new) => settles |= self.meet(new, weight),
                None => self.count(&self.discarded),
            }
        }
        drop(node);
        self.settle_after(settling, settles);
        drop(overtaken);
        there.into_inner()
    }

    /// Changes the entry of a key: `change` is shown the present entry, and returns the new one. It may be called
    /// again when other threads change the same entry.
    #[track_caller]
    pub(crate) fn compute<'t, R>(
        &'t self,
        hash: HashValue,
        key: &K::FlightKey,
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
                let there = pin.get(hash.bits(), |node| {
                    asking.is_sought_still(node, || is_of(node))
                });
                let shown = there.and_then(Node::live);
                let address = there.map(|there| ptr::from_ref(there).cast());
                let (wanted, answer) = asking.ask(address, || change(shown));
                let done = match (wanted, there) {
                    (Some((watch, value)), there) => {
                        let mut node = self.ready(None, hash, K::key(key), watch, value);
                        let weight = self.weigh(&node);
                        let expected = |now: Option<&_>| match (now, there) {
                            (Some(now), Some(there)) => ptr::eq(now, there),
                            (None, None) => true,
                            _ => false,
                        };
                        let put =
                            self.swap_showing(&pin, &mut node, &asking, expected, |old, _| {
                                overtaken.set(old.flight());
                            });
                        settles |= put.is_some_and(|new| self.meet(new, weight));
                        put.is_some()
                    }
                    (None, Some(there)) => shown.is_none() || self.unlink(&pin, there),
                    (None, None) => true,
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
    ) -> Option<&'g Node<K, T, V>> {
        self.swap_showing(pin, node, asking, expected, |_, _| ())
    }

    /// The same. The node that is replaced, if any, is shown as [`end_showing`](Self::end_showing) does.
    #[inline]
    fn swap_showing<'g>(
        &self,
        pin: &'g Pin<'_, K, T, V>,
        node: &mut NewNode<'_, K, T, V>,
        asking: &Asking,
        expected: impl Fn(Option<&Node<K, T, V>>) -> bool,
        show: impl FnOnce(&Node<K, T, V>, bool),
    ) -> Option<&'g Node<K, T, V>> {
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
        if let Some(old) = old {
            self.end_showing(old, |stale| show(old, stale));
        }
        Some(new)
    }
}

impl<K: KeyKind, T: Watches, V> Table<K, T, V> {
    /// T2: ends a node that this thread has unlinked. Returns whether it was stale.
    pub(super) fn end(&self, node: &Node<K, T, V>) -> bool {
        self.end_showing(node, |_| ())
    }

    /// The same; `show`, user code, is told whether it was stale. It runs before a floor lets go of the object, which another
    /// thread may destroy from then on.
    #[inline]
    fn end_showing(&self, node: &Node<K, T, V>, show: impl FnOnce(bool)) -> bool {
        let on_request = self.kept().is_on_request();
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
            self.count(if stale { &self.dead } else { &self.discarded });
        }
        panics.catch(|| show(stale));
        if let (Some(bound), Some(stamp)) = (self.ends().bound(), node.stamp()) {
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

    /// Removes the entry that is `sought`, if `wanted`, and shows it. Where the value is being made, `wanted` is shown none, and a
    /// removal has the thread or the tasks that make the value return that without keeping it.
    pub(super) fn remove_where<R>(
        &self,
        hash: HashValue,
        mut sought: impl FnMut(&Node<K, T, V>) -> bool,
        mut wanted: impl FnMut(Option<(&T, &V)>) -> bool,
        show: impl FnOnce(&K::Key, &T, &V) -> R,
    ) -> Option<R> {
        if self.nodes.is_new() {
            return None;
        }
        let settling = self.settling();
        // T5, as in `put`.
        let mut removed = None;
        let mut sweeps = true;
        {
            let taken = self.take_some();
            let pin = self.pin();
            self.reap(&pin, taken);
            let asking = Asking::about(self, hash);
            let sought = |node: &Node<K, T, V>| asking.is_sought(node, || sought(node));
            let node = self.unlink_if(&pin, hash, sought, |node| {
                let address = ptr::from_ref(node).cast();
                let ready = node.ready();
                let yes = asking.ask(Some(address), || wanted(ready));
                // As in `read_where`.
                let stays_stale = !yes && ready.is_some_and(|(watch, _)| watch.is_stale());
                sweeps = T::SWEPT != Some(false) && !stays_stale;
                yes
            });
            if let Some(node) = node {
                self.end_showing(node, |_| {
                    let entry = node.entry();
                    removed = entry.map(|(key, watch, value)| show(key, watch, value));
                });
            }
        }
        self.settle_after(settling, false);
        // Afterwards: in the destructor of its object, a sweep would take this very entry for dead.
        if sweeps {
            self.sweep_some();
        }
        removed
    }
}
