//! Batches: a thread gathers the objects that it has unlinked, and looks once for all of them which
//! threads are inside ([`domain`](super::domain)).
//!
//! * **D7** To look who is inside reads a line of each thread. So where several threads have used a
//!   table, each gathers what it has unlinked in the *bag* of its participant, behind a lock, and
//!   looks once for a *batch*: it takes the batch out of the bag, makes a barrier, and then reads
//!   the participants, as in D1. The lock orders what other threads have unlinked before that
//!   barrier, so whoever takes a bag may look for it: a thread that is never inside, too. How many
//!   a thread gathers is a hint: any number is sound, at any time. A thread that is told to gather
//!   one looks each time, by the barrier of leaving, and takes what is left in its bag. An array
//!   makes its batch at once: a bag may wait long, and shall not keep megabytes. No bag waits for a
//!   certain thread: each thread that makes changes looks at the bags of others, one after the
//!   other.
//! * **D8** Once a table is *prompt*, no thread leaves anything in its bag: what waits there wakes
//!   no task. Who makes it prompt says so, makes a barrier, and looks at all bags, under their
//!   locks. A thread that gathers puts what it has unlinked into its bag, and then asks whether the
//!   table is prompt. If its section comes after the other's, it knows that it is; and if the other
//!   has not found the bag at all, since the barrier of the thread that has made the bag came after
//!   the other's.

use core::iter;
use std::vec::Vec;

use super::bag::{Bag, ROOM};
use super::domain::Domain;
use super::participants::{Participant, Seen};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::barrier;
use crate::thread::ThreadNumber;

/// How many objects a thread gathers at least, if it gathers and the table is not small. The
/// allocator keeps so many freed blocks for the next allocations of the same thread; to destroy 64
/// at once cost 20 ns for each.
const FEWEST: usize = 8;
/// How many objects with destructors of users a thread gathers, at most.
const MOST_WITH_DESTRUCTORS: usize = 16;

impl<C: Default> Domain<C> {
    /// The number of entries deferred, and in bags.
    pub(super) fn waiting(&self) -> usize {
        self.rest().map_or(0, |rest| rest.deferred.entries()) + self.bagged()
    }

    /// The number of entries in bags.
    pub(super) fn bagged(&self) -> usize {
        let mut bagged = 0;
        self.bags(|bag| bagged += bag.entries());
        bagged
    }

    /// Shows all bags.
    pub(super) fn bags(&self, mut look: impl FnMut(&Bag<C>)) {
        self.participants
            .each(|participant| _ = participant.bag().map(&mut look));
    }

    /// Sets how many objects a thread may gather, as far as the size of the table goes.
    pub(super) fn set_room(&self, room: usize) {
        // Relaxed: a hint.
        self.room.store(room.min(ROOM) as u16, Relaxed);
    }

