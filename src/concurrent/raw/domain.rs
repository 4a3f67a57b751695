//! Reclamation: which threads are inside a table, and when what they have unlinked is destroyed.
//!
//! Each thread has a *participant* at each table that it uses, on cache lines of its own. A thread that enters writes
//! the number of this *visit* into its participant; when it leaves, it wipes the participant.
//!
//! * **D1** A thread enters by writing its participant, and then reads the table. A thread that has unlinked something
//!   then reads the participants. A StoreLoad barrier stands between the two steps of each ([`store_load`]). So a
//!   thread that the unlinker does not see inside does not find what was unlinked; nor does one that it sees inside, on
//!   its next visit.
//! * **D2** If no thread is inside, what was unlinked is destroyed at once. Otherwise it waits for the visits that
//!   were seen, and no others: until each of these participants is wiped or has another visit. The unlinker looks a few
//!   times more, since most threads inside leave at once. If that does not help, what was unlinked goes to *the
//!   deferred list*, with the visits that are seen then. For a visit for which it has looked in vain before it does not look again.
//! * **D3** What is deferred waits for *one* visit at a time, that of the thread that is *named*. A thread
//!   leaves by wiping its participant, and then checks whether it is named. A thread that names another then reads its
//!   participant. If one of the two sees the other, that one takes the lock, destroys what waits for no visit any more, and
//!   names the next: so what is in the deferred list is destroyed by the last of the threads for which it waits, and no other
//!   reader takes the lock. But no barrier stands between the two steps of each, and both may miss the other. Then what is
//!   deferred waits until the next thread leaves, which sees the named thread outside, or, if that one is inside again, until it
//!   leaves. (A barrier of each reader that leaves cost 6 of 20 ns of a lookup.)
//! * **D4** The plain fields of a participant are used by the one thread that has its number. A number passes from
//!   thread to thread through a lock.
//! * **D5** Destructors run outside: the participant is wiped before, and no lock is taken. A thread whose
//!   thread-locals are gone borrows a number for each operation. For one within another's closure it is outside, by
//!   that number, when the inner one ends: then destructors may run within the outer closure, of what that cannot look
//!   at.
//! * **D6** A thread that has unlinked something reads the participants of the numbers that threads have, so a thread
//!   that is gone delays nobody. A thread takes its number before it enters, so D1 holds of the number as of the
//!   participant; it leaves before it gives it back. But one that is inside when it exits the process gives it back
//!   there. So as soon as a number was given back, all participants are read, until they show that none was left like
//!   that.
//!
//! * **D7** To look who is inside reads a line of each thread. So where several threads have used a table, each gathers what it
//!   has unlinked in the *bag* of its participant, behind a lock, and looks once for a *batch*: it takes the batch out of the bag,
//!   makes a barrier, and then reads the participants, as in D1. The lock orders what other threads have unlinked before that
//!   barrier, so whoever takes a bag may look for it: a thread that is never inside, too. How many a thread gathers is a hint:
//!   any number is sound, at any time. A thread that is told to gather one looks each time, by the barrier of leaving, and takes
//!   what is left in its bag. An array makes its batch at once: a bag may wait long, and shall not keep megabytes. No bag waits
//!   for a certain thread: each thread that makes changes looks at the bags of others, one after the other.
//! * **D8** Once a table is *prompt*, no thread leaves anything in its bag: what waits there wakes no task. Who makes it prompt
//!   says so, makes a barrier, and looks at all bags, under their locks. A thread that gathers puts what it has unlinked into its
//!   bag, and then asks whether the table is prompt. If its section comes after the other's, it knows that it is; and if the
//!   other has not found the bag at all, since the barrier of the thread that has made the bag came after the other's.
//!
//! A thread that changes the table writes nothing here that others read, unless it goes to the deferred list. In an
//! earlier design a visit had the number of a global era, which the unlinker ended if a thread was inside: with two
//! threads that insert and remove, a third of the changes ended an era, whose word each of them reads.
//!
//! To wait for the readers that are seen: M. Desnoyers et al., "User-Level Implementations of Read-Copy Update",
//! 2012. The last one out destroys: R. Nikolaev and B. Ravindran, "Hyaline", 2019.

use core::{iter, ptr};
use std::boxed::Box;
use std::vec::Vec;

use super::bag::{Bag, ROOM};
use super::deferred::{DeferredList, NOBODY, Visit};
use super::directory::{Last, Participants};
use super::participants::{OUTSIDE, Participant, Seen};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU16, AtomicUsize, Mutex, barrier, const_fn};
use crate::thread::{ThreadNumber, in_use};

