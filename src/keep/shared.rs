//! A ring behind a lock, and the notes by which entries of collections avoid the lock.
//!
//! * **S1** Under the lock, no user code runs, and nothing is destroyed.
//! * **S2** Each entry has a [`Stamp`]. The stamp changes under the lock, with one exception: the
//!   thread that unlinks the entry [ends](Stamp::end) the stamp without the lock. Each change is a
//!   read-modify-write. So one of two things happens first. Either the entry is reported to the
//!   ring, and then the unlinking thread takes it out of the ring. Or the stamp ends, and then the
//!   entry is not reported any more.
//! * **S3** If the stamp of an entry has the number of this round, the entry was reported in this
//!   round, and is a member (Q3 of [`ring`](super::ring)), or the limit has refused the entry. So a
//!   hit that finds the present number reports nothing. The number is published under the lock.

use core::mem;
use std::sync::Arc;

use super::limit::Limit;
use super::ring::{Outcome, Ring, Room, RoomSize, Told};
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicU16, AtomicU32, Exclusive, Mutex};

/// The ring does not know the entry.
const NEVER: u16 = 0;
/// The ring knows the entry, and no hit was reported.
const UNTOLD: u16 = u16::MAX - 1;
/// The entry is unlinked.
const ENDED: u16 = u16::MAX;

/// The note of an entry about its ring: whether the ring knows the entry, and in which round the
/// entry reported a hit.
pub(crate) struct Stamp(AtomicU16);

impl Stamp {
    #[inline]
    pub(crate) fn new() -> Self {
        Stamp(AtomicU16::new(NEVER))
    }

    /// Notes a report in the round `told`. Without a round, notes only that the ring knows the
    /// entry. Returns false if the entry is unlinked. The caller holds the lock of the ring.
    pub(crate) fn set(&self, told: Option<u16>) -> bool {
        let new = told.unwrap_or(UNTOLD);
        let mut now = NEVER;
        loop {
            // Relaxed, also below: the lock orders everything that depends on the stamp, and the
            // changes of one stamp have one order.
            match self.0.compare_exchange(now, new, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(ENDED) => return false,
                Err(other) => now = other,
            }
        }
    }

    /// Returns whether the entry was never reported to the ring.
    pub(crate) fn is_new(&self) -> bool {
        self.0.load(Relaxed) == NEVER
    }

    /// Ends the stamp of an entry that was just unlinked. Returns whether the ring may know the
    /// entry: then the caller must take the entry out of the ring.
    pub(crate) fn end(&self) -> bool {
        !matches!(self.0.swap(ENDED, Relaxed), NEVER | ENDED)
    }

    /// Returns whether the ring may have known the entry, or a removal has unlinked the entry.
    pub(crate) fn was_known(&self) -> bool {
        self.0.load(Relaxed) != NEVER
    }
}

/// The words that each hit reads, on a cache line of their own.
#[repr(align(128))]
pub(crate) struct Round(AtomicU32);

/// Set while there is a victim that no thread has taken yet.
const LEAVING: u32 = 1 << 16;

impl Round {
    /// Returns whether a hit of the entry has to be reported.
    #[inline]
    pub(crate) fn needs_admission(&self, stamp: &Stamp) -> bool {
        // Relaxed, both: a thread that misses a new round reports the next hit.
        self.0.load(Relaxed) as u16 != stamp.0.load(Relaxed)
    }

    /// Returns whether there are victims to take.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        // Relaxed: the thread that makes an item leave reads its own store, and takes the victim
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

    /// Reports a hit of an entry; returns whether the entry is a member (S3). Returns false without
    /// the lock for a new entry: its object is most likely new, too, and [`join`](Self::join) finds
    /// out.
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

    /// Keeps an item for an entry, or [reports](Self::tell) a hit if the object is a member
    /// already. Returns the item if the entry is unlinked (S2). Also returns whether there is a
    /// victim.
    pub(crate) fn join(
        &self,
        addr: usize,
        weight: usize,
        what: X,
        stamp: &Stamp,
    ) -> (Outcome<X>, bool) {
        self.with_room(addr, |ring| {
            let outcome = if stamp.set(None) {
                match ring.tell_or_keep(addr, Some(weight), what) {
                    Told::Yes(what) => {
                        stamp.set(Some(ring.tell_round()));
                        Outcome::Already(what)
                    }
                    Told::No(refused @ Outcome::Refused(_)) => {
                        // In this round, the item would be refused again.
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

    /// Runs a closure under the lock (S1). Afterwards, the ring shrinks if it is sparse.
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        let mut ring = self.ring.lock();
        let result = self.publish(&mut ring, run);
        let sparse = ring.sparse();
        drop(ring);
        self.shrink(sparse);
        result
    }

    /// Frees the memory that the present items do not need.
    pub(crate) fn shrink_to_fit(&self) {
        let fitting = self.ring.lock().fitting();
        self.shrink(fitting);
    }

    #[inline]
    fn shrink(&self, size: Option<RoomSize>) {
        if let Some(mut room) = size.and_then(Room::try_allocate) {
            self.ring.lock().move_into(&mut room);
        }
    }

    /// Runs a closure under the lock, with room for an object that may be absent.
    pub(crate) fn with_room<R>(&self, addr: usize, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.ring.with_room(
            |ring, room| ring.make_room_for(addr, room),
            |ring, _| self.publish(ring, run),
        )
    }

    /// Sets another limit. The members beyond the limit become [victims](Ring::next_to_go).
    pub(crate) fn set_limit(&self, limit: Limit) {
        self.ring.with_room(
            |ring, room| self.publish(ring, |ring| ring.set_limit(limit, room)),
            |_, _| (),
        );
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
            // Relaxed: the store is under the lock, and S3 needs no more.
            self.round.0.store(now, Relaxed);
        }
        result
    }
}

/// Returns the known weight, or else calls the user's `weigh`; `None` if the call panics. The
/// caller resumes the panic after telling the ring.
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

/// A listener: a closure that is called for each eviction. `F` is the unsized type of the closure.
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

    /// Returns whether there is a closure.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Relaxed: a thread that must call the closure has seen the call of `set` already.
        self.is_set.load(Relaxed)
    }

    /// Returns the closure, which is called under no lock.
    pub(crate) fn get(&self) -> Option<Arc<F>> {
        // Most rings have no listener: then the lock is not taken here.
        self.is_set().then(|| self.hears.lock().clone())?
    }
}

#[cfg(all(test, weakly_loom))]
mod models;
