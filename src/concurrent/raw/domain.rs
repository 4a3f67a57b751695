//! Which threads are inside a table, and when what they have unlinked is destroyed.
//!
//! Each thread has a *seat* at each table that it uses, on cache lines of its own. Who enters writes the
//! current *era* into the seat; who leaves wipes it.
//!
//! * **D1** Who enters writes the seat, and then looks at the table; who has unlinked something then looks
//!   at the seats. There is a StoreLoad barrier in each ([`store_load`]). So whom the unlinker does not see
//!   inside, does not find what was unlinked.
//! * **D2** If nobody is inside, what was unlinked is destroyed at once. Else the era ends. Who writes a later
//!   one has seen that end, and hence the unlinking. So only seats with that era or an earlier one hold it up.
//!   The unlinker looks a few times more, for most who are inside leave at once. If that does not help, what was
//!   unlinked goes to *limbo* with the number of an era that ends then.
//! * **D3** Who leaves wipes the seat, and then looks whether there is something in limbo that was put there
//!   while it was inside; who puts something there says so, and then looks at the seats. There is a StoreLoad
//!   barrier in each. So what is in limbo is destroyed by the last who leaves of those who hold it up: one of
//!   the two sees the other, and of several who leave at once the last under the lock sees all seats wiped.
//!   (Where nothing has a destructor, a reader leaves without the barrier: memory may wait until the next
//!   who leaves.)
//! * **D4** The plain fields of a seat are used by the one thread that has its number. A number goes from
//!   thread to thread by a lock.
//! * **D5** Destructors run outside: the seat is wiped before, no lock is held.
//!
//! (Eras: P. Ramalhete and A. Correia, "Brief Announcement: Hazard Eras", 2017; of which this keeps one for
//! each thread. The last one out destroys: R. Nikolaev and B. Ravindran, "Hyaline", 2019.)

use core::cell::Cell;
use core::hint;
use core::marker::PhantomData;
use std::collections::VecDeque;
use std::vec::Vec;

use super::retired::{FirstPanic, Retired};
use super::seats::{OUT, Seat, Seats, UNUSED};
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, const_fn, first_load, store_load};
use crate::thread::ThreadNumber;

/// From this on no era ends: what is retired waits for a moment when nobody is inside. (It is far below [`OUT`], for
/// several threads may end one at once.) A processor of 64 bits does not live to see it; one of 32 bits may, after two
/// billion ends.
const LAST_ERA: usize = OUT / 2;
/// How often who has unlinked something looks whether those inside have left, before it goes to limbo. Measured:
/// readers are inside for 20 ns, a look takes about as long; limbo costs both sides a lock and five cache misses.
#[cfg(not(weakly_loom))]
const LOOKS: usize = 8;
#[cfg(weakly_loom)]
const LOOKS: usize = 1;
/// Of so many reads of a thread one is to do something more.
const NTH: usize = 32;

/// The seats at a table, its limbo, and what is at hand when something is destroyed.
pub(super) struct Domain<C> {
    era: AtomicUsize,
    /// The era of the last that was put into limbo, plus one; zero if limbo is empty. Written under the lock.
    newest: AtomicUsize,
    seats: Seats,
    /// In the order of their eras.
    limbo: Apart<Mutex<Limbo<C>>>,
    context: C,
}

/// On cache lines of its own: those who enter read what else there is.
#[repr(align(128))]
struct Apart<T>(T);

type Limbo<C> = VecDeque<(usize, Retired<C>)>;

impl<C> Domain<C> {
    const_fn! {
        pub(super) fn new(context: C) -> Domain<C> {
            Domain {
                era: AtomicUsize::new(0),
                newest: AtomicUsize::new(0),
                seats: Seats::new(),
                limbo: Apart(Mutex::new(VecDeque::new())),
                context,
            }
        }
    }

    #[inline]
    pub(super) fn context(&self) -> &C {
        &self.context
    }

