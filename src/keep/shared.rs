//! A ring behind a lock, and the word by which an entry of a collection avoids the lock.
//!
//! An entry has one state, its [`Membership`], in one word of its node:
//!
//! | state | the ring's item of the entry | the next state |
//! |---|---|---|
//! | `NEW` | none: the ring was never told of the entry | any |
//! | `KNOWN` | a member; a leaving item; none, after an eviction or a refusal | a round, `ENDED` |
//! | a round | a member while the round lasts; none, after a refusal | a round, `KNOWN`, `ENDED` |
//! | `ENDED` and a removal cause | none, unless the cause is a death | none |
//! | `UNTOLD` | none: the entry died before the ring was told | `ENDED` by a death |
//! | `EARLY` | none: the entry was unlinked when there was no ring | none |
//!
//! | transition | by |
//! |---|---|
//! | to `KNOWN` | a thread that puts the entry into the ring, under the lock |
//! | to a round | a thread that reports a hit or a refusal, under the lock |
//! | to `ENDED` | the thread that has unlinked the entry, without the lock |
//! | to `ENDED` by a death, to `UNTOLD` | a drain of a table that keeps dead entries |
//! | from `UNTOLD` to `ENDED` | a thread that tells the ring of the dead entry, under the lock |
//! | to `EARLY`, to `UNTOLD` | the thread that has unlinked the entry, if it sees no ring |
//!
//! A death unlinks an entry without a change of the state: an entry that is destroyed before its
//! state is `ENDED` has died. The item of a dead entry leaves the ring when the entry is destroyed,
//! since a dead entry counts until then. All other items leave the ring right after the state is
//! `ENDED`.
//!
//! * **S1** Under the lock, no user code runs, and nothing is destroyed.
//! * **S2** Each change of the state is a read-modify-write, and nothing follows `ENDED`. So one of
//!   two things happens first. Either the ring is told of the entry, and then the unlinking thread
//!   takes the item out of the ring. Or the state is `ENDED`, and then the ring is not told of the
//!   entry any more.
//! * **S3** If the state of an entry is this round, the entry was reported in this round, and is a
//!   member (Q3 of [`ring`](super::ring)), or the limit has refused the entry. So a hit that finds
//!   the present round reports nothing. The number of the round is published under the lock.
//! * **S4** A thread that has taken a victim of a ceiling, and has found an entry at the victim's
//!   address, asks whether the entry [is evicted](SharedRing::is_evicted): whether the ring knows
//!   the entry, and has no item at its address. A victim that was found again has an item. Another
//!   entry that has got the victim's memory is `NEW`, or has an item, or was evicted, too:
//!   the ring's item of an entry leaves the ring before the entry's memory is freed.

use core::mem;
use std::sync::Arc;

use super::limit::{Gone, Limit};
use super::ring::{LAST_ROUND, Outcome, Ring, Victim, allocate};
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Mutex};

const NEW: u16 = 0;
/// The first state after the rounds (see `LAST_ROUND` in [`ring`](super::ring)).
const KNOWN: u16 = ENDED - 1;
/// The first of the states of unlinked entries, which are as many as there are causes.
const ENDED: u16 = u16::MAX - 15;
const UNTOLD: u16 = u16::MAX;
const EARLY: u16 = UNTOLD - 1;
const _: () = assert!(LAST_ROUND < KNOWN);
const CAUSES: [Gone; 5] = [
    Gone::Died,
    Gone::Removed,
    Gone::Entries,
    Gone::Weight,
    Gone::Generation,
];

/// The state of an entry of a collection that may have a floor or a ceiling: see the head of the
/// file.
pub(crate) struct Membership(AtomicU16);

impl Membership {
    #[inline]
    pub(crate) fn new() -> Self {
        Membership(AtomicU16::new(NEW))
    }

    // Relaxed, but for `set` and `end`: the lock orders the work that depends on the states before
    // `ENDED`, and the changes of one state have one order. A removal cause is read when the entry
    // is destroyed, and the thread that has unlinked the entry has left before that (D1, D2 of
    // `raw`).

    /// Notes that the ring knows the entry, or that a hit was reported in a round. Returns false if
    /// the entry is unlinked; then `UNTOLD` becomes `ENDED`. The caller holds the lock of the ring.
    fn set(&self, new: u16) -> bool {
        let mut now = NEW;
        loop {
            // Release: with `end`: the thread that takes the item out of the ring sees the ring.
            match self.0.compare_exchange(now, new, Release, Relaxed) {
                Ok(_) => return true,
                Err(UNTOLD) => {
                    _ = (self.0).compare_exchange(UNTOLD, ENDED, Relaxed, Relaxed);
                    return false;
                }
                Err(ended) if ended >= ENDED => return false,
                Err(other) => now = other,
            }
        }
    }

