//! How a value that is not there is made, by one thread at a time for each key.

use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::*};
use std::boxed::Box;
use std::sync::Arc;

use super::drain::Depth;
use super::flight::{Cycle, Flight};
use super::node::Node;
use super::table::{Pin, Table};
use super::watch::{Unplaced, Watches, WatchesOne};
use crate::hash::HashValue;
use crate::queue::SharedQueue;

/// What there is instead of what is wanted.
pub(crate) enum Absent {
    InFlight(Arc<Flight>),
    /// An entry that is stale, or of which nothing can be given out.
    Useless,
    Nothing,
}

/// What comes of it.
pub(crate) enum Wanted<R, L> {
    /// It is there by now.
    There(R),
    /// It is for the caller to make.
    Ours(L),
}

/// What was made, unless it was asked for while it is being made.
#[inline]
#[track_caller]
pub(crate) fn made_by<K, V>(made: Result<V, Cycle>) -> V {
    match made {
        Ok(made) => made,
        Err(Cycle) => cycle::<K, V>(),
    }
}

/// What is asked for while it is being made: a cycle.
#[track_caller]
#[cold]
pub(crate) fn cycle<K, V>() -> ! {
    panic!(
        "a cycle: the value ({}) of a key ({}) needs itself to be made",
        core::any::type_name::<V>(),
        core::any::type_name::<K>()
    )
}

impl<Q: Eq + Clone, T: WatchesOne, V: Clone> Table<Q, T, V> {
    /// The value of a key, by identity or content, made by `make` if there is none.
    #[inline]
    #[track_caller]
    pub(crate) fn value_or_make(
        &self,
        hash: HashValue,
        by: &Q,
        key: &T::Pointer,
        make: impl FnOnce() -> V,
    ) -> V {
        let made = self.get_or_make(
            hash,
            by,
            |_, value| Some(value.clone()),
            make,
            |value, hash, queue| {
                let watch = T::new(key, hash, queue);
                (watch, value.clone(), value)
            },
        );
        made_by::<T::Pointer, V>(made)
    }
}

