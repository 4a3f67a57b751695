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
//!   deferred list*, with the visits that are seen then.
//! * **D3** What is deferred waits for *one* visit at a time, that of the thread that is *named*. A thread
//!   leaves by wiping its participant, and then checks whether it is named. A thread that names another then reads its
//!   participant. A StoreLoad barrier stands between the two steps of each. So one of the two sees the other: whoever
//!   sees that the visit has ended takes the lock, destroys what waits for no visit any more, and names the next. So
//!   what is in the deferred list is destroyed by the last of the threads for which it waits, and no other reader takes
//!   the lock. Where nothing has a destructor, a reader leaves without the barrier, and may miss that it is named. Then
//!   memory waits until the next thread leaves, which sees that one outside, or, if that one is inside again, until it
//!   leaves.
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
//! A thread that changes the table writes nothing here that others read, unless it goes to the deferred list. In an
//! earlier design a visit had the number of a global era, which the unlinker ended if a thread was inside: with two
//! threads that insert and remove, a third of the changes ended an era, whose word each of them reads.
//!
//! To wait for the readers that are seen: M. Desnoyers et al., "User-Level Implementations of Read-Copy Update",
//! 2012. The last one out destroys: R. Nikolaev and B. Ravindran, "Hyaline", 2019.

use std::vec::Vec;

use super::deferred::{DeferredList, NOBODY, Visit};
use super::participants::{OUTSIDE, Participant, Participants, UNUSED, assert_apart};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, const_fn, store_load};
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
/// Every so many reads of a thread, one does extra work.
pub(super) const NTH: usize = 32;

/// The participants at a table, its deferred list, and the context of its destructors.
#[repr(C)]
pub(super) struct Domain<C> {
    /// The number of the thread that is named (D3), or [`NOBODY`]. Written under the lock of the deferred list.
    pub(super) named: AtomicUsize,
    /// [`ends`](crate::thread::InUse::ends) of threads, of which none was left inside (D6).
    checked: AtomicUsize,
    pub(super) participants: Participants,
    pub(super) deferred: DeferredList<C>,
    context: C,
}

impl Visit {
    const NONE: Self = Visit {
        number: 0,
        visit: OUTSIDE,
    };
}

impl<C> Domain<C> {
    const_fn! {
        pub(super) fn new(context: C) -> Domain<C> {
            assert_apart!(Domain<C>, named, participants);
            Domain {
                named: AtomicUsize::new(NOBODY),
                checked: AtomicUsize::new(0),
                participants: Participants::new(),
                deferred: DeferredList::new(),
                context,
            }
        }
    }

    #[inline]
    pub(super) fn context(&self) -> &C {
        &self.context
    }