    /// Notes a report in this round.
    pub(crate) fn report<X>(&self, ring: &mut Ring<X>) {
        self.set(ring.tell_round());
    }

    fn is_new(&self) -> bool {
        self.0.load(Relaxed) == NEW
    }

    /// Ends the state of an unlinked entry. Returns whether the ring may have an item of the entry:
    /// then the caller must take the item out of the ring.
    pub(crate) fn end(&self, why: Gone) -> bool {
        let cause = CAUSES.iter().position(|cause| *cause == why).unwrap_or(0);
        let known = 1..ENDED;
        // Acquire: with `set`.
        known.contains(&self.0.swap(ENDED + cause as u16, Acquire)) && why != Gone::Died
    }

    /// Ends the state of an entry that the ring was not told of. Returns false if the ring was
    /// told.
    pub(crate) fn end_untold(&self, is_dead: bool) -> bool {
        let ended = if is_dead { UNTOLD } else { EARLY };
        (self.0.compare_exchange(NEW, ended, Relaxed, Relaxed)).is_ok()
    }

    /// Ends the state of an entry that a death has unlinked.
    pub(crate) fn end_dead(&self) {
        if !self.end_untold(true) {
            self.end(Gone::Died);
        }
    }

    /// Returns the removal cause of an entry that is about to be destroyed, if a thread has
    /// unlinked the entry, or the ring knows the entry. The cause is `Died` if no thread has ended
    /// the state: a death has unlinked the entry, or the entry is linked, and its table ends.
    pub(crate) fn cause(&self) -> Option<Gone> {
        match self.0.load(Relaxed) {
            NEW | UNTOLD | EARLY => None,
            ended => Some(CAUSES[usize::from(ended.saturating_sub(ENDED))]),
        }
    }

    /// Returns whether a thread has noted that the entry was dead when it was unlinked.
    #[inline]
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.0.load(Relaxed), ENDED | UNTOLD)
    }
}

/// The words of a ring that each hit reads, on a cache line of their own: the number of the round,
/// and whether there is a victim.
#[repr(align(128))]
pub(crate) struct Published(AtomicU32);

const DUE: u32 = 1 << 16;

impl Published {
    /// Returns whether the ring has to be told of a hit of the entry.
    #[inline]
    pub(crate) fn needs_admission(&self, entry: &Membership) -> bool {
        // Relaxed, both: a thread that misses a new round reports the next hit.
        self.0.load(Relaxed) as u16 != entry.0.load(Relaxed)
    }

    /// Returns whether there is a victim.
    #[inline]
    pub(crate) fn has_victim(&self) -> bool {
        // Relaxed: a thread that makes an item a victim reads its own store, or the store of a
        // thread that has looked at the ring later.
        self.0.load(Relaxed) & DUE != 0
    }
}

/// A ring that threads share.
pub(crate) struct SharedRing<X> {
    ring: Mutex<Ring<X>>,
    published: Arc<Published>,
    /// The number of evicted items.
    evicted: AtomicUsize,
}

/// The number of evicted items of a ring, the weight of its members, and the bytes of its memory.
#[derive(Default)]
pub(crate) struct RingUsage {
    pub(crate) evicted: usize,
    pub(crate) weight: usize,
    pub(crate) bytes: usize,
}

impl<X> SharedRing<X> {
    pub(crate) fn new(limit: Limit) -> Self {
        let ring = Ring::new(limit);
        SharedRing {
            published: Arc::new(Published(AtomicU32::new(ring.round().into()))),
            ring: Mutex::new(ring),
            evicted: AtomicUsize::new(0),
        }
    }

    pub(crate) fn published(&self) -> &Arc<Published> {
        &self.published
    }

