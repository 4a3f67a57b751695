//! How a value that is not there is made, by one thread at a time for each key.

use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::*};
use equivalent::Equivalent;
use std::sync::Arc;

use super::drain::Depth;
use super::node::{ByFlight, ByKey, Node, State};
use super::table::Table;
use super::tie::Tied;
use crate::flight::{Circle, Flight};
use crate::hash::HashValue;

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
                        State::Ready(ready) if !idle && ready.tie.is_stale() => Ok(None),
                        State::Ready(ready) => Ok(read(&ready.tie, &ready.value)),
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
            Some(State::Ready(ready)) => {
                ready.tie.is_stale() || read(&ready.tie, &ready.value).is_none()
            }
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