/// How often a thread that has unlinked something checks whether those inside have left, before it goes to the deferred
/// list: for a microsecond. A reader is inside for 20 ns, a writer for 200; the deferred list costs both sides a lock
/// and some cache misses. No hint tells the processor that this spins: the pause that it makes is longer than most
/// visits on some.
const LOOKS: usize = if cfg!(any(weakly_loom, miri)) { 1 } else { 512 };
/// For how many visits it looks. If it sees more, it goes to the deferred list at once.
const WATCHED: usize = 4;
/// Up to so many participants are read whether or not threads have their numbers: that costs less than to ask.
pub(super) const FEW: usize = if cfg!(weakly_loom) { 0 } else { 8 };
/// How many objects a thread gathers at least, if it gathers and the table is not small. The allocator keeps so many freed blocks
/// for the next allocations of the same thread; to destroy 64 at once cost 20 ns for each.
const FEWEST: usize = 8;
/// How many objects with destructors of users a thread gathers, at most.
const MOST_WITH_DESTRUCTORS: usize = 16;
/// Every so many reads of a thread, one does extra work.
pub(super) const NTH: usize = 32;

/// The participants at a table, its deferred list, and the context of its destructors: what a lookup reads, and behind a
/// pointer the rest, which is there as soon as a thread has come. So a table that is empty takes few bytes.
#[repr(C)]
pub(super) struct Domain<C: Default> {
    /// The number of the thread that is named (D3), or [`NOBODY`]. Written under the lock of the deferred list.
    pub(super) named: AtomicUsize,
    pub(super) participants: Participants<C>,
    pub(super) rest: AtomicPtr<Rest<C>>,
    /// How many objects a thread may gather in its bag before it looks (D7), as far as the size of the table goes.
    room: AtomicU16,
    /// D8: no thread gathers.
    prompt: AtomicBool,
    /// Whether objects have destructors of users: then a thread gathers less.
    has_destructors: bool,
    /// Whether the context concerns each operation (for the table).
    pub(super) concerns: AtomicBool,
}

pub(super) struct Rest<C> {
    pub(super) deferred: DeferredList<C>,
    /// [`ends`](crate::thread::InUse::ends) of threads, of which none was left inside (D6).
    checked: AtomicUsize,
    /// See [`Participants`].
    last: Mutex<Last<C>>,
    context: C,
}

impl<C> Rest<C> {
    #[inline]
    pub(super) fn context(&self) -> &C {
        &self.context
    }
}

impl Visit {
    const NONE: Self = Visit {
        number: 0,
        visit: OUTSIDE,
    };
}

impl<C: Default> Domain<C> {
    #[cfg(not(weakly_loom))]
    pub(super) const fn new(has_destructors: bool) -> Self {
        Self::without_threads(has_destructors)
    }

    /// In models, the participants of their threads are there, unless a model is about how they come. As if one thread had come:
    /// so a look asks which numbers are in use (see `FEW`).
    #[cfg(weakly_loom)]
    pub(super) fn new(has_destructors: bool) -> Self {
        let domain = Self::without_threads(has_destructors);
        (0..3).for_each(|number| _ = domain.participant(number));
        domain.participants.pretend(1);
        domain
    }

    const_fn! {
        pub(super) fn without_threads(has_destructors: bool) -> Domain<C> {
            Domain {
                named: AtomicUsize::new(NOBODY),
                participants: Participants::new(),
                rest: AtomicPtr::new(ptr::null_mut()),
                room: AtomicU16::new(1),
                prompt: AtomicBool::new(false),
                has_destructors,
                concerns: AtomicBool::new(false),
            }
        }
    }

    /// The rest. A thread has come.
    #[inline]
    pub(super) fn known(&self) -> &Rest<C> {
        self.rest().expect("a thread has come")
    }

    /// The rest, if anything has used it.
    #[inline]
    pub(super) fn rest(&self) -> Option<&Rest<C>> {
        // Acquire: with `make_rest`: it is initialised.
        // SAFETY: it lasts as long as this.
        unsafe { self.rest.load(Acquire).as_ref() }
    }
}

impl<C: Default> Domain<C> {
    #[inline]
    pub(super) fn rest_or_new(&self) -> &Rest<C> {
        self.rest().unwrap_or_else(|| self.make_rest())
    }

    #[cold]
    #[inline(never)]
    fn make_rest(&self) -> &Rest<C> {
        let new = Box::into_raw(Box::new(Rest {
            deferred: DeferredList::new(),
            checked: AtomicUsize::new(0),
            last: Mutex::new(Last::new(ptr::null_mut())),
            context: C::default(),
        }));
        // Release: it is initialised. Acquire on failure: so is the winner's.
        let there = self
            .rest
            .compare_exchange(ptr::null_mut(), new, Release, Acquire);
        let rest = there.map_or_else(
            |there| {
                // SAFETY: made here, and no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
                there
            },
            |_| new,
        );
        // SAFETY: as in `rest`.
        unsafe { &*rest }
    }

