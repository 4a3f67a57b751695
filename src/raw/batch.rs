//! Batches: a thread gathers the objects that it has unlinked, and reads the participants once for
//! all of them ([`domain`](super::domain)).
//!
//! * **D7** Reading the participants loads a cache line of each thread. So where many threads
//!   have used a table, each thread gathers the objects that it has unlinked in the *bag* of its
//!   participant, behind a lock, and reads the participants once for a *batch*. A thread that
//!   empties a bag takes the batch out of the bag, makes a barrier, and then reads the
//!   participants, as in D1. The lock of the bag orders the unlinking by other threads before that
//!   barrier. So any thread may empty any bag, also a thread that never enters. Whether a thread
//!   gathers is a hint: both ways are sound, at any time. A thread that does not gather reads the
//!   participants each time, after the barrier of leaving, and empties its bag as well. An unlinked
//!   array ends its batch at once, because a bag may wait long, and must not keep megabytes. No bag
//!   waits for a particular thread, or for a further unlinking: each thread that makes changes
//!   looks at all bags in turn, its own included.
//! * **D8** Once a table is *prompt*, no thread leaves an object in its bag, because an object in a
//!   bag wakes no task. The thread that makes the table prompt sets the flag, makes a barrier, and
//!   looks at all bags under their locks. A gathering thread puts its objects into its bag, and
//!   then reads the flag. If the gathering thread locks its bag after the prompt thread locked it,
//!   the gathering thread reads the flag as set. If the prompt thread did not find the bag at all,
//!   the gathering thread reads the flag as set too, because it made a barrier when it made the
//!   bag, and that barrier came after the barrier of the prompt thread. Otherwise the prompt thread
//!   finds the objects in the bag.

use core::iter;
use std::vec::Vec;

use super::bag::{Bag, ROOM};
use super::domain::Domain;
use super::participants::Participant;
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::barrier;
use crate::thread::ThreadNumber;

/// From this number of threads on, threads gather.
pub(super) const CROWD: usize = 8;

impl Domain {
    /// Returns the number of counted entries in the deferred list and in bags.
    pub(super) fn waiting(&self) -> usize {
        self.rest().map_or(0, |rest| rest.deferred.entries()) + self.bagged()
    }

    /// Returns the number of counted entries in bags.
    pub(super) fn bagged(&self) -> usize {
        let mut bagged = 0;
        self.bags(|bag| bagged += bag.entries());
        bagged
    }

    /// Passes all bags to `look`.
    pub(super) fn bags(&self, mut look: impl FnMut(&Bag)) {
        self.participants
            .each(|participant| _ = participant.bag().map(&mut look));
    }

    /// D8: makes the table prompt: from now on no thread gathers.
    pub(super) fn be_prompt(&self) {
        // Relaxed, and a barrier: with `make_bag`. A thread whose bag the caller does not find then
        // sees this store.
        if !self.is_prompt() {
            self.prompt.store(true, Relaxed);
        }
        barrier();
    }

    #[inline]
    fn is_prompt(&self) -> bool {
        // Relaxed: see `be_prompt` and `gather`.
        self.prompt.load(Relaxed)
    }

    /// D7: returns whether threads gather. A hint.
    #[inline]
    pub(super) fn gathers(&self) -> bool {
        self.is_crowded(CROWD)
    }

    /// Returns whether the table has at least `threads` participants, and is not prompt (D8). A
    /// hint: a wrong answer is sound (D7).
    #[inline]
    pub(super) fn is_crowded(&self, threads: usize) -> bool {
        self.participants.included() >= threads && !self.is_prompt()
    }

    /// D7: puts the objects unlinked by the calling thread into the bag of the thread. A full bag
    /// is emptied: the objects are destroyed if no thread inside may look at them, and deferred
    /// otherwise. `inside`: the number of the calling thread, if the thread is inside.
    #[inline(never)]
    pub(super) fn gather(
        &self,
        participant: &Participant,
        all: impl Iterator<Item = Retired>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        let bag = participant.bag_or_new();
        for object in all {
            match bag.put(object) {
                Ok(len) if len < ROOM => {}
                Ok(_) => self.empty(bag, inside, panics),
                // The bag is still full, because an allocation failed.
                Err(object) => self.end_batch(iter::once(object), inside, panics),
            }
        }
        // D8: after the put. The lock of the bag decides whether the put or the prompt thread's
        // look at the bag comes first.
        if self.is_prompt() {
            self.empty(bag, inside, panics);
        }
    }

    /// D7: empties the bag of the calling thread, which no longer gathers.
    #[inline]
    pub(super) fn empty_own(
        &self,
        participant: &Participant,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        if let Some(bag) = participant.bag().filter(|bag| !bag.is_empty()) {
            self.empty(bag, inside, panics);
        }
    }

    /// D7: empties a bag, and destroys or defers its objects.
    #[cold]
    #[inline(never)]
    pub(super) fn empty(&self, bag: &Bag, inside: Option<usize>, panics: &mut FirstPanic) {
        let mut taken = Vec::new();
        bag.take(usize::MAX, &mut taken);
        if !taken.is_empty() {
            self.end_batch(taken.into_iter(), inside, panics);
        }
    }

    /// D7: makes one barrier and one look for all objects of the batch, whichever threads have
    /// unlinked them before.
    #[inline(never)]
    fn end_batch(
        &self,
        all: impl Iterator<Item = Retired>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        barrier();
        if inside.is_none() && self.is_unseen() {
            self.destroy(all, panics);
        } else {
            self.to_deferred(all.collect(), inside, panics);
        }
    }

    /// Empties the bag of the calling thread or, with `of_all`, the bags of all threads, until
    /// `most` counted entries are taken, and destroys or defers the objects. Returns how many
    /// counted entries were taken.
    pub(super) fn empty_bags(&self, of_all: bool, most: usize, panics: &mut FirstPanic) -> usize {
        let (mut taken, mut entries) = (Vec::new(), 0);
        let mut take = |bag: &Bag| {
            if entries < most {
                let before = taken.len();
                bag.take(most - entries, &mut taken);
                let more = taken.iter().skip(before);
                entries += more.filter(|object| object.is_counted()).count();
            }
        };
        if of_all {
            self.bags(take);
        } else if self.participants.included() != 0 {
            let own = self.participants.find(ThreadNumber::current().get());
            _ = own.and_then(Participant::bag).map(&mut take);
        }
        if !taken.is_empty() {
            self.end_batch(taken.into_iter(), self.own_number_if_inside(), panics);
        }
        entries
    }

    /// D7: returns bag `nth` from the thread's own on, if the bag is idle: objects are there, and
    /// none was added since the last look of any thread. (The calling thread may have the number of
    /// an ended thread, and unlink nothing more; so its own bag is among them.)
    pub(super) fn next_idle_bag(&self, nth: usize) -> Option<&Bag> {
        let number = ThreadNumber::current();
        let at = nth.wrapping_add(number.get()) % self.participants.included().max(1);
        let bag = self.participants.nth(at)?.bag();
        bag.filter(|bag| bag.look_if_idle())
    }
}
