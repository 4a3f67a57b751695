//! A ring behind a lock, and how the entries of collections use the ring without the lock.
//!
//! * **S1** Under the lock no user code runs, and nothing is destroyed.
//! * **S2** An entry has a [`Stamp`], which changes under the lock, except that the thread that
//!   unlinks the entry [ends](Stamp::end) the stamp. Each change is a read-modify-write. So either
//!   the entry is reported to the ring first, and the unlinking thread lets it go; or the stamp
//!   ends first, and the entry is not reported any more.
//! * **S3** While the stamp of an entry has the number of this round, the entry was reported in
//!   this round, and is a member (Q3 of [`ring`](super::ring)), or the limit has refused it. So a
//!   hit that finds that number reports nothing. The number is published under the lock.

use core::mem;
use std::sync::Arc;

use super::limit::Limit;
use super::ring::{Outcome, Ring, Told};
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicU16, AtomicU32, Exclusive, Mutex};

/// The ring does not know the entry.
const NEVER: u16 = 0;
/// The ring knows the entry, and no hit was reported.
const UNTOLD: u16 = u16::MAX - 1;
/// The entry is unlinked.
const ENDED: u16 = u16::MAX;

/// The note of an entry about its ring: whether the ring knows the entry, and the round in which
/// the entry reported a hit.
pub(crate) struct Stamp(AtomicU16);

impl Stamp {
    #[inline]
    pub(crate) fn new() -> Self {
        Stamp(AtomicU16::new(NEVER))
    }

    /// Under the lock of the ring: notes a report in this round, or without a round, that the ring
    /// knows the entry. Returns false if the entry is unlinked.
    pub(crate) fn set(&self, told: Option<u16>) -> bool {
        let new = told.unwrap_or(UNTOLD);
        let mut now = NEVER;
        loop {
            // Relaxed, also below: the lock orders all that depends on the stamp, and the changes
            // of the stamp have one order.
            match self.0.compare_exchange(now, new, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(ENDED) => return false,
                Err(other) => now = other,
            }
        }
    }

    /// Whether the entry was never reported to the ring.
    pub(crate) fn is_new(&self) -> bool {
        self.0.load(Relaxed) == NEVER
    }

    /// Ends the stamp: the entry is unlinked. Returns whether the ring may know the entry: then the
    /// caller has to let it go there.
    pub(crate) fn end(&self) -> bool {
        !matches!(self.0.swap(ENDED, Relaxed), NEVER | ENDED)
    }

    /// Whether the ring may know the entry, which no thread changes any more.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.0.load(Relaxed), NEVER | ENDED)
    }

    /// Whether the ring may have known the entry, or a removal has unlinked it.
    pub(crate) fn was_known(&self) -> bool {
        self.0.load(Relaxed) != NEVER
    }
}

/// The words that each hit reads, on a cache line of their own.
#[repr(align(128))]
pub(crate) struct Round(AtomicU32);

/// There is a victim that no thread has taken yet.
const LEAVING: u32 = 1 << 16;

impl Round {
    /// Whether a hit of the entry has to be reported.
    #[inline]
    pub(crate) fn is_news(&self, stamp: &Stamp) -> bool {
        // Relaxed, both: a thread that misses a new round reports the next hit.
        self.0.load(Relaxed) as u16 != stamp.0.load(Relaxed)
    }

    /// Whether a thread has to take victims.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        // Relaxed: the thread that has let an item go sees that itself, and takes the victim
        // afterwards.
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

    /// Reports a hit of an entry; returns whether the entry is a member (S3). For a new entry the
    /// answer is no, without the lock: most likely its object is new, too, and [`join`](Self::join)
    /// looks whether it is.
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

    /// Keeps an item for an entry, or [reports](Self::tell) a hit if the object is a member. Gives
    /// the item back if the entry is unlinked (S2). An item without a weight is refused. Also
    /// returns whether there is a victim.
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
                        // The item would be too heavy again in this round.
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

    /// The same, with room for an object that may be absent.
    pub(crate) fn with_room<R>(&self, addr: usize, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.ring.with_room(
            |ring, room| ring.make_room_for(addr, room),
            |ring, _| self.publish(ring, run),
        )
    }

    /// Sets another limit. The members beyond it are [victims](Ring::next_to_go).
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
            // Relaxed: S3 asks for no more, since the store is under the lock.
            self.round.0.store(now, Relaxed);
        }
        result
    }
}

/// The known weight, or the weight that user code says now: `None` if that panics. The caller
/// resumes the panic after it has told the ring.
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

/// A listener: a closure that hears of each eviction. `F` is its unsized type.
pub(crate) struct Listener<F: ?Sized> {
    hears: Mutex<Option<Arc<F>>>,
    /// Whether there is a closure. Changes under the lock.
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
        // Relaxed: the lock orders the reads of the closure.
        self.is_set.store(listener.is_some(), Relaxed);
        let old = mem::replace(&mut *hears, listener);
        drop(hears);
        drop(old);
    }

    /// Whether there is a closure.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Relaxed: a thread that has to call the closure has seen that it was set.
        self.is_set.load(Relaxed)
    }

    /// The closure, which is called under no lock.
    pub(crate) fn get(&self) -> Option<Arc<F>> {
        // Most rings have no listener, and take no lock here.
        self.is_set().then(|| self.hears.lock().clone())?
    }
}

#[cfg(all(test, weakly_loom))]
mod models;
