//! Reclamation: which threads are inside a table, and when what they have unlinked is destroyed.
//!
//! Each thread has a *seat* at each table that it uses, on cache lines of its own. A thread that enters writes the
//! current *era* into its seat; when it leaves, it wipes the seat.
//!
//! * **D1** A thread enters by writing its seat, and then reads the table. A thread that has unlinked something
//!   then reads the seats. A StoreLoad barrier stands between the two steps of each ([`store_load`]). So a thread
//!   that the unlinker does not see inside does not find what was unlinked.
//! * **D2** If no thread is inside, what was unlinked is destroyed at once. Otherwise the era ends. A thread that
//!   writes a later era has seen that end, and hence the unlinking. So only seats with that era or an earlier one
//!   delay it. The unlinker looks a few times more, since most threads inside leave at once. If that does not
//!   help, what was unlinked goes to *limbo*, with the number of an era that ends then.
//! * **D3** A thread leaves by wiping its seat, and then checks whether something was put into limbo while it was
//!   inside. A thread that puts something there publishes that, and then reads the seats. A StoreLoad barrier
//!   stands between the two steps of each. So what is in limbo is destroyed by the last of the threads that delay
//!   it: one of the two sees the other, and of several that leave at once the last under the lock sees all seats
//!   wiped. (Where nothing has a destructor, a reader leaves without the barrier: memory may wait until the next
//!   thread leaves.)
//! * **D4** The plain fields of a seat are used by the one thread that has its number. A number passes from thread
//!   to thread through a lock.
//! * **D5** Destructors run outside: the seat is wiped before, and no lock is taken.
//!
//! (Eras: P. Ramalhete and A. Correia, "Brief Announcement: Hazard Eras", 2017; of which this keeps one for each
//! thread. The last one out destroys: R. Nikolaev and B. Ravindran, "Hyaline", 2019.)

use core::cell::Cell;
use core::hint;
use core::marker::PhantomData;
use std::collections::VecDeque;
use std::vec::Vec;

use super::retired::Retired;
use super::seats::{OUTSIDE, Seat, Seats, UNUSED, assert_apart};
use crate::panics::FirstPanic;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, const_fn, first_load, store_load};
use crate::thread::ThreadNumber;

/// From here on no era ends: what is retired waits for a moment when no thread is inside. (It is far below
/// [`OUTSIDE`], since several threads may end an era at once.) A 64-bit processor never gets here; a 32-bit one may,
/// after two billion ends.
const LAST_ERA: usize = OUTSIDE / 2;
/// How often a thread that has unlinked something checks whether those inside have left, before it goes to limbo.
/// Measured: a reader is inside for 20 ns, and a check takes about as long; limbo costs both sides a lock and five
/// cache misses.
#[cfg(not(weakly_loom))]
const LOOKS: usize = 8;
#[cfg(weakly_loom)]
const LOOKS: usize = 1;
/// Every so many reads of a thread, one does extra work.
const NTH: usize = 32;

/// The seats at a table, its limbo, and the context of its destructors.
#[repr(C)]
pub(super) struct Domain<C> {
    era: AtomicUsize,
    /// The era of the newest object in limbo, plus one; zero if limbo is empty. Written under the lock.
    newest: AtomicUsize,
    seats: Seats,
    /// In the order of their eras.
    limbo: CachePadded<Mutex<Limbo<C>>>,
    context: C,
}

/// On cache lines of its own: threads that enter read the other fields.
#[repr(align(128))]
struct CachePadded<T>(T);

type Limbo<C> = VecDeque<(usize, Retired<C>)>;

impl<C> Domain<C> {
    const_fn! {
        pub(super) fn new(context: C) -> Domain<C> {
            assert_apart!(Domain<C>, era, newest, seats);
            Domain {
                era: AtomicUsize::new(0),
                newest: AtomicUsize::new(0),
                seats: Seats::new(),
                limbo: CachePadded(Mutex::new(VecDeque::new())),
                context,
            }
        }
    }

    #[inline]
    pub(super) fn context(&self) -> &C {
        &self.context
    }