    /// Notes a hit or an insertion of an entry, and keeps its item. `refused` gets an item that
    /// does not fit, or, without a weight, the item whose `weigh` has panicked. An item that
    /// `refused` returns is dropped under no lock.
    ///
    /// # Panics
    /// If `weigh` or the drop of an item does, after both.
    pub(crate) fn admit(
        &self,
        addr: usize,
        entry: &Membership,
        weight: Option<usize>,
        (what, weigh): (X, impl FnOnce(&X) -> usize),
        refused: impl FnOnce(&mut Ring<X>, Option<usize>, X) -> Option<X>,
    ) {
        // The object of a new entry is most likely new, too: so the ring is asked only once.
        let reports = |ring: &mut Ring<X>| {
            let is_member = ring.touch(addr);
            is_member.then(|| entry.report(ring)).is_some()
        };
        if !entry.is_new() && self.with(reports) {
            return;
        }
        let (mut weight, mut panics) = (weight, FirstPanic::default());
        if weight.is_none() {
            panics.catch(|| weight = Some(weigh(&what)));
        }
        let left = self.with_room(addr, |ring| {
            if !entry.set(KNOWN) {
                return Some(what);
            }
            match ring.touch_or_join(addr, weight, what) {
                Outcome::Touched(what) => {
                    entry.report(ring);
                    Some(what)
                }
                Outcome::Joined(left) => left,
                Outcome::Refused(what) => refused(ring, weight, what),
            }
        });
        panics.catch(|| drop(left));
        panics.resume();
    }

    /// Whether the entry was evicted, and is not a member again (S4).
    pub(crate) fn is_evicted(&self, addr: usize, entry: &Membership) -> bool {
        self.with(|ring| !entry.is_new() && !ring.has(addr))
    }

    /// Makes the entry of a victim a member again, if it fits. Returns whether it did.
    pub(crate) fn take_back(&self, victim: &Victim<X>, entry: &Membership) -> bool
    where
        X: Copy,
    {
        self.with_room(victim.addr, |ring| {
            entry.set(KNOWN) && ring.take_back(victim)
        })
    }

    /// Counts an evicted item.
    pub(crate) fn count_evicted(&self) {
        // Relaxed: a count.
        self.evicted.fetch_add(1, Relaxed);
    }

    pub(crate) fn usage(&self) -> RingUsage {
        let ring = self.ring.lock();
        RingUsage {
            evicted: self.evicted.load(Relaxed),
            weight: ring.weight(),
            bytes: ring.memory_usage(),
        }
    }

    /// Returns whether there is a victim.
    pub(crate) fn has_victim(&self) -> bool {
        self.published.has_victim()
    }

    /// Takes the next victim, if there is one.
    pub(crate) fn next_victim(&self) -> Option<Victim<X>> {
        self.published
            .has_victim()
            .then(|| self.with(Ring::next_victim))?
    }

    /// Runs a closure under the lock (S1). Afterwards, the ring shrinks if it is sparse.
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        let mut ring = self.ring.lock();
        let result = self.publish(&mut ring, run);
        let sparse = ring.size_if_sparse();
        drop(ring);
        self.shrink(sparse);
        result
    }

    /// Frees the memory that the present items do not need.
    pub(crate) fn shrink_to_fit(&self) {
        let fitting = self.ring.lock().fitting();
        self.shrink(fitting);
    }

    /// Moves the ring into memory for `items` items, which is allocated under no lock.
    #[inline]
    fn shrink(&self, items: Option<usize>) {
        if let Some(mut memory) = items.and_then(allocate) {
            self.ring.lock().move_into(&mut memory);
        }
    }

    /// Runs a closure under the lock, with room for an object that may be absent.
    pub(crate) fn with_room<R>(&self, addr: usize, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        self.ring.with_room(
            |ring, memory| ring.make_room_for(addr, memory),
            |ring, _| self.publish(ring, run),
        )
    }

    /// Sets another limit. The members beyond the limit become [victims](Ring::next_victim).
    pub(crate) fn set_limit(&self, limit: Limit) {
        self.with(|ring| ring.set_limit(limit));
    }

    /// Runs a closure under the lock, which the caller has. Publishes the round, and whether there
    /// is a victim, if the closure has changed them.
    fn publish<R>(&self, ring: &mut Ring<X>, run: impl FnOnce(&mut Ring<X>) -> R) -> R {
        let shown =
            |ring: &Ring<X>| u32::from(ring.round()) | if ring.has_victim() { DUE } else { 0 };
        let before = shown(ring);
        let result = run(ring);
        let now = shown(ring);
        if now != before {
            // Relaxed: the store is under the lock, and S3 needs no more.
            self.published.0.store(now, Relaxed);
        }
        result
    }
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

    /// Sets or removes the closure. The old closure is dropped under no lock.
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
