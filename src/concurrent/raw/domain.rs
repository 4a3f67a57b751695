//! Reclamation: which threads are inside a table, and when what they have unlinked is destroyed.
//!
//! Each thread has a *participant* at each table that it uses, on cache lines of its own. A thread
//! that enters writes the number of this *visit* into its participant; when it leaves, it wipes the
//! participant.
//!
//! * **D1** A thread enters by writing its participant, and then reads the table. A thread that has
//!   unlinked something then reads the participants. A StoreLoad barrier stands between the two
//!   steps of each ([`store_load`]). So a thread that the unlinker does not see inside does not
//!   find what was unlinked; nor does one that it sees inside, on its next visit.
//! * **D2** If no thread is inside, what was unlinked is destroyed at once. Otherwise it waits for
//!   the visits that were seen, and no others: until each of these participants is wiped or has
//!   another visit. The unlinker looks a few times more, since most threads inside leave at once.
//!   If that does not help, what was unlinked goes to *the deferred list*, with the visits that are
//!   seen then. For a visit for which it has looked in vain before it does not look again.
//! * **D3** What is deferred waits for *one* visit at a time, that of the thread that is *named*. A
//!   thread leaves by wiping its participant, and then checks whether it is named. A thread that
//!   names another then reads its participant. If one of the two sees the other, that one takes the
//!   lock, destroys what waits for no visit any more, and names the next: so what is in the
//!   deferred list is destroyed by the last of the threads for which it waits, and no other reader
//!   takes the lock. But no barrier stands between the two steps of each, and both may miss the
//!   other. Then what is deferred waits until the next thread leaves, which sees the named thread
//!   outside, or, if that one is inside again, until it leaves. (A barrier of each reader that
//!   leaves cost 6 of 20 ns of a lookup.)
//! * **D4** The plain fields of a participant are used by the one thread that has its number. A
//!   number passes from thread to thread through a lock.
//! * **D5** Destructors run outside: the participant is wiped before, and no lock is taken. A
//!   thread whose thread-locals are gone borrows a number for each operation. For one within
//!   another's closure it is outside, by that number, when the inner one ends: then destructors may
//!   run within the outer closure, of what that cannot look at.
//! * **D6** A thread that has unlinked something reads the participants of the numbers that threads
//!   have, so a thread that is gone delays nobody. A thread takes its number before it enters, so
//!   D1 holds of the number as of the participant; it leaves before it gives it back. But one that
//!   is inside when it exits the process gives it back there. So as soon as a number was given
//!   back, all participants are read, until they show that none was left like that.
//!
//! A thread that changes the table writes nothing here that others read, unless it goes to the
//! deferred list. In an earlier design a visit had the number of a global era, which the unlinker
//! ended if a thread was inside: with two threads that insert and remove, a third of the changes
//! ended an era, whose word each of them reads.
//!
//! To wait for the readers that are seen: M. Desnoyers et al., "User-Level Implementations of
//! Read-Copy Update", 2012. The last one out destroys: R. Nikolaev and B. Ravindran, "Hyaline",
//! 2019. The module [`batch`](super::batch) gathers objects before one look for all of them.

use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::deferred::{DeferredList, NOBODY, Visit};
use super::directory::{Last, Participants};
use super::participants::{OUTSIDE, Participant};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU16, AtomicUsize, Mutex, const_fn};
use crate::thread::{ThreadNumber, in_use};

/// How often a thread that has unlinked something checks whether those inside have left, before it
/// goes to the deferred list: for a microsecond. A reader is inside for 20 ns, a writer for 200;
/// the deferred list costs both sides a lock and some cache misses. No hint tells the processor
/// that this spins: the pause that it makes is longer than most visits on some.
const LOOKS: usize = if cfg!(any(weakly_loom, miri)) { 1 } else { 512 };
/// For how many visits it looks. If it sees more, it goes to the deferred list at once.
const WATCHED: usize = 4;
/// Up to so many participants are read whether or not threads have their numbers: that costs less
/// than to ask.
pub(super) const FEW: usize = if cfg!(weakly_loom) { 0 } else { 8 };
/// Every so many reads of a thread, one does extra work.
pub(super) const NTH: usize = 32;

/// The participants at a table, its deferred list, and the context of its destructors: what a
/// lookup reads, and behind a pointer the rest, which is there as soon as a thread has come. So a
/// table that is empty takes few bytes.
#[repr(C)]
pub(super) struct Domain<C: Default> {
    /// The number of the thread that is named (D3), or [`NOBODY`]. Written under the lock of the
    /// deferred list.
    pub(super) named: AtomicUsize,
    pub(super) participants: Participants<C>,
    pub(super) rest: AtomicPtr<Rest<C>>,
    /// How many objects a thread may gather in its bag before it looks (D7), as far as the size of
    /// the table goes.
    pub(super) room: AtomicU16,
    /// D8: no thread gathers.
    pub(super) prompt: AtomicBool,
    /// Whether objects have destructors of users: then a thread gathers less.
    pub(super) has_destructors: bool,
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

    /// In models, the participants of their threads are there, unless a model is about how they
    /// come. As if one thread had come: so a look asks which numbers are in use (see `FEW`).
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

    /// The participant of this thread, which has this number. A thread that comes for the first
    /// time is included.
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
            // Acquire: with `leave`. A thread that has wiped its participant has finished all its
            // reads.
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
            // After the numbers: one that was given back by a thread that is still inside was
            // counted before.
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
        // The last visit of a thread that has given its number back is seen, by the Acquire in
        // `ends`. If another has the number by now, that gives it back later, and all is checked
        // again.
        self.participants.each(|participant| {
            left |= !in_use().has(participant.number) && participant.visit.load(Relaxed) != OUTSIDE;
        });
        if !left {
            // Release: with `look`: that a number has been taken since. With Relaxed a model found
            // a thread that was left inside, under a number that the reader still took to be free.
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

    /// D2: whether no thread is inside that may look at what this one, which is not inside, has
    /// unlinked, now or after a few looks.
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

    /// Whether all visits end within so many looks. For a visit that this thread has looked for in
    /// vain it does not look again: a thread that stays inside would cost each change all of the
    /// looks.
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

    /// D3: whether a thread that leaves has to look what waits in the deferred list: because it is
    /// named, or because the named thread is outside. That has left without a barrier, and may have
    /// missed it.
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
        // Relaxed: what is deferred is read under the lock; a thread that misses its name leaves
        // that to the next.
        self.named.store(number, Relaxed);
    }

    /// The registrations that threads have counted, modulo 2^n. No thread is inside, and none will
    /// be.
    pub(super) fn registered(&mut self) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|participant| sum = sum.wrapping_add(participant.registered.get()));
        sum
    }

    /// The number of this thread, if it is inside.
    pub(super) fn own_number_if_inside(&self) -> Option<usize> {
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

    /// Puts to the deferred list what a thread inside may still look at. `inside`: this thread's
    /// number, if it is inside. (Where missing memory unwinds, it is leaked then: nobody knows when
    /// it may be destroyed.)
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
            // SAFETY: D1, D2: a thread inside does not find it, and has not found it before it was
            // unlinked. Or none is inside, and none will be.
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
