//! How a value that is not there is made, by one thread at a time for each key.

use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::*};
use equivalent::Equivalent;
use std::boxed::Box;
use std::sync::Arc;

use super::drain::Depth;
use super::node::Node;
use super::table::Table;
use super::tie::{Loose, Tied};
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

/// What there is where something is wanted.
enum There<R> {
    Ready(R),
    Flying(Arc<Flight>),
    /// An entry that is stale, or of which nothing can be given out.
    Useless,
    Nothing,
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
    pub(crate) fn get_or_make<'t, Q, R, E>(
        &'t self,
        hash: HashValue,
        key: &Q,
        owned: impl Fn() -> K,
        read: impl Fn(&T, &V) -> Option<R>,
        make: impl FnOnce() -> Result<(Loose<'t, T>, V, R), E>,
    ) -> Result<Made<R>, Failed<E>>
    where
        Q: ?Sized + Equivalent<K>,
    {
        loop {
            let sweeps;
            let there = {
                // T1
                let idle = self.queue().is_idle();
                let reader = self.nodes.read();
                sweeps = T::SWEPT != Some(false) && reader.is_nth();
                match reader.get(hash.bits(), |node| key.equivalent(node.key())) {
                    Some(node) => match node {
                        Node::Flying { flight, .. } => There::Flying(Arc::clone(flight)),
                        Node::Ready { tie, .. } if !idle && tie.is_stale() => There::Useless,
                        Node::Ready { tie, value, .. } => {
                            read(tie, value).map_or(There::Useless, There::Ready)
                        }
                    },
                    None => There::Nothing,
                }
            };
            match there {
                There::Ready(made) => {
                    if sweeps {
                        self.sweep_some();
                    }
                    return Ok(Made::Hit(made));
                }
                There::Flying(flight) => match Flight::wait(&flight) {
                    Ok(()) => {
                        self.take_down(hash, &flight);
                        continue;
                    }
                    Err(Circle) => return Err(Failed::Circle),
                },
                There::Useless => {
                    self.tend();
                    self.clear_away(hash, key, &read);
                }
                There::Nothing => self.tend(),
            }
            if let Some(mut leader) = self.take_off(hash, &owned) {
                leader.owes = true;
                let (tie, value, made) = make().map_err(Failed::By)?;
                leader.arrive(owned(), tie, value);
                return Ok(Made::Miss(made));
            }
        }
    }

    /// Unlinks the entry of a key, if it is of no use. It is destroyed here, before anything is in flight,
    /// for its destructor may ask for the same key (T4).
    #[cold]
    fn clear_away<Q, R>(&self, hash: HashValue, key: &Q, read: impl Fn(&T, &V) -> Option<R>)
    where
        Q: ?Sized + Equivalent<K>,
    {
        let pin = self.pin();
        let useless = |(tie, value): (&T, &V)| tie.is_stale() || read(tie, value).is_none();
        let sought = |node: &Node<K, T, V>| key.equivalent(node.key());
        let unlinked = self.unlink_if(&pin, hash, sought, |node| node.ready().is_some_and(useless));
        if let Some(node) = unlinked {
            self.end(node);
        }
    }

    /// Announces that this thread makes the value of a key; none if there is one, or another does.
    fn take_off(&self, hash: HashValue, owned: impl Fn() -> K) -> Option<Leader<'_, K, T, V>> {
        let flight = Flight::start();
        let node = self.nodes.entry(Box::new(Node::Flying {
            hash,
            key: owned(),
            flight: Arc::clone(&flight),
        }));
        let pin = self.pin();
        // Before it is there, or whoever removes it at once would count below zero.
        let counted = Counted::one(&self.flying);
        self.swap(&pin, node, |now| now.is_none())?;
        // It is counted off by whoever unlinks it.
        mem::forget(counted);
        let leader = Leader {
            table: self,
            hash,
            flight,
            owes: false,
        };
        // Code of users runs from here on, and not before the flight has a leader, who lands if that panics. It
        // may ask for this very key: nothing is being made yet.
        let standby = Flight::stand_by(&leader.flight);
        drop(pin);
        standby.begin().then_some(leader)
    }

    /// Unlinks a flight that has landed. (It is there still if it was called off.)
    fn take_down(&self, hash: HashValue, flight: &Arc<Flight>) {
        let pin = self.pin();
        let sought = |node: &Node<K, T, V>| node.is_flown_by(flight);
        if let Some(node) = self.unlink_if(&pin, hash, sought, |_| true) {
            self.end(node);
        }
    }
}

/// Who makes the value of a key. Lands in any case; if there is no value, what stands for it goes.
struct Leader<'a, K: Eq, T: Tied, V> {
    table: &'a Table<K, T, V>,
    hash: HashValue,
    flight: Arc<Flight>,
    /// Whether a value was begun and what became of it is not yet counted.
    owes: bool,
}

impl<K: Eq, T: Tied, V> Leader<'_, K, T, V> {
    /// The value is there. It is not kept if what stands for it has been removed or replaced meanwhile, nor
    /// if an object has died that nobody held.
    fn arrive(self, key: K, tie: Loose<'_, T>, value: V) {
        let table = self.table;
        let node = table.ready(self.hash, key, tie, value);
        let pin = table.pin();
        // Lands before `pin`, and a value that is not kept, run code of users (T4).
        let mut leader = self;
        let has_died = |node: &Node<K, T, V>| node.ready().is_some_and(|(tie, _)| tie.has_died());
        // As long as this is held, nobody takes what he finds to be fresh without asking (T1); so between
        // the two looks below nobody is misled, and what has died before the first is not put in. (A purge
        // waits for the end of it; one in a destructor that runs meanwhile must not.)
        let is_held = node.ready().is_some_and(|(tie, _)| tie.is_held());
        let held = (!is_held).then(|| (table.queue().hold(), Depth::full()));
        if held.is_some() && has_died(&node) {
            table.dead.fetch_add(1, Relaxed);
            leader.owes = false;
            return;
        }
        let own =
            |now: Option<&Node<K, T, V>>| now.is_some_and(|now| now.is_flown_by(&leader.flight));
        let Some(put) = table.swap(&pin, node, own) else {
            return;
        };
        leader.owes = false;
        if held.is_some() && has_died(put.new) {
            table.unlink(&pin, put.new);
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

impl<K: Eq, T: Tied, V> Drop for Leader<'_, K, T, V> {
    fn drop(&mut self) {
        let table = self.table;
        // Dropped when all is done: what it destroys may panic, or wait for those who wait for us.
        let pin = table.pin();
        let own = |node: &Node<K, T, V>| node.is_flown_by(&self.flight);
        // Unless it has arrived, or somebody has removed it.
        if let Some(node) = table.unlink_if(&pin, self.hash, own, |_| true) {
            table.end(node);
        }
        if self.owes {
            table.discarded.fetch_add(1, Relaxed);
        }
        self.flight.land();
    }
}
