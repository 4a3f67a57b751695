//! Reclamation: which threads are inside a table, and when unlinked objects are destroyed.
//!
//! Each thread has a *participant* at each table that it uses, on cache lines of its own. A thread
//! is *inside* the table between entering and leaving. A thread enters by writing the number of
//! this *visit* into its participant, and leaves by clearing the participant.
//!
//! * **D1** An entering thread writes its participant, and then reads the table. An unlinking
//!   thread unlinks an object, and then reads the participants. Each of the two threads has a
//!   StoreLoad barrier between its two steps ([`store_load`]). So a thread that the unlinking
//!   thread does not see inside cannot find the unlinked object. A thread that is seen inside may
//!   find the object during this visit, but not during its next visit.
//! * **D2** If no thread is inside, the unlinked object is destroyed at once. Otherwise the object
//!   waits for the visits that the unlinking thread saw, and for no later visit: until each of
//!   these participants is cleared or has another visit. The unlinking thread first reads the
//!   participants a few more times, because most threads inside leave at once. If a visit outlasts
//!   these reads, the object goes to *the deferred list*, with the visits seen at that moment. An
//!   unlinking thread that has once waited for a visit in vain does not wait for the same visit
//!   again.
//! * **D3** The deferred list waits for *one* visit at a time, the visit of the *named* thread. A
//!   leaving thread clears its participant, and then checks whether it is named. A naming thread
//!   names another thread, and then reads the participant of that thread. Whichever thread sees the
//!   step of its partner takes the lock, destroys the objects whose visits have ended, and names
//!   the next thread. So the deferred objects are destroyed by the last thread they wait for, and
//!   no other reader takes the lock. No barrier stands between the two steps of either thread, so
//!   both threads may miss each other. Then the deferred objects wait until another thread leaves
//!   and sees the named thread outside, or, if the named thread has entered again, until the named
//!   thread leaves. (A barrier in each leaving reader took 6 of the 20 ns of a lookup.)
//! * **D4** Only the thread that has a participant's number uses the plain fields of the
//!   participant. A number passes from one thread to another through a lock.
//! * **D5** Destructors run outside: a thread clears its participant first, and holds no lock. A
//!   thread whose thread-locals are gone borrows a number for each operation. An operation in the
//!   closure of another operation then borrows a second number, and counts as outside when it ends,
//!   so destructors may run within the outer closure. The destroyed objects are never objects that
//!   the outer operation may look at, because the participant of the first number still shows the
//!   outer visit.
//! * **D6** An unlinking thread reads all participants, also the participants of ended threads,
//!   whose numbers the next threads get. A thread that exits the process from inside gives its
//!   number back before it leaves: then the next thread with the number only goes deeper in the
//!   visit, which does not end.
//!
//! A thread that changes the table writes nothing here that other threads read, unless it uses the
//! deferred list. In an earlier design a visit had the number of a global era. An unlinking thread
//! ended the era if a thread was inside. With two threads inserting and removing, a third of the
//! changes ended an era, whose word both threads read.
//!
//! Waiting for the readers that were seen: M. Desnoyers et al., "User-Level Implementations of
//! Read-Copy Update", 2012. Destruction by the last thread that leaves: R. Nikolaev and B.
//! Ravindran, "Hyaline", 2019. The module [`batch`](super::batch) gathers objects, so that the
//! participants are read once for all of them.

use core::ptr;
use std::vec::Vec;

use super::deferred::{NOBODY, Visit};
use super::directory::Participants;
use super::participants::{OUTSIDE, Participant};
use super::rest::{MakeRest, Rest};
use super::retired::Retired;
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, const_fn};
use crate::thread::ThreadNumber;

/// How often an unlinking thread reads a visit again before it uses the deferred list: for about a
/// microsecond. A reader is inside for 20 ns, a writer for 200 ns; the deferred list costs both
/// sides a lock and some cache misses. The loop has no spin hint, because on some processors a hint
/// pauses longer than most visits last.
const LOOKS: usize = if cfg!(any(weakly_loom, miri)) { 1 } else { 512 };
/// The largest number of visits that an unlinking thread waits for. With more visits it uses the
/// deferred list at once.
const WATCHED: usize = 4;
/// One in `NTH` reads of a thread does extra work.
pub(super) const NTH: usize = 32;

/// The participants at a table, its deferred list, and the context of its destructors. A lookup
/// reads only the fields here. The other fields are in [`Rest`], behind a pointer, and are
/// allocated when the first thread comes, so an empty table takes few bytes.
///
/// The table knows the type of the context, and passes a function that makes the rest.
#[repr(C)]
pub(super) struct Domain {
    /// The number of the named thread (D3), or [`NOBODY`]. Written under the lock of the deferred
    /// list.
    pub(super) named: AtomicUsize,
    pub(super) participants: Participants,
    pub(super) rest: AtomicPtr<Rest>,
    /// D8: whether the table is prompt. Then no thread gathers.
    pub(super) prompt: AtomicBool,
    /// Whether the context concerns each operation. The table uses this field.
    pub(super) concerns: AtomicBool,
}

