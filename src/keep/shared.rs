//! The ring behind a lock, and how the entries of collections use it without the lock.
//!
//! * **S1** No code of users runs under the lock, and nothing is destroyed.
//! * **S2** An entry has a [`Stamp`]. It changes under the lock, except that who unlinks the entry [ends](Stamp::end)
//!   it. Each change is a read-modify-write: so either the entry is told to the ring first, and who unlinks it lets go
//!   of it; or that comes first, and the entry is not told any more.
//! * **S3** While the stamp of an entry has the number of this round, it was told in this round, and is kept (Q3 of
//!   [`ring`](super::ring)), or was refused by this limit. So a hit that finds that number has nothing to say. The
//!   number is published under the lock.

use core::mem;
use std::sync::Arc;

use super::limit::Limit;
use super::ring::{Outcome, Ring, Told};
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicU16, AtomicU32, Exclusive, Mutex};

/// The ring does not know the entry.
const NEVER: u16 = 0;
/// It does, and no hit was told.
const UNTOLD: u16 = u16::MAX - 1;
/// The entry is unlinked.
const ENDED: u16 = u16::MAX;

/// What an entry remembers of its ring: whether it is in it, and the round in which it told a hit last.
pub(crate) struct Stamp(AtomicU16);

impl Stamp {
    #[inline]
    pub(crate) fn new() -> Self {
        Stamp(AtomicU16::new(NEVER))
    }

    /// Under the lock of the ring: an entry that is told, or if there is no number of a round, that is kept and has no
    /// hit. False if it is unlinked.
    pub(crate) fn set(&self, told: Option<u16>) -> bool {
        let new = told.unwrap_or(UNTOLD);
        let mut now = NEVER;
        loop {
            // Relaxed, also below: the lock orders what depends on it, and there is one order of the changes.
            match self.0.compare_exchange(now, new, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(ENDED) => return false,
                Err(other) => now = other,
            }
        }
    }

    /// Whether nobody has told the ring of the entry yet.
    pub(crate) fn is_new(&self) -> bool {
        self.0.load(Relaxed) == NEVER
    }

    /// Ends it: the entry is unlinked. Returns whether the ring may know the entry: then the caller has to let go of
    /// it.
    pub(crate) fn end(&self) -> bool {
        !matches!(self.0.swap(ENDED, Relaxed), NEVER | ENDED)
    }

    /// Whether the ring may know the entry, which nobody changes any more.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.0.load(Relaxed), NEVER | ENDED)
    }

    /// Whether the ring may have known it, or it was unlinked by a removal.
    pub(crate) fn was_known(&self) -> bool {
        self.0.load(Relaxed) != NEVER
    }
}

/// What each hit reads, on a cache line of its own.
#[repr(align(128))]
pub(crate) struct Round(AtomicU32);

/// Something was let go, and nobody has taken it yet.
const LEAVING: u32 = 1 << 16;

impl Round {
    /// Whether a hit of the entry has to be told.
    #[inline]
    pub(crate) fn is_news(&self, stamp: &Stamp) -> bool {
        // Relaxed, both: a thread that misses a new round tells the next hit.
        self.0.load(Relaxed) as u16 != stamp.0.load(Relaxed)
    }

    /// Whether somebody has to take what was let go.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        // Relaxed: who lets something go sees it, and takes it afterwards.
        self.0.load(Relaxed) & LEAVING != 0
    }
}

/// A ring that threads share.
pub(crate) struct SharedRing<X> {
    ring: Mutex<Ring<X>>,
    round: Arc<Round>,
}

impl<X> SharedRing<X> {
    pub(crate) fn new(ring: Ring<X>) -> Self {
        SharedRing {
            round: Arc::new(Round(AtomicU32::new(ring.round().into()))),
            ring: Mutex::new(ring),
        }
    }

    pub(crate) fn round(&self) -> &Arc<Round> {
        &self.round
    }