    #[inline]
    pub(super) fn context(&self) -> &C {
        &self.rest_or_new().context
    }

    /// The participant of this thread, which has this number. A thread that comes for the first time is included.
    #[inline(always)]
    pub(super) fn participant(&self, number: usize) -> &Participant<C> {
        match self.participants.at_home(number) {
            Some(participant) => participant,
            None => self.find_or_include(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_or_include(&self, number: usize) -> &Participant<C> {
        match self.participants.find(number) {
            Some(participant) => participant,
            None => self.include(number),
        }
    }

    pub(super) fn include(&self, number: usize) -> &Participant<C> {
        self.participants.include(&self.rest_or_new().last, number)
    }

    /// The visits of the threads that are inside.
    #[inline]
    pub(super) fn visits(&self, mut each: impl FnMut(Visit)) {
        self.look(|participant| {
            // Acquire: with `leave`. A thread that has wiped its participant has finished all its reads.
            let visit = participant.visit.load(Acquire);
            if visit != OUTSIDE {
                each(Visit {
                    number: participant.number,
                    visit,
                });
            }
        });
    }

    /// D6: shows the participants of threads that may be inside.
    #[inline]
    pub(super) fn look(&self, each: impl FnMut(&Participant<C>)) {
        if self.participants.included() <= FEW {
            return self.participants.each(each);
        }
        // Acquire: with `check`: the numbers below are not older than those that were seen there.
        let Some(rest) = self.rest() else { return };
        let checked = rest.checked.load(Acquire);
        let mut ended = false;
        let in_use = |word| {
            let numbers = in_use().word(word);
            // After the numbers: one that was given back by a thread that is still inside was counted before.
            ended |= in_use().ends() != checked;
            if ended { usize::MAX } else { numbers }
        };
        self.participants.each_among(in_use, each);
        if ended {
            self.check();
        }
    }

    /// D6: checks whether a thread that has ended was left inside.
    #[cold]
    #[inline(never)]
    fn check(&self) {
        let ends = in_use().ends();
        let mut left = ends % 2 == 1;
        // The last visit of a thread that has given its number back is seen, by the Acquire in `ends`. If another
        // has the number by now, that gives it back later, and all is checked again.
        self.participants.each(|participant| {
            left |= !in_use().has(participant.number) && participant.visit.load(Relaxed) != OUTSIDE;
        });
        if !left {
            // Release: with `look`: that a number has been taken since. With Relaxed a model found a thread that was left
            // inside, under a number that the reader still took to be free.
            self.rest()
                .into_iter()
                .for_each(|rest| rest.checked.store(ends, Release));
        }
    }

    /// Whether a visit lasts.
    #[inline]
    fn lasts(&self, visit: Visit) -> bool {
        // Acquire: as above; the thread's next visit comes after that.
        let participant = self.participants.find(visit.number);
        participant.is_some_and(|participant| participant.visit.load(Acquire) == visit.visit)
    }

    /// The sum of the threads' counts, modulo 2^n.
    pub(super) fn entries(&self) -> usize {
        self.sum(|participant| &participant.entries)
    }

    /// The same of entries that are [not counted](super::Entry::is_counted).
    pub(super) fn others(&self) -> usize {
        self.sum(|participant| &participant.others)
    }

    fn sum(&self, count: impl Fn(&Participant<C>) -> &AtomicUsize) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|participant| sum = sum.wrapping_add(count(participant).load(Relaxed)));
        sum
    }

    /// D2: whether no thread is inside that may look at what this one, which is not inside, has unlinked, now or
    /// after a few looks.
    #[inline]
    pub(super) fn is_unseen(&self) -> bool {
        let (mut visits, mut seen) = ([Visit::NONE; WATCHED], 0);
        self.visits(|visit| {
            if let Some(place) = visits.get_mut(seen) {
                *place = visit;
            }
            seen += 1;
        });
        seen == 0
            || visits
                .get(..seen)
                .is_some_and(|visits| self.end_soon(visits, LOOKS))
    }

    /// Whether all visits end within so many looks. For a visit that this thread has looked for in vain it does not look again:
    /// a thread that stays inside would cost each change all of the looks.
    #[cold]
    #[inline(never)]
    pub(super) fn end_soon(&self, visits: &[Visit], most: usize) -> bool {
        let number = ThreadNumber::current();
        let own = self.participants.find(number.get());
        let stays = |visit: &Visit| own.is_some_and(|own| own.has_looked(*visit));
        if visits.iter().any(stays) {
            return false;
        }
        let mut looks = 0;
        visits.iter().all(|visit| {
            while self.lasts(*visit) {
                if looks == most {
                    own.into_iter().for_each(|own| own.looked_in_vain(*visit));
                    return false;
                }
                looks += 1;
            }
            true
        })
    }

    /// D3: whether a thread that leaves has to look what waits in the deferred list: because it is named, or because the
    /// named thread is outside. That has left without a barrier, and may have missed it.
    ///
    /// It takes all it needs by value: a lookup keeps its guard in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn is_due(&self, named: usize, number: usize) -> bool {
        let is_outside = |participant: &Participant<C>| {
            // Relaxed: what was unlinked is destroyed under the lock, after another look.
            participant.visit.load(Relaxed) == OUTSIDE
        };
        named == number || self.participants.find(named).is_some_and(is_outside)
    }