    /// Enters. `prompt`: what is destroyed by the last who leaves is destroyed there and then (D3).
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
        // Acquire: whoever has ended the era before this had unlinked what it put into limbo (D2). (By the
        // language, the fence that follows would do.)
        let since = self.era.load(Acquire);
        store_load(&seat.since, since);
        since
    }

    /// Inside already; or never before.
    #[cold]
    #[inline(never)]
    fn enter_again(&self, seat: &Seat, depth: usize, number: usize) -> usize {
        if depth != UNUSED {
            seat.depth.set(depth + 1);
            return OUT;
        }
        seat.depth.set(1);
        self.seats.include(number);
        self.sit_down(seat)
    }

    /// The oldest era in which somebody who is inside has entered, or [`OUT`].
    #[inline]
    fn oldest(&self) -> usize {
        let mut oldest = OUT;
        // Acquire: who has wiped a seat has looked at everything it was to look at.
        self.seats
            .each(|seat| oldest = oldest.min(seat.since.load(Acquire)));
        oldest
    }

    /// The sum of what threads have counted.
    pub(super) fn entries(&self) -> usize {
        let mut sum = 0_usize;
        self.seats
            .each(|seat| sum = sum.wrapping_add(seat.entries.load(Relaxed)));
        // What one thread has put in, and another has taken out, may be seen half.
        usize::try_from(sum as isize).unwrap_or(0)
    }

    /// D2: ends the era, and gives out its number.
    #[inline]
    fn end_era(&self) -> usize {
        // Relaxed: a bound that is far away.
        if first_load(0, || self.era.load(Relaxed)) >= LAST_ERA {
            return OUT - 1;
        }
        // Release: who enters in the next era, or a later one, does not find what we have unlinked. (That others end
        // eras in between does no harm: what they do to the number goes on from ours.)
        self.era.fetch_add(1, Release)
    }

    /// Somebody is inside who may look at what this thread, which is not, has unlinked. Whether all of them leave
    /// within some looks.
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
        // No code of a user runs under it, so a poisoned one is as good as another.
        let limbo = self.limbo.0.lock();
        limbo.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Somebody is inside who may look at these.
    #[cold]
    #[inline(never)]
    fn to_limbo(&self, all: impl Iterator<Item = Retired<C>>) {
        let mut limbo = self.limbo();
        // Under the lock, so that they are in the order of their eras.
        let era = self.end_era();
        limbo.extend(all.map(|retired| (era, retired)));
        // D3
        store_load(&self.newest, era + 1);
        self.destroy_some(limbo);
    }

    /// Destroys what is in limbo and held up by nobody.
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
            // Relaxed: who finds the old value looks in vain.
            self.newest.store(0, Relaxed);
        }
        drop(limbo);
        self.destroy(first.into_iter().chain(more).map(|(_, retired)| retired));
    }

    /// Destroys what is in limbo: nobody is inside any more, and nobody will be.
    pub(super) fn end(&mut self, panics: &mut FirstPanic) {
        let limbo = core::mem::take(&mut *self.limbo());
        for (_, retired) in limbo {
            // SAFETY: D1, and nobody is inside.
            panics.catch(|| unsafe { retired.destroy(&self.context) });
        }
    }

    /// Destroys all, also if some destructors panic.
    fn destroy(&self, all: impl IntoIterator<Item = Retired<C>>) {
        let mut panics = FirstPanic::default();
        for retired in all {
            // SAFETY: D1, D2: whoever is inside does not find it, nor did before it was unlinked.
            panics.catch(|| unsafe { retired.destroy(&self.context) });
        }
        panics.resume();
    }
}

/// Of a thread that is inside.
pub(super) struct Inside<'d, C> {
    domain: &'d Domain<C>,
    seat: &'d Seat,
    /// The era in which this has entered; [`OUT`] if its thread was inside before.
    since: usize,
    prompt: bool,
    /// Given back at the end, if it is borrowed: after everything else.
    #[allow(dead_code)]
    number: ThreadNumber,
}

impl<C> Inside<'_, C> {
    /// One entry more, or one less.
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
            store_load(&self.seat.since, OUT);
        } else {
            // Release: `oldest`.
            self.seat.since.store(OUT, Release);
        }
    }

    /// D3, after `leave`.
    #[inline]
    fn look_back(&self) {
        if self.since == OUT {
            return;
        }
        // Relaxed: after the barrier in `leave`. What it stands for is read under the lock.
        let newest = self.domain.newest.load(Relaxed);
        if newest != 0 && (!self.prompt || self.since < newest) {
            self.domain.destroy_unseen();
        }
    }
}

/// Who is inside to look.
pub(super) struct Reading<'d, C>(Inside<'d, C>);

impl<'d, C> Reading<'d, C> {
    #[inline]
    pub(super) fn new(domain: &'d Domain<C>, prompt: bool) -> Self {
        Reading(domain.enter(prompt))
    }
}

impl<C> Reading<'_, C> {
    /// Counts this read, and says whether it is the n-th.
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

/// Who is inside to change something. What it has unlinked is retired when it has left.
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

    /// Something has been unlinked, by this thread and no other.
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
        /// Also if what is destroyed panics.
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
        if domain.oldest() == OUT || out && domain.leave_soon() {
            domain.destroy(all);
        } else {
            // That looks at the seats too, after this thread has left.
            core::mem::forget(rest);
            domain.to_limbo(all);
        }
    }
}