impl<K: Eq, T: Watches, V> Table<K, T, V> {
    /// What is there, or else what `make` makes, which only one thread does at a time. `read` says what to
    /// give out, none if it is of no use; `finish`, which entry what was made gives, and what to give out.
    #[inline]
    pub(crate) fn get_or_make<'t, M, R>(
        &'t self,
        hash: HashValue,
        key: &K,
        read: impl Fn(&T, &V) -> Option<R>,
        make: impl FnOnce() -> M,
        finish: impl FnOnce(M, HashValue, &'t SharedQueue) -> (Unplaced<'t, T>, V, R),
    ) -> Result<R, Cycle>
    where
        K: Clone,
    {
        match self.look(hash, key, &read) {
            Ok(made) => Ok(made),
            Err(absent) => self.make(hash, key, read, absent, make, finish),
        }
    }

    #[inline(never)]
    fn look<R>(
        &self,
        hash: HashValue,
        key: &K,
        read: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Result<R, Absent> {
        self.find(hash, key, read)
    }

    #[cold]
    #[inline(never)]
    fn make<'t, M, R>(
        &'t self,
        hash: HashValue,
        key: &K,
        read: impl Fn(&T, &V) -> Option<R>,
        absent: Absent,
        make: impl FnOnce() -> M,
        finish: impl FnOnce(M, HashValue, &'t SharedQueue) -> (Unplaced<'t, T>, V, R),
    ) -> Result<R, Cycle>
    where
        K: Clone,
    {
        match self.lead(hash, key, read, absent, Box::new)? {
            Wanted::There(made) => Ok(made),
            Wanted::Ours(leader) => {
                let made = make();
                Ok(leader.finish_apart(|| {
                    let (watch, value, made) = finish(made, hash, self.queue());
                    (key.clone(), watch, value, made)
                }))
            }
        }
    }

    /// What is there now.
    #[inline]
    pub(crate) fn find<R>(
        &self,
        hash: HashValue,
        key: &K,
        read: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Result<R, Absent> {
        let reader = self.nodes.read();
        let sweeps = T::SWEPT != Some(false) && reader.is_nth();
        let found = match self.seek(&reader, hash, |node| *key == *node.key()) {
            None => Err(Absent::Nothing),
            Some(found) => match found.node {
                Node::InFlight { flight, .. } => Err(Absent::InFlight(Arc::clone(flight))),
                Node::Ready { .. } if found.is_stale() => Err(Absent::Useless),
                Node::Ready { watch, value, .. } => read(watch, value).ok_or(Absent::Useless),
            },
        };
        drop(reader);
        // (Who makes it changes the table, and sweeps then.)
        if sweeps && found.is_ok() {
            self.sweep_some();
        }
        found
    }

    /// Goes on from what was there until this thread has the value, or is to make it; then `begin` puts what
    /// is needed for that where it stays meanwhile.
    ///
    /// Computations may nest tens of thousands deep, so what is on the stack while one runs counts. Hence all
    /// that comes before and after it is in functions that are never inlined, this among them: of their frames
    /// nothing is left while code of a user runs. What is needed then is behind one pointer.
    #[cold]
    #[inline(never)]
    pub(crate) fn lead<'t, R, L>(
        &'t self,
        hash: HashValue,
        key: &K,
        read: impl Fn(&T, &V) -> Option<R>,
        mut absent: Absent,
        begin: impl FnOnce(Leader<'t, K, T, V>) -> L,
    ) -> Result<Wanted<R, L>, Cycle>
    where
        K: Clone,
    {
        loop {
            if let Absent::InFlight(flight) = &absent {
                Flight::wait(flight)?;
                self.take_down(hash, flight);
            } else {
                self.tidy();
                if let Absent::Useless = absent {
                    self.clear_away(hash, key, &read);
                }
                if let Some(leader) = self.start_flight(hash, key) {
                    return Ok(Wanted::Ours(begin(leader)));
                }
            }
            absent = match self.find(hash, key, &read) {
                Ok(made) => return Ok(Wanted::There(made)),
                Err(absent) => absent,
            };
        }
    }

    /// Unlinks the entry of a key, if it is of no use. It is destroyed here, before anything is in flight,
    /// for its destructor may ask for the same key (T4).
    #[cold]
    fn clear_away<R>(&self, hash: HashValue, key: &K, read: impl Fn(&T, &V) -> Option<R>) {
        let pin = self.pin();
        let useless = |(watch, value): (&T, &V)| watch.is_stale() || read(watch, value).is_none();
        let sought = |node: &Node<K, T, V>| *key == *node.key();
        let unlinked = self.unlink_if(&pin, hash, sought, |node| node.ready().is_some_and(useless));
        if let Some(node) = unlinked {
            self.end(node);
        }
    }

    /// Announces that this thread makes the value of a key; none if there is one, or another does.
    fn start_flight(&self, hash: HashValue, key: &K) -> Option<Leader<'_, K, T, V>>
    where
        K: Clone,
    {
        /// Lands if it does not start.
        struct Waiting(Option<Arc<Flight>>);
        impl Drop for Waiting {
            fn drop(&mut self) {
                if let Some(flight) = &self.0 {
                    flight.complete();
                }
            }
        }
        let flight = Flight::start();
        let mut waiting = Waiting(Some(Arc::clone(&flight)));
        let mut node = self.nodes.entry(|| Node::InFlight {
            hash,
            key: key.clone(),
            flight: Arc::clone(&flight),
        });
        let pin = self.pin();
        // Before it is there, or whoever removes it at once would count below zero.
        let counted = Counted::one(&self.in_flight);
        self.swap(&pin, &mut node, |now| now.is_none())?;
        waiting.0 = None;
        // It is counted off by whoever unlinks it.
        mem::forget(counted);
        let mut leader = Leader {
            table: self,
            hash,
            flight,
            owes: false,
            announced: true,
        };
        // Code of users runs from here on, and not before the flight has a leader, who lands if that panics. It
        // may ask for this very key: nothing is being made yet.
        let standby = Flight::stand_by(&leader.flight);
        drop(pin);
        leader.owes = standby.begin();
        leader.owes.then_some(leader)
    }

    /// Unlinks a flight that has landed. (It is there still if it was called off.)
    fn take_down(&self, hash: HashValue, flight: &Arc<Flight>) {
        let pin = self.pin();
        let sought = |node: &Node<K, T, V>| node.is_led_by(flight);
        if let Some(node) = self.unlink_if(&pin, hash, sought, |_| true) {
            self.end(node);
        }
    }
}