    /// D3: publishes which thread is named. The caller then reads its participant.
    fn name(&self, number: usize) {
        // Relaxed: what is deferred is read under the lock; a thread that misses its name leaves that to the next.
        self.named.store(number, Relaxed);
    }

    /// The registrations that threads have counted, modulo 2^n. No thread is inside, and none will be.
    pub(super) fn registered(&mut self) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|participant| sum = sum.wrapping_add(participant.registered.get()));
        sum
    }

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
    fn bags(&self, mut look: impl FnMut(&Bag<C>)) {
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
        // Relaxed, and a barrier: with `make_bag`. A thread whose bag the caller does not find then sees this.
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

    /// D7: puts what this thread has unlinked into its bag. Once there are `batch`, they are destroyed, if no thread is inside
    /// that may look at them; otherwise they are deferred. `inside`: this thread's number, if it is inside.
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

    /// Takes what is in the bag of this thread or, with `of_all`, in the bags of all threads, until `most` entries are taken,
    /// and destroys or defers it. Returns how many entries that were.
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

    /// D7: looks at the next bag, of whatever thread. Returns the number of its thread, if something has been there since this
    /// thread looked last, and its own thread has put nothing more there.
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

    /// D7: looks at the next of `lists`, likewise. If `most` wait in a list, it is returned also if more come, and this thread
    /// [stays](Participant::stays_at) there.
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

    /// The number of this thread, if it is inside.
    fn own_number_if_inside(&self) -> Option<usize> {
        // Held until the depth is read (D4): a borrowed number goes back when this is dropped.
        let number = ThreadNumber::current();
        let own = self.participants.find(number.get())?;
        (own.depth.get() != 0).then_some(number.get())
    }

    /// Retires what was unlinked by others, and what threads that are inside may look at.
    #[cold]
    pub(super) fn wait(&self, all: Vec<Retired<C>>) {
        let mut panics = FirstPanic::default();
        self.to_deferred(all.into_iter(), self.own_number_if_inside(), &mut panics);
        panics.resume();
    }

    /// Puts to the deferred list what a thread inside may still look at. `inside`: this thread's number, if it is
    /// inside. (Where missing memory unwinds, it is leaked then: nobody knows when it may be destroyed.)
    #[cold]
    #[inline(never)]
    pub(super) fn to_deferred(
        &self,
        all: impl Iterator<Item = Retired<C>>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        let unseen = self.known().deferred.add(
            all.collect(),
            |each| self.visits(each),
            |visit| self.lasts(visit),
            |number| self.name(number),
            inside,
        );
        self.destroy(unseen.flatten(), panics);
    }

    /// Destroys what is deferred and does not wait for any thread any more.
    #[cold]
    #[inline(never)]
    pub(super) fn look_back(&self) {
        let mut panics = FirstPanic::default();
        let deferred = &self.known().deferred;
        let unseen = deferred.take(|visit| self.lasts(visit), |number| self.name(number));
        self.destroy(unseen.flatten(), &mut panics);
        panics.resume();
    }

    /// Destroys what is deferred: no thread is inside, and none will be.
    pub(super) fn end(&mut self, panics: &mut FirstPanic) {
        let Some(rest) = self.rest() else { return };
        self.destroy(rest.deferred.take_all(), panics);
        self.bags(|bag| self.destroy(bag.end(), panics));
    }

    /// Destroys all of them, even if some destructors panic.
    #[inline]
    pub(super) fn destroy(
        &self,
        all: impl IntoIterator<Item = Retired<C>>,
        panics: &mut FirstPanic,
    ) {
        let context = self.known().context();
        for retired in all {
            // SAFETY: D1, D2: a thread inside does not find it, and has not found it before it was unlinked. Or none is
            // inside, and none will be.
            panics.catch(|| unsafe { retired.destroy(context) });
        }
    }
}

impl<C: Default> Drop for Domain<C> {
    fn drop(&mut self) {
        // Relaxed: no other thread is there.
        let rest = self.rest.load(Relaxed);
        if !rest.is_null() {
            // SAFETY: made by `make_rest`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(rest) });
        }
    }
}
