//! The guards of threads that are inside a table ([`domain`](super::domain)).

use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use std::alloc::handle_alloc_error;
use std::boxed::Box;
use std::vec::Vec;

use super::deferred::NOBODY;
use super::domain::{Domain, NTH};
use super::participants::{Participant, Tally};
use super::rest::MakeRest;
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::ptr::{Token, Wakes};
use crate::sync::Ordering::*;
use crate::thread::ThreadNumber;

impl Domain {
    /// Enters the table: begins a visit of the calling thread, or goes deeper in its visit.
    #[inline(always)]
    pub(super) fn enter(&self, make: MakeRest) -> Inside<'_> {
        let number = ThreadNumber::current();
        let participant = self.participant(number.get(), make);
        self.enter_as(participant, number)
    }

    /// Enters as [`enter`](Self::enter) does. `participant` is the thread's.
    #[inline(always)]
    pub(super) fn enter_as<'d>(
        &'d self,
        participant: &'d Participant,
        number: ThreadNumber,
    ) -> Inside<'d> {
        let depth = participant.depth.get();
        if depth == 0 {
            participant.sit_down();
        } else {
            participant.depth.set(depth + 1);
        }
        Inside::new(self, participant, number)
    }

    /// D1, after a barrier of a thread that has a participant: returns whether no other thread has
    /// one. (A thread counts itself before its barrier of entering.)
    #[inline(always)]
    pub(super) fn is_of_one(&self) -> bool {
        self.participants.included() == 1
    }

    /// D1, after the participant's thread has entered: returns whether the thread is alone inside,
    /// with a single guard.
    #[inline(always)]
    pub(super) fn is_alone(&self, participant: &Participant) -> bool {
        participant.depth.get() == 1 && (self.is_of_one() || self.sees_nobody())
    }

    /// Returns whether the visit of the calling thread is the only one.
    #[inline(never)]
    fn sees_nobody(&self) -> bool {
        let mut seen = 0;
        self.visits(|_| seen += 1);
        seen == 1
    }

    /// D3, after the thread with this number has left: returns whether it has to look at the
    /// deferred list.
    #[inline]
    pub(super) fn must_look(&self, number: usize) -> bool {
        // Relaxed: the deferred list is read under the lock.
        let named = self.named.load(Relaxed);
        named != NOBODY && self.is_due(named, number)
    }
}

/// A thread that is inside.
pub(super) struct Inside<'d> {
    domain: &'d Domain,
    pub(super) participant: &'d Participant,
    /// Dropped after all other fields: a borrowed number is given back then.
    number: ThreadNumber,
}

impl<'d> Inside<'d> {
    /// The participant of the thread [sits down](Participant::sit_down) before or after.
    #[inline(always)]
    pub(super) fn new(
        domain: &'d Domain,
        participant: &'d Participant,
        number: ThreadNumber,
    ) -> Self {
        Inside {
            domain,
            participant,
            number,
        }
    }

    /// Counts inserted entries or, if `by` is negative, removed entries. `counted`: whether the
    /// table [counts](super::Entry::is_counted) the entries.
    #[inline]
    pub(super) fn count(&self, counted: bool, by: isize) {
        let participant = self.participant;
        let entries = if counted {
            &participant.entries
        } else {
            &participant.others
        };
        // Relaxed: D4: only the calling thread writes the word. A sum of the counts is a moment's
        // answer.
        let now = entries.load(Relaxed).wrapping_add_signed(by);
        entries.store(now, Relaxed);
    }

    /// Counts registrations.
    #[inline]
    pub(super) fn count_registered(&self, more: usize) {
        let registered = &self.participant.registered;
        registered.set(registered.get().wrapping_add(more));
    }

    /// Leaves: from here on the thread may not look at any object of the table. Returns whether the
    /// thread is outside now. `barrier`: whether the thread reads the participants next, for
    /// objects unlinked by the thread (D1).
    #[inline]
    pub(super) fn leave(&self, barrier: bool) -> bool {
        self.participant.leave(barrier)
    }

    /// D3, after `leave`: returns whether the thread has to look at the deferred list.
    #[inline]
    pub(super) fn must_look(&self) -> bool {
        self.domain.must_look(self.number.get())
    }
}

/// A guard for reading.
pub(super) struct Reading<'d>(Inside<'d>);

impl<'d> Reading<'d> {
    #[inline]
    pub(super) fn new(domain: &'d Domain, make: MakeRest) -> Self {
        Reading(domain.enter(make))
    }
}

impl Reading<'_> {
    #[inline(always)]
    pub(super) fn tally(&self, tally: Tally) {
        self.0.participant.tally(tally);
    }

    /// Counts a read, and returns whether the read is the n-th read, which does extra work.
    #[inline]
    pub(super) fn is_nth(&self) -> bool {
        let reads = &self.0.participant.reads;
        let now = reads.get().wrapping_add(1);
        reads.set(now);
        now % NTH == 0
    }
}

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.leave(false) && self.0.must_look() {
            self.0.domain.look_back();
        }
    }
}