impl Visit {
    const NONE: Self = Visit {
        number: 0,
        visit: OUTSIDE,
    };
}

impl Domain {
    #[cfg(not(weakly_loom))]
    pub(super) const fn new(_: MakeRest) -> Self {
        Self::without_threads()
    }

    /// In models, the participants of the threads exist from the start, unless the model is about
    /// how participants are added.
    #[cfg(weakly_loom)]
    pub(super) fn new(make: MakeRest) -> Self {
        let domain = Self::without_threads();
        (0..3).for_each(|number| _ = domain.participant(number, make));
        domain
    }

    const_fn! {
        pub(super) fn without_threads() -> Domain {
            Domain {
                named: AtomicUsize::new(NOBODY),
                participants: Participants::new(),
                rest: AtomicPtr::new(ptr::null_mut()),
                prompt: AtomicBool::new(false),
                concerns: AtomicBool::new(false),
            }
        }
    }

    /// Returns the rest. A thread has come before.
    #[inline]
    pub(super) fn known(&self) -> &Rest {
        self.rest().expect("a thread has come")
    }

    /// Returns the rest, if it has been made.
    #[inline]
    pub(super) fn rest(&self) -> Option<&Rest> {
        // SAFETY: the rest lasts as long as the domain.
        unsafe { self.rest_ptr().as_ref() }
    }

    /// Returns the rest, or null.
    #[inline]
    pub(super) fn rest_ptr(&self) -> *mut Rest {
        // Acquire: with `make_rest`: the rest is initialised.
        self.rest.load(Acquire)
    }

    #[inline]
    pub(super) fn rest_or_new(&self, make: MakeRest) -> *const Rest {
        let rest = self.rest_ptr();
        if rest.is_null() {
            self.make_rest(make)
        } else {
            rest
        }
    }

    #[cold]
    #[inline(never)]
    fn make_rest(&self, make: MakeRest) -> *const Rest {
        let new = make.make();
        // Release: with `rest`: the new rest is initialised.
        // Acquire on failure: with the winner: its rest is initialised.
        let there = self
            .rest
            .compare_exchange(ptr::null_mut(), new, Release, Acquire);
        there.map_or_else(
            |there| {
                // SAFETY: made here, and no other thread has seen it.
                unsafe { Rest::free(new) };
                there
            },
            |_| new,
        )
    }

    /// Returns the participant of the calling thread, whose number is `number`. A thread that comes
    /// for the first time gets a participant.
    #[inline(always)]
    pub(super) fn participant(&self, number: usize, make: MakeRest) -> &Participant {
        match self.participants.at_home(number) {
            Some(participant) => participant,
            None => self.find_or_include(number, make),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_or_include(&self, number: usize, make: MakeRest) -> &Participant {
        match self.participants.find(number) {
            Some(participant) => participant,
            None => self.include(number, make),
        }
    }

    /// Returns the participant of the thread with this number, which is made if there is none.
    pub(super) fn include(&self, number: usize, make: MakeRest) -> &Participant {
        // SAFETY: the rest lasts as long as the domain.
        let rest = unsafe { &*self.rest_or_new(make) };
        self.participants.include(&rest.last, number)
    }

    /// D6: passes the visits of the threads that are inside to `each`.
    #[inline]
    pub(super) fn visits(&self, mut each: impl FnMut(Visit)) {
        self.participants.each(|participant| {
            // Acquire: with `leave`: a thread has finished all its reads when it clears its
            // participant.
            let visit = participant.visit.load(Acquire);
            if visit != OUTSIDE {
                each(Visit {
                    number: participant.number,
                    visit,
                });
            }
        });
    }

    /// Returns whether a visit lasts.
    #[inline]
    fn lasts(&self, visit: Visit) -> bool {
        // Acquire: with `leave`; the next visit of the thread comes after `leave`.
        let participant = self.participants.find(visit.number);
        participant.is_some_and(|participant| participant.visit.load(Acquire) == visit.visit)
    }

    /// Returns the sum of the threads' counts of counted entries, modulo 2^n.
    pub(super) fn entries(&self) -> usize {
        self.sum(|participant| &participant.entries)
    }

    /// Returns the sum of the threads' counts of entries that are [not
    /// counted](super::Entry::is_counted), modulo 2^n.
    pub(super) fn others(&self) -> usize {
        self.sum(|participant| &participant.others)
    }

    fn sum(&self, count: impl Fn(&Participant) -> &AtomicUsize) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|participant| sum = sum.wrapping_add(count(participant).load(Relaxed)));
        sum
    }

    /// D2: returns whether no thread inside may look at the objects unlinked by the caller: at
    /// once, or after a few looks. The caller is outside.
    #[inline]
    pub(super) fn is_unseen(&self) -> bool {
        let mut is_empty = true;
        self.visits(|_| is_empty = false);
        is_empty || self.is_soon_unseen()
    }