    /// Enters. With `prompt`, the last thread to leave destroys what is retired then and there (D3).
    #[inline(always)]
    pub(super) fn enter(&self, prompt: bool) -> Inside<'_, C> {
        let number = ThreadNumber::current();
        let seat = self.seats.get(number.get());
        let depth = seat.depth.get();
        let since = if depth == 0 {
            seat.depth.set(1);
            self.sit_down(seat)
        } else {
            self.enter_again(seat, depth, number.get())
        };
        Inside {
            domain: self,
            seat,
            since,
            prompt,
            number,
        }
    }

    /// D1: the seat first, then the table.
    #[inline]
    fn sit_down(&self, seat: &Seat) -> usize {
        // Acquire: with `end_era`. The thread that ended the era before this one had unlinked what it put into
        // limbo (D2). (By the memory model, the fence that follows would suffice.)
        let since = self.era.load(Acquire);
        store_load(&seat.since, since);
        since
    }

    /// The thread is inside already, or has never been.
    #[cold]
    #[inline(never)]
    fn enter_again(&self, seat: &Seat, depth: usize, number: usize) -> usize {
        if depth != UNUSED {
            seat.depth.set(depth + 1);
            return OUTSIDE;
        }
        seat.depth.set(1);
        self.seats.include(number);
        self.sit_down(seat)
    }

    /// The oldest era in which a thread that is still inside has entered, or [`OUTSIDE`].
    #[inline]
    fn oldest(&self) -> usize {
        let mut oldest = OUTSIDE;
        // Acquire: with `leave`. A thread that has wiped its seat has finished all its reads.
        self.seats
            .each(|seat| oldest = oldest.min(seat.since.load(Acquire)));
        oldest
    }

    /// The sum of the threads' counts.
    pub(super) fn entries(&self) -> usize {
        let mut sum = 0_usize;
        self.seats
            .each(|seat| sum = sum.wrapping_add(seat.entries.load(Relaxed)));
        // Of an entry inserted by one thread and removed by another, the sum may include only the removal.
        usize::try_from(sum as isize).unwrap_or(0)
    }

    /// D2: ends the era, and returns its number.
    #[inline]
    fn end_era(&self) -> usize {
        // Relaxed: a bound that is far away.
        if first_load(0, || self.era.load(Relaxed)) >= LAST_ERA {
            return OUTSIDE - 1;
        }
        // Release: with `sit_down`. A thread that enters in a later era does not find what we have unlinked.
        // (Other threads may end eras in between: their changes of the number continue the release sequence of
        // ours.)
        self.era.fetch_add(1, Release)
    }

    /// Another thread is inside, and may look at what this one, which is not inside, has unlinked. Returns whether
    /// all such threads leave within a few looks.
    #[cold]
    #[inline(never)]
    fn leave_soon(&self) -> bool {
        let era = self.end_era();
        (0..LOOKS).any(|_| {
            hint::spin_loop();
            self.oldest() > era
        })
    }

    fn limbo(&self) -> MutexGuard<'_, Limbo<C>> {
        // No user code runs under this lock, so poisoning means nothing.
        let limbo = self.limbo.0.lock();
        limbo.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Puts into limbo what a thread inside may still look at.
    #[cold]
    #[inline(never)]
    fn to_limbo(&self, all: impl Iterator<Item = Retired<C>>) {
        let mut limbo = self.limbo();
        // Under the lock, so that limbo is in the order of eras.
        let era = self.end_era();
        limbo.extend(all.map(|retired| (era, retired)));
        // D3
        store_load(&self.newest, era + 1);
        self.destroy_some(limbo);
    }

    /// Destroys what is in limbo and no longer delayed by any thread.
    #[cold]
    #[inline(never)]
    fn destroy_unseen(&self) {
        let limbo = self.limbo();
        self.destroy_some(limbo);
    }

    fn destroy_some(&self, mut limbo: MutexGuard<'_, Limbo<C>>) {
        let oldest = self.oldest();
        let mut unseen = || {
            limbo.front().filter(|(era, _)| *era < oldest)?;
            limbo.pop_front()
        };
        let first = unseen();
        let more: Vec<_> = core::iter::from_fn(unseen).collect();
        if limbo.is_empty() {
            // Relaxed: a thread that reads the old value looks in vain.
            self.newest.store(0, Relaxed);
        }
        drop(limbo);
        self.destroy(first.into_iter().chain(more).map(|(_, retired)| retired));
    }

    /// Destroys what is in limbo: no thread is inside, and none will be.
    pub(super) fn end(&mut self, panics: &mut FirstPanic) {
        let limbo = core::mem::take(&mut *self.limbo());
        for (_, retired) in limbo {
            // SAFETY: D1, and no thread is inside.
            panics.catch(|| unsafe { retired.destroy(&self.context) });
        }
    }

    /// Destroys all of them, even if some destructors panic.
    fn destroy(&self, all: impl IntoIterator<Item = Retired<C>>) {
        let mut panics = FirstPanic::default();
        for retired in all {
            // SAFETY: D1, D2: a thread inside does not find it, and has not found it before it was unlinked.
            panics.catch(|| unsafe { retired.destroy(&self.context) });
        }
        panics.resume();
    }
}