/// A guard for changing the table. After leaving, the thread retires the entries that it has
/// unlinked.
pub(super) struct Writing<'d> {
    inside: Inside<'d>,
    /// D7: whether the thread gathers. `None` until the thread is about to unlink an object.
    gathers: Cell<Option<bool>>,
    /// Whether the thread has unlinked an object during its visit.
    unlinked: Cell<bool>,
    /// Whether the thread destroys nothing when it leaves.
    quiet: Cell<bool>,
    first: Cell<Option<Retired>>,
    more: Cell<Vec<Retired>>,
    /// The wake-ups owed by closed tokens. `None` until the thread closes a token.
    wakes: Cell<Option<Box<Wakes>>>,
    here: PhantomData<*mut ()>,
}

impl<'d> Writing<'d> {
    #[inline]
    pub(super) fn new(domain: &'d Domain, make: MakeRest) -> Self {
        Writing {
            inside: domain.enter(make),
            gathers: Cell::new(None),
            unlinked: Cell::new(false),
            quiet: Cell::new(false),
            first: Cell::new(None),
            more: Cell::new(Vec::new()),
            wakes: Cell::new(None),
            here: PhantomData,
        }
    }
}

impl Writing<'_> {
    #[inline]
    pub(super) fn count(&self, counted: bool, by: isize) {
        self.inside.count(counted, by);
    }

    /// Counts registrations.
    #[inline]
    pub(super) fn count_registered(&self, more: usize) {
        self.inside.count_registered(more);
    }

    /// Makes room to retire `count` more objects, before they are unlinked: then `retire` allocates
    /// nothing. (If an allocation fails and unwinds, an unlinked object that is not retired would
    /// be lost.)
    #[inline]
    pub(super) fn make_room_to_retire(&self, count: usize) {
        if self.gathers.get().is_none() {
            self.begin_batch();
        }
        let first = self.first.take();
        let is_room = first.is_none() && count == 1;
        self.first.set(first);
        if !is_room {
            self.make_room_behind(count);
        }
    }

    /// D7: decides whether the thread gathers. If the thread gathers, its bag is made here.
    #[inline]
    fn begin_batch(&self) {
        let gathers = self.inside.domain.gathers();
        if gathers {
            self.inside.participant.bag_or_new();
        }
        self.gathers.set(Some(gathers));
    }

    /// Makes room for `count` objects beside the first.
    #[cold]
    fn make_room_behind(&self, count: usize) {
        let mut more = self.more.take();
        let made = more.try_reserve(count);
        self.more.set(more);
        if made.is_err() {
            handle_alloc_error(Layout::new::<Retired>());
        }
    }

    /// Closes a token. The wakers are called when the thread has left.
    #[cold]
    #[inline(never)]
    pub(super) fn close(&self, token: Token) {
        let mut wakes = (self.wakes.take()).unwrap_or_else(|| Box::new(Wakes::NONE));
        token.close(&mut wakes);
        self.wakes.set(Some(wakes));
    }

    /// Takes an object that the calling thread alone has unlinked.
    #[inline]
    pub(super) fn retire(&self, retired: Retired) {
        self.unlinked.set(true);
        self.add(retired);
    }

    /// Takes an unlinked object that is too large to wait in a bag.
    #[inline]
    pub(super) fn retire_large(&self, retired: Retired) {
        self.retire(retired);
        self.gather_nothing();
    }

    /// D7: lets none of the unlinked objects wait in the bag of the thread.
    pub(super) fn gather_nothing(&self) {
        self.gathers.set(Some(false));
    }

    /// D3, D5: lets the thread leave without destroying anything. What the thread has unlinked, and
    /// what waits for the thread, is destroyed at the end of a later visit of any thread.
    #[inline]
    pub(super) fn leave_quietly(&self) {
        self.quiet.set(true);
    }

    /// Keeps an unlinked object until the thread leaves: the first object in `first`, without an
    /// allocation, further objects in `more`.
    #[inline]
    fn add(&self, retired: Retired) {
        self.make_room_to_retire(1);
        match self.first.take() {
            None => self.first.set(Some(retired)),
            Some(first) => {
                self.first.set(Some(first));
                let mut more = self.more.take();
                more.push(retired);
                self.more.set(more);
            }
        }
    }
}

impl Drop for Writing<'_> {
    #[inline]
    fn drop(&mut self) {
        let (first, quiet) = (self.first.take(), self.quiet.get());
        if quiet {
            // Deeper by one: the thread first leaves as from an inner operation, which destroys
            // nothing.
            let depth = &self.inside.participant.depth;
            depth.set(depth.get() + 1);
        }
        let gathers = self.gathers.get() == Some(true);
        let out = self.inside.leave(self.unlinked.get() && !gathers);
        let mut panics = FirstPanic::default();
        // First the deferred list: destroying the thread's own objects may take long, or may wait
        // for a deferred object that waits for the thread.
        if out && self.inside.must_look() {
            panics.catch(|| self.inside.domain.look_back());
        }
        if let Some(first) = first {
            let all = core::iter::once(first).chain(self.more.take());
            let domain = self.inside.domain;
            let inside = (!out).then(|| self.inside.number.get());
            let participant = self.inside.participant;
            if gathers {
                domain.gather(participant, all, inside, &mut panics);
            } else {
                // D2, after the barrier of leaving or of entering.
                if out && domain.is_unseen() {
                    domain.destroy(all, &mut panics);
                } else {
                    domain.to_deferred(all.collect(), inside, &mut panics);
                }
                domain.empty_own(participant, inside, &mut panics);
            }
        }
        if quiet {
            self.inside.leave(false);
        }
        if let Some(wakes) = self.wakes.take() {
            panics.catch(|| drop(wakes));
        }
        panics.resume();
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests;