    /// Returns whether the visits that the caller sees end within [`LOOKS`] looks. False if there
    /// are more than [`WATCHED`] visits.
    #[cold]
    #[inline(never)]
    fn is_soon_unseen(&self) -> bool {
        let (mut visits, mut seen) = ([Visit::NONE; WATCHED], 0);
        self.visits(|visit| {
            if let Some(place) = visits.get_mut(seen) {
                *place = visit;
            }
            seen += 1;
        });
        visits
            .get(..seen)
            .is_some_and(|visits| self.end_soon(visits, LOOKS))
    }

    /// Returns whether all visits end within `most` looks. The caller does not wait twice in vain
    /// for the same visit: otherwise a thread that stays inside would cost each change `most`
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

    /// D3: returns whether a leaving thread has to look at the deferred list: because the thread is
    /// named, or because the named thread is outside. A named thread leaves without a barrier, and
    /// may have missed its name.
    ///
    /// All arguments are passed by value, so that a lookup keeps its guard in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn is_due(&self, named: usize, number: usize) -> bool {
        let is_outside = |participant: &Participant| {
            // Relaxed: deferred objects are destroyed only after another look, under the lock.
            participant.visit.load(Relaxed) == OUTSIDE
        };
        named == number || self.participants.find(named).is_some_and(is_outside)
    }

    /// D3: publishes which thread is named. The caller then reads the participant of that thread.
    fn set_named(&self, number: usize) {
        // Relaxed: the deferred list is read under the lock. If a thread misses its name, the next
        // leaving thread looks at the deferred list.
        self.named.store(number, Relaxed);
    }

    /// Returns the number of registrations that threads have counted, modulo 2^n. No thread is
    /// inside, and no thread will enter.
    pub(super) fn registered(&mut self) -> usize {
        let mut sum = 0_usize;
        self.participants
            .each(|participant| sum = sum.wrapping_add(participant.registered.get()));
        sum
    }

    /// Returns the number of the calling thread, if the thread is inside.
    pub(super) fn own_number_if_inside(&self) -> Option<usize> {
        // Held until the depth is read (D4): a borrowed number is given back when this value is
        // dropped.
        let number = ThreadNumber::current();
        let own = self.participants.find(number.get())?;
        (own.depth.get() != 0).then_some(number.get())
    }

    /// Adds objects to the deferred list, for a caller that may be inside: see
    /// [`to_deferred`](Self::to_deferred).
    #[cold]
    pub(super) fn defer(&self, all: Vec<Retired>) {
        let mut panics = FirstPanic::default();
        self.to_deferred(all, self.own_number_if_inside(), &mut panics);
        panics.resume();
    }

    /// Adds objects to the deferred list, because a thread inside may still look at them. `inside`:
    /// the number of the calling thread, if the thread is inside. (If the allocation fails and
    /// unwinds, the objects leak: no thread knows when they may be destroyed.)
    #[cold]
    #[inline(never)]
    pub(super) fn to_deferred(
        &self,
        all: Vec<Retired>,
        inside: Option<usize>,
        panics: &mut FirstPanic,
    ) {
        let unseen = self.known().deferred.add(
            all,
            |each| self.visits(each),
            |visit| self.lasts(visit),
            |number| self.set_named(number),
            inside,
        );
        unseen.for_each(|batch| self.destroy(batch, panics));
    }

    /// Destroys the deferred objects whose visits have ended.
    #[cold]
    #[inline(never)]
    pub(super) fn look_back(&self) {
        let mut panics = FirstPanic::default();
        let deferred = &self.known().deferred;
        let unseen =
            deferred.take_ended(|visit| self.lasts(visit), |number| self.set_named(number));
        unseen.for_each(|batch| self.destroy(batch, &mut panics));
        panics.resume();
    }

    /// Destroys all deferred and gathered objects: no thread is inside, and no thread will enter.
    pub(super) fn end(&mut self, panics: &mut FirstPanic) {
        let Some(rest) = self.rest() else { return };
        (rest.deferred.take_all()).for_each(|batch| self.destroy(batch, panics));
        self.bags(|bag| self.destroy(bag.end(), panics));
    }

    /// Destroys all objects, even if some destructors panic.
    #[inline]
    pub(super) fn destroy(&self, all: impl IntoIterator<Item = Retired>, panics: &mut FirstPanic) {
        let rest = self.rest_ptr();
        assert!(!rest.is_null(), "a thread has come");
        // SAFETY: the rest lasts as long as the domain.
        let context = unsafe { Rest::context_ptr(rest) };
        for retired in all {
            // SAFETY: D1, D2: no thread inside found the object before its unlinking, and no thread
            // can find it now. Or no thread is inside, and no thread will enter. The context is the
            // context of all objects of the table.
            panics.catch_inline(|| unsafe { retired.destroy(context) });
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // Relaxed: no other thread has access.
        let rest = self.rest.load(Relaxed);
        if !rest.is_null() {
            // SAFETY: made by `make_rest`, and no thread uses it any more.
            unsafe { Rest::free(rest) };
        }
    }
}