/// A thread that is inside.
pub(super) struct Inside<'d, C> {
    domain: &'d Domain<C>,
    seat: &'d Seat,
    /// The era in which this guard entered; [`OUTSIDE`] if its thread was inside before.
    since: usize,
    prompt: bool,
    /// Dropped after everything else: a borrowed number goes back then.
    #[allow(dead_code)]
    number: ThreadNumber,
}

impl<C> Inside<'_, C> {
    /// Counts entries inserted or, if negative, removed.
    #[inline]
    pub(super) fn count(&self, by: isize) {
        let entries = &self.seat.entries;
        // Relaxed: D4, no other thread writes it; a sum is a moment's answer.
        let now = entries.load(Relaxed).wrapping_add_signed(by);
        entries.store(now, Relaxed);
    }

    /// Leaves: from here on nothing of the table may be looked at. `barrier`: whether something was unlinked.
    #[inline]
    fn leave(&self, barrier: bool) {
        let depth = self.seat.depth.get() - 1;
        self.seat.depth.set(depth);
        if depth != 0 {
            return;
        }
        if barrier || self.prompt {
            // D3; and D1, for what this thread has unlinked.
            store_load(&self.seat.since, OUTSIDE);
        } else {
            // Release: with `oldest`.
            self.seat.since.store(OUTSIDE, Release);
        }
    }

    /// D3, after `leave`.
    #[inline]
    fn look_back(&self) {
        if self.since == OUTSIDE {
            return;
        }
        // Relaxed: after the barrier in `leave`. What it stands for is read under the lock.
        let newest = self.domain.newest.load(Relaxed);
        if newest != 0 && (!self.prompt || self.since < newest) {
            self.domain.destroy_unseen();
        }
    }
}

/// A guard of a thread that is inside to read.
pub(super) struct Reading<'d, C>(Inside<'d, C>);

impl<'d, C> Reading<'d, C> {
    #[inline]
    pub(super) fn new(domain: &'d Domain<C>, prompt: bool) -> Self {
        Reading(domain.enter(prompt))
    }
}

impl<C> Reading<'_, C> {
    /// Counts this read, and returns whether it is the n-th.
    #[inline]
    pub(super) fn is_nth(&self) -> bool {
        let reads = &self.0.seat.reads;
        let now = reads.get().wrapping_add(1);
        reads.set(now);
        now % NTH == 0
    }
}

impl<C> Drop for Reading<'_, C> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave(false);
        self.0.look_back();
    }
}

/// A guard of a thread that is inside to write. What it has unlinked is retired when it has left.
pub(super) struct Writing<'d, C> {
    inside: Inside<'d, C>,
    first: Cell<Option<Retired<C>>>,
    more: Cell<Vec<Retired<C>>>,
    here: PhantomData<*mut ()>,
}

impl<'d, C> Writing<'d, C> {
    #[inline]
    pub(super) fn new(domain: &'d Domain<C>, prompt: bool) -> Self {
        Writing {
            inside: domain.enter(prompt),
            first: Cell::new(None),
            more: Cell::new(Vec::new()),
            here: PhantomData,
        }
    }

    #[inline]
    pub(super) fn count(&self, by: isize) {
        self.inside.count(by);
    }

    /// Takes what this thread, and no other, has unlinked.
    #[inline]
    pub(super) fn retire(&self, retired: Retired<C>) {
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

impl<C> Drop for Writing<'_, C> {
    #[inline]
    fn drop(&mut self) {
        /// Looks back even if a destructor panics.
        struct Rest<'a, 'd, C>(&'a Inside<'d, C>);
        impl<C> Drop for Rest<'_, '_, C> {
            #[inline]
            fn drop(&mut self) {
                self.0.look_back();
            }
        }
        let first = self.first.take();
        self.inside.leave(first.is_some());
        let rest = Rest(&self.inside);
        let Some(first) = first else { return };
        // D2. After the barrier in `leave`; if this thread is still inside, it sees itself.
        let all = core::iter::once(first).chain(self.more.take());
        let domain = self.inside.domain;
        let out = self.inside.seat.depth.get() == 0;
        if domain.oldest() == OUTSIDE || out && domain.leave_soon() {
            domain.destroy(all);
        } else {
            // `to_limbo` reads the seats too, after this thread has left.
            core::mem::forget(rest);
            domain.to_limbo(all);
        }
    }
}