    /// Tells a hit of an entry; returns whether that is in the ring (S3). Of a new entry it says that it is not,
    /// without the lock: most likely its object is new, too, and [`join`](Self::join) sees whether it is.
    pub(crate) fn tell(&self, addr: usize, stamp: &Stamp) -> bool {
        if stamp.is_new() {
            return false;
        }
        self.with(|ring| {
            let there = ring.touch(addr);
            if there {
                stamp.set(Some(ring.tell_round()));
            }
            there
        })
    }

    /// Keeps something for an entry, or [tells](Self::tell) it if it is kept already, unless the entry is unlinked
    /// (S2): then it is given back. One without a weight is refused. Also returns whether something has to go.
    pub(crate) fn join(
        &self,
        addr: usize,
        weight: Option<usize>,
        what: X,
        stamp: &Stamp,
    ) -> (Outcome<X>, bool) {
        self.with_room(addr, |ring| {
            let outcome = if stamp.set(None) {
                match ring.tell_or_keep(addr, weight, what) {
                    Told::Yes(what) => {
                        stamp.set(Some(ring.tell_round()));
                        Outcome::Already(what)
                    }
                    Told::No(refused @ Outcome::Refused(_)) => {
                        // It would be too heavy in this round again.
                        stamp.set(Some(ring.tell_round()));
                        refused
                    }
                    Told::No(outcome) => outcome,
                }
            } else {
                Outcome::Already(what)
            };
            (outcome, ring.is_due())
        })
    }

    /// Under the lock (S1).
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.publish(&mut self.ring.lock(), run)
    }

    /// The same, with room for something that may not be there.
    pub(crate) fn with_room<R>(&self, addr: usize, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.ring.with_room(
            |ring, room| ring.make_room_for(addr, room),
            |ring, _| self.publish(ring, run),
        )
    }

    /// Sets another limit. What is beyond it goes [next](Ring::next_to_go).
    pub(crate) fn set_limit<R>(&self, limit: Limit, then: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.ring.with_room(
            |ring, room| self.publish(ring, |ring| ring.set_limit(limit, room)),
            |ring, _| self.publish(ring, then),
        )
    }

    fn publish<R>(&self, ring: &mut Ring<X>, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        let shown = |ring: &Ring<X>| {
            let leaving = if ring.is_leaving() { LEAVING } else { 0 };
            u32::from(ring.round()) | leaving
        };
        let before = shown(ring);
        let result = run(ring);
        let now = shown(ring);
        if now != before {
            // Relaxed: S3 asks for it under the lock.
            self.round.0.store(now, Relaxed);
        }
        result
    }
}

/// The weight that is known, or that is asked for now. That is user code: `None` if it panics, and who has told the ring so
/// resumes the panic.
pub(crate) fn weight_of(
    known: Option<usize>,
    weigh: impl FnOnce() -> usize,
) -> (Option<usize>, FirstPanic) {
    let (mut weight, mut panics) = (known, FirstPanic::default());
    if known.is_none() {
        panics.catch(|| weight = Some(weigh()));
    }
    (weight, panics)
}

/// A closure that is told what goes. `F` is its type, without a size.
pub(crate) struct Listener<F: ?Sized> {
    hears: Mutex<Option<Arc<F>>>,
    /// Whether there is one: it changes under the lock.
    is_set: AtomicBool,
}

impl<F: ?Sized> Listener<F> {
    pub(crate) fn new() -> Self {
        Listener {
            hears: Mutex::new(None),
            is_set: AtomicBool::new(false),
        }
    }

    pub(crate) fn set(&self, listener: Option<Arc<F>>) {
        let mut hears = self.hears.lock();
        // Relaxed: the lock orders what is read of the listener.
        self.is_set.store(listener.is_some(), Relaxed);
        let old = mem::replace(&mut *hears, listener);
        drop(hears);
        drop(old);
    }

    /// Whether there is a closure.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Relaxed: a thread for which it has been set sees that.
        self.is_set.load(Relaxed)
    }

    /// The closure, which is called under no lock.
    pub(crate) fn get(&self) -> Option<Arc<F>> {
        // Most have none, and take no lock.
        self.is_set().then(|| self.hears.lock().clone())?
    }
}

#[cfg(all(test, weakly_loom))]
mod models;