/// Who makes the value of a key. Lands in any case; if there is no value, what stands for it goes.
pub(crate) struct Leader<'a, K: Eq, T: Watches, V> {
    table: &'a Table<K, T, V>,
    hash: HashValue,
    flight: Arc<Flight>,
    /// Whether a value was begun and what became of it is not yet counted.
    owes: bool,
    /// Whether what stands for the value may be in the table still.
    announced: bool,
}

impl<'a, K: Eq, T: Watches, V> Leader<'a, K, T, V> {
    /// The value is there. It is not kept if what stands for it has been removed or replaced meanwhile, nor
    /// if an object has died that nobody held.
    pub(crate) fn finish<R>(self, made: impl FnOnce() -> (K, Unplaced<'a, T>, V, R)) -> R {
        let (key, watch, value, made) = made();
        self.arrive(key, watch, value);
        made
    }

    /// The same, in a frame of its own.
    #[inline(never)]
    #[expect(
        clippy::boxed_local,
        reason = "unboxed here, not in the caller's frame"
    )]
    fn finish_apart<R>(self: Box<Self>, made: impl FnOnce() -> (K, Unplaced<'a, T>, V, R)) -> R {
        (*self).finish(made)
    }

    fn arrive(self, key: K, watch: Unplaced<'a, T>, value: V) {
        let table = self.table;
        // Code of users runs when these two go, a value that is not kept and what `pin` destroys: last, when all
        // have landed, and nothing is held any more (T4).
        let mut node = table.ready(self.hash, key, watch, value);
        let pin = table.pin();
        let mut leader = self;
        let has_died =
            |node: &Node<K, T, V>| node.ready().is_some_and(|(watch, _)| watch.has_died());
        // As long as this is held, nobody takes what he finds to be fresh without asking (T1); so between
        // the two looks below nobody is misled, and what has died before the first is not put in. (A purge
        // waits for the end of it; one in a destructor that runs meanwhile must not.)
        let is_held = node.ready().is_some_and(|(watch, _)| watch.is_held());
        let held = (!is_held).then(|| (table.queue().keep_busy(), Depth::full()));
        if held.is_some() && has_died(&node) {
            table.count(&table.dead);
            leader.owes = false;
            return;
        }
        let own =
            |now: Option<&Node<K, T, V>>| now.is_some_and(|now| now.is_led_by(&leader.flight));
        let Some(put) = table.swap(&pin, &mut node, own) else {
            return;
        };
        leader.announced = false;
        leader.owes = false;
        if held.is_some() && has_died(put.new) {
            table.unlink(&pin, put.new);
        }
    }

    /// Unlinks what stands for the value, if it is there still.
    #[cold]
    fn withdraw(&self, pin: &Pin<'_, K, T, V>) {
        let own = |node: &Node<K, T, V>| node.is_led_by(&self.flight);
        if let Some(node) = self.table.unlink_if(pin, self.hash, own, |_| true) {
            self.table.end(node);
        }
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

impl<K: Eq, T: Watches, V> Drop for Leader<'_, K, T, V> {
    fn drop(&mut self) {
        // Dropped when all is done: what it destroys may panic, or wait for those who wait for us.
        let pin = self.announced.then(|| self.table.pin());
        if let Some(pin) = &pin {
            self.withdraw(pin);
        }
        if self.owes {
            self.table.count(&self.table.discarded);
        }
        self.flight.complete();
    }
}