    /// The thread is inside already, or has never been.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_again(&self, participant: &Participant, depth: usize, number: usize) {
        if depth != UNUSED {
            participant.depth.set(depth + 1);
            return;
        }
        self.participants.include(number);
        participant.sit_down();
    }

    /// The visits of the threads that are inside.
    #[inline]
    pub(super) fn visits(&self, mut each: impl FnMut(Visit)) {
        self.look(|number, participant| {
            // Acquire: with `leave`. A thread that has wiped its participant has finished all its reads.
            let visit = participant.visit.load(Acquire);
            if visit != OUTSIDE {
                each(Visit { number, visit });
            }
        });
    }

    /// D6: shows the participants of threads that may be inside.
    #[inline]
    pub(super) fn look(&self, mut each: impl FnMut(usize, &Participant)) {
        const BITS: usize = usize::BITS as usize;
        let top = self.participants.top();
        if top <= FEW {
            return self.participants.each(each);
        }
        // Acquire: with `check`: the numbers below are not older than those that were seen there.
        let checked = self.checked.load(Acquire);
        let (mut first, mut ended) = (0, false);
        while first < top {
            let mut numbers = in_use().word(first / BITS);
            // After the numbers: one that was given back by a thread that is still inside was counted before.
            if in_use().ends() != checked {
                ended = true;
                numbers = usize::MAX;
            }
            if top - first < BITS {
                numbers &= !(usize::MAX << (top - first));
            }
            while numbers != 0 {
                let number = first + numbers.trailing_zeros() as usize;
                numbers &= numbers - 1;
                // A chunk of which no participant has been used may not be there.
                if let Some(participant) = self.participants.find(number) {
                    each(number, participant);
                }
            }
            first += BITS;
        }
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
        self.participants.each(|number, participant| {
            left |= !in_use().has(number) && participant.visit.load(Relaxed) != OUTSIDE;
        });
        if !left {
            // Release: with `look`: that a number has been taken since. With Relaxed a model found a thread that was left
            // inside, under a number that the reader still took to be free.
            self.checked.store(ends, Release);
        }
    }

    /// Whether a visit lasts.
    #[inline]
    fn lasts(&self, visit: Visit) -> bool {
        // Acquire: as above; the thread's next visit comes after that.
        self.participants.get(visit.number).visit.load(Acquire) == visit.visit
    }

    /// The sum of the threads' counts, modulo 2^n.
    pub(super) fn entries(&self) -> usize {
        self.sum(|participant| &participant.entries)
    }

    /// The same of entries that are [not counted](super::Entry::is_counted).
    pub(super) fn others(&self) -> usize {
        self.sum(|participant| &participant.others)
    }

    fn sum(&self, count: impl Fn(&Participant) -> &AtomicUsize) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|_, participant| sum = sum.wrapping_add(count(participant).load(Relaxed)));
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
                .is_some_and(|visits| self.end_soon(visits))
    }

    /// Whether all visits end within a few looks.
    #[cold]
    #[inline(never)]
    fn end_soon(&self, visits: &[Visit]) -> bool {
        let mut looks = 0;
        visits.iter().all(|visit| {
            while self.lasts(*visit) {
                if looks == LOOKS {
                    return false;
                }
                looks += 1;
            }
            true
        })
    }

    /// D3: whether a thread that leaves has to look what waits in the deferred list: because it is named, or, without
    /// `prompt`, because the named thread is outside. That may have left without a barrier, and missed it.
    ///
    /// It takes all it needs by value: a lookup keeps its guard in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn is_due(&self, named: usize, number: usize, prompt: bool) -> bool {
        let is_outside = |participant: &Participant| {
            // Relaxed: what was unlinked is destroyed under the lock, after another look.
            participant.visit.load(Relaxed) == OUTSIDE
        };
        named == number || !prompt && self.participants.find(named).is_some_and(is_outside)
    }

    /// D3: publishes which thread is named. The caller then reads its participant.
    fn name(&self, number: usize) {
        store_load(&self.named, number);
    }

    /// The registrations that threads have counted, modulo 2^n. No thread is inside, and none will be.
    pub(super) fn registered(&mut self) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|_, participant| sum = sum.wrapping_add(participant.registered.get()));
        sum
    }

    /// Whether one thread at most has used the table. A hint.
    #[inline]
    pub(super) fn is_of_one(&self) -> bool {
        self.participants.included() <= 1
    }

    /// Begins a change of this thread: returns its number among those of the thread, modulo 2^n.
    #[inline]
    pub(super) fn begin_change(&self) -> usize {
        let number = ThreadNumber::current();
        self.participants.get(number.get()).count_change()
    }

    /// The number of entries deferred.
    pub(super) fn waiting(&self) -> usize {
        self.deferred.entries()
    }

    /// Retires what was unlinked by others, and what threads that are inside may look at.
    #[cold]
    pub(super) fn wait(&self, all: Vec<Retired<C>>) {
        let number = ThreadNumber::current();
        let participant = self.participants.get(number.get());
        let is_inside = !matches!(participant.depth.get(), 0 | UNUSED);
        let mut panics = FirstPanic::default();
        self.to_deferred(
            all.into_iter(),
            is_inside.then(|| number.get()),
            &mut panics,
        );
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
        let unseen = self.deferred.add(
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
        let unseen = (self.deferred).take(|visit| self.lasts(visit), |number| self.name(number));
        self.destroy(unseen.flatten(), &mut panics);
        panics.resume();
    }

    /// Destroys what is deferred: no thread is inside, and none will be.
    pub(super) fn end(&mut self, panics: &mut FirstPanic) {
        let all = self.deferred.take_all();
        self.destroy(all, panics);
    }

    /// Destroys all of them, even if some destructors panic.
    pub(super) fn destroy(
        &self,
        all: impl IntoIterator<Item = Retired<C>>,
        panics: &mut FirstPanic,
    ) {
        for retired in all {
            // SAFETY: D1, D2: a thread inside does not find it, and has not found it before it was unlinked. Or none is
            // inside, and none will be.
            panics.catch(|| unsafe { retired.destroy(&self.context) });
        }
    }
}