    /// D8: from now on no thread gathers.
    pub(super) fn be_prompt(&self) {
        // Relaxed, and a barrier: with `make_bag`. A thread whose bag the caller does not find then
        // sees this.
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

    /// D7: how many objects a thread gathers before it looks: with one, it looks each time. A hint.
    #[inline]
    pub(super) fn batch(&self) -> usize {
        match self.participants.included() {
            0 | 1 => 1,
            included => self.batch_of(included),
        }
    }

    #[inline(never)]
    fn batch_of(&self, included: usize) -> usize {
        let most = match self.has_destructors {
            _ if self.is_prompt() => 1,
            true => (included / 4).clamp(1, MOST_WITH_DESTRUCTORS),
            false => (2 * included).max(FEWEST),
        };
        // Relaxed: a hint.
        most.min(self.room.load(Relaxed).into()).min(ROOM)
    }

    /// D7: puts what this thread has unlinked into its bag. Once there are `batch`, they are
    /// destroyed, if no thread is inside that may look at them; otherwise they are deferred.
    /// `inside`: this thread's number, if it is inside.
    #[inline(never)]
    pub(super) fn gather(
        &self,
        participant: &Participant<C>,
        all: impl Iterator<Item = Retired<C>>,
        batch: usize,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        let bag = participant.bag_or_new();
        for object in all {
            match bag.put(object) {
                Ok(len) if len < batch => {}
                Ok(_) => self.empty(bag, inside, panics),
                // It was not emptied, for want of memory.
                Err(object) => self.end_batch(iter::once(object), inside, panics),
            }
        }
        // D8: after the put. The lock of the bag shows whether it comes before a look at the bag.
        if self.is_prompt() {
            self.empty(bag, inside, panics);
        }
    }

    /// D7: takes what is in the bag of this thread, which gathers no more.
    #[inline]
    pub(super) fn empty_own(
        &self,
        participant: &Participant<C>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        if let Some(bag) = participant.bag().filter(|bag| !bag.is_empty()) {
            self.empty(bag, inside, panics);
        }
    }

    /// D7: takes what is in a bag, and looks whether a thread is inside that may look at it.
    #[cold]
    #[inline(never)]
    fn empty(&self, bag: &Bag<C>, inside: Option<usize>, panics: &mut FirstPanic) {
        let mut taken = Vec::new();
        bag.take(usize::MAX, &mut taken);
        if !taken.is_empty() {
            self.end_batch(taken.into_iter(), inside, panics);
        }
    }

    /// D7: one barrier and one look for all that was unlinked before, by whatever threads.
    #[inline(never)]
    fn end_batch(
        &self,
        all: impl Iterator<Item = Retired<C>>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        barrier();
        if inside.is_none() && self.is_unseen() {
            self.destroy(all, panics);
        } else {
            self.to_deferred(all, inside, panics);
        }
    }

    /// Takes what is in the bag of this thread or, with `of_all`, in the bags of all threads, until
    /// `most` entries are taken, and destroys or defers it. Returns how many entries that were.
    pub(super) fn empty_bags(&self, of_all: bool, most: usize, panics: &mut FirstPanic) -> usize {
        let (mut taken, mut entries) = (Vec::new(), 0);
        let mut take = |bag: &Bag<C>| {
            if entries < most {
                let before = taken.len();
                bag.take(most - entries, &mut taken);
                let more = taken.iter().skip(before);
                entries += more.filter(|object| object.is_counted()).count();
            }
        };
        if of_all {
            self.bags(take);
        } else {
            let own = self.participants.find(ThreadNumber::current().get());
            _ = own.and_then(Participant::bag).map(&mut take);
        }
        if !taken.is_empty() {
            self.end_batch(taken.into_iter(), self.own_number_if_inside(), panics);
        }
        entries
    }

    /// D7: looks at the next bag, of whatever thread. Returns the number of its thread, if
    /// something has been there since this thread looked last, and its own thread has put nothing
    /// more there.
    pub(super) fn next_idle_bag(&self) -> Option<usize> {
        let number = ThreadNumber::current();
        let own = self.participant(number.get());
        let found = own.next_bag.look(self.participants.slots(), |at| {
            let Some(other) = self.participants.in_slot(at) else {
                return Seen::Absent;
            };
            match other.bag() {
                _ if other.number == number.get() => Seen::Absent,
                None => Seen::Bare,
                Some(bag) if bag.is_empty() => Seen::Nothing,
                Some(bag) => Seen::Some(bag.puts()),
            }
        });
        found.and_then(|at| Some(self.participants.in_slot(at)?.number))
    }

    /// D7: looks at the next of `lists`, likewise. If `most` wait in a list, it is returned also if
    /// more come, and this thread [stays](Participant::stays_at) there.
    pub(super) fn next_slow_list(
        &self,
        lists: usize,
        most: usize,
        progress: impl Fn(usize) -> (usize, usize),
    ) -> Option<usize> {
        let number = ThreadNumber::current();
        let own = self.participant(number.get());
        let mut is_full = false;
        let found = own.next_list.look(lists, |at| match progress(at) {
            (0, _) => Seen::Nothing,
            (waiting, _) if waiting >= most => {
                is_full = true;
                Seen::Full
            }
            (_, now) => Seen::Some(now),
        });
        own.stays_at
            .set(found.filter(|_| is_full).map(|at| at as u8));
        found
    }

    /// D7: takes what is in the bag of a participant, and destroys or defers it.
    #[cold]
    #[inline(never)]
    pub(super) fn empty_bag_of(&self, number: usize) {
        let mut panics = FirstPanic::default();
        if let Some(bag) = self.participants.find(number).and_then(Participant::bag) {
            self.empty(bag, self.own_number_if_inside(), &mut panics);
        }
        panics.resume();
    }

    /// D7: whether one thread at most has used the table. A hint.
    #[inline]
    pub(super) fn is_of_one(&self) -> bool {
        self.participants.included() <= 1
    }

    /// Begins a change of this thread: returns its number among those of the thread, modulo 2^n.
    #[inline]
    pub(super) fn begin_change(&self) -> usize {
        let number = ThreadNumber::current();
        self.participant(number.get()).count_change()
    }

    /// See [`Participant::stays_at`].
    pub(super) fn stays_at(&self) -> Option<usize> {
        let number = ThreadNumber::current();
        self.participant(number.get())
            .stays_at
            .get()
            .map(usize::from)
    }
}
