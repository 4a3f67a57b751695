//! The shared queue: the stripes, and which of them a thread uses.

use alloc::sync::Arc;
use core::ptr;
use core::task::Waker;
use std::boxed::Box;

use super::stripe::{Busy, SharedNotice, Stripe};
use crate::ptr::WakerCell;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering::*, const_fn, first_load};
use crate::thread::ThreadNumber;

/// Threads whose numbers are equal modulo this share a stripe.
#[cfg(not(weakly_loom))]
const STRIPES: usize = 8;
#[cfg(weakly_loom)]
const STRIPES: usize = 2;
/// One in so many drains of a thread begins with the stripes of other threads.
const FOREIGN_INTERVAL: usize = 16;

/// The collection's end of the stacks, which any thread may drain.
pub struct SharedQueue {
    /// Null until a thread registers with the stripe, or keeps it busy (S5).
    stripes: [AtomicPtr<Stripe>; STRIPES],
    /// Notices, here or on their way, whose entries are gone.
    pub(super) late: AtomicUsize,
}

// SAFETY: S1; the counters are atomics; whether a collection may be shared follows from its keys and values.
unsafe impl Send for SharedQueue {}
// SAFETY: likewise.
unsafe impl Sync for SharedQueue {}

impl SharedQueue {
    const_fn! {
        pub(crate) fn new() -> SharedQueue {
            SharedQueue {
                #[cfg(not(weakly_loom))]
                stripes: [const { AtomicPtr::new(ptr::null_mut()) }; STRIPES],
                #[cfg(weakly_loom)]
                stripes: [AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut())],
                late: AtomicUsize::new(0),
            }
        }
    }

    /// A stripe, if it is allocated.
    #[inline]
    fn stripe(&self, at: usize) -> Option<&Stripe> {
        // Acquire: the release in `allocate`: the stripe is initialised.
        // SAFETY: it lasts as long as the queue.
        unsafe { self.stripes[at].load(Acquire).as_ref() }
    }

    #[inline]
    pub(super) fn stripes(&self) -> impl Iterator<Item = &Stripe> {
        (0..STRIPES).filter_map(|at| self.stripe(at))
    }

    /// The index of this thread's stripe.
    #[inline]
    fn own() -> usize {
        ThreadNumber::current().get() % STRIPES
    }

    /// This thread's stripe, allocated if need be.
    #[inline]
    pub(super) fn own_or_new(&self) -> &Stripe {
        self.stripe_or_new(Self::own())
    }

    #[inline]
    fn stripe_or_new(&self, at: usize) -> &Stripe {
        first_load(None, || self.stripe(at)).unwrap_or_else(|| self.allocate(at))
    }

    #[cold]
    #[inline(never)]
    fn allocate(&self, at: usize) -> &Stripe {
        let new = Box::new(Stripe::new());
        let new = Box::into_raw(new);
        // Release: a thread that loads it finds it initialised. Acquire on failure: likewise, the winner's.
        match self.stripes[at].compare_exchange(ptr::null_mut(), new, Release, Acquire) {
            // SAFETY: it lasts as long as the queue.
            Ok(_) => unsafe { &*new },
            // SAFETY: no other thread has seen ours; the winner's lasts as long as the queue.
            Err(there) => unsafe {
                drop(Box::from_raw(new));
                &*there
            },
        }
    }

    /// Notices whose entries may still be there.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.stripes().map(Stripe::pending).sum()
    }

    /// Whether every entry that is found after this call is of an object that has not died before it. See S2.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.stripes().all(|stripe| stripe.pending() == 0)
    }

    /// Entries with a notice pending. Exact while no thread changes the map.
    pub(crate) fn notified(&self) -> usize {
        // A late notice may be counted off before it is counted.
        let notified = self.pending().wrapping_sub(self.late.load(Relaxed));
        if notified > isize::MAX as usize {
            return 0;
        }
        notified
    }

    /// Makes the queue seem busy until the result is dropped: a thread that finds an entry meanwhile asks it
    /// whether it is live.
    pub(crate) fn keep_busy(&self) -> Busy<'_> {
        self.own_or_new().keep_busy()
    }

    /// A stripe with pending notices: this thread's own, if it has some. Every
    /// [`FOREIGN_INTERVAL`]th time another stripe comes first, so no death waits for the thread that
    /// registered the object.
    #[inline]
    pub(crate) fn due(&self) -> Option<&Stripe> {
        let own = Self::own();
        let rounds = match self.stripe(own) {
            Some(stripe) => {
                let polls = stripe.poll();
                if polls % FOREIGN_INTERVAL != 0 && stripe.pending() != 0 {
                    return Some(stripe);
                }
                polls / FOREIGN_INTERVAL
            }
            None => 0,
        };
        self.due_from(own + 1 + rounds)
    }

    /// Any stripe with pending notices; the search begins at `first`.
    #[inline(never)]
    pub(crate) fn due_from(&self, first: usize) -> Option<&Stripe> {
        (first..first + STRIPES)
            .filter_map(|at| self.stripe(at % STRIPES))
            .find(|stripe| stripe.pending() != 0)
    }

    /// Sets or removes the waker. The first time, allocates all stripes, so that none is without it later.
    pub(crate) fn set_waker(&self, waker: Option<Waker>) {
        let cell = match waker {
            None => self.waker(),
            Some(_) => Some(self.stripe_or_new(0).attach(WakerCell::new())),
        };
        let Some(cell) = cell else { return };
        if waker.is_some() {
            // Another thread that has come first may not have got to all.
            for at in 1..STRIPES {
                self.stripe_or_new(at).attach(Arc::clone(&cell));
            }
        }
        drop(cell.replace(waker.map(Arc::new)));
    }

    fn waker(&self) -> Option<Arc<WakerCell>> {
        self.stripe(0)?.waker()
    }

    /// At the end of a purge: arms all stripes on which nothing is left. (Another thread, which has drained the last
    /// notice, may not have come to that.) If the queue is idle after that, the next death wakes.
    pub(crate) fn arm(&self) {
        self.stripes().for_each(Stripe::arm);
    }

    /// Completes a late notice: its entry was gone.
    #[inline]
    pub(crate) fn complete_late(&self, notice: SharedNotice<'_>) {
        self.late.fetch_sub(1, Relaxed);
        notice.complete();
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        // The waker first, as W5 wants it; dropped at the end, for that may panic.
        let _waker = self.waker().and_then(|cell| cell.replace(None));
        for stripe in &self.stripes {
            // Relaxed: no other thread is left.
            let stripe = stripe.load(Relaxed);
            if !stripe.is_null() {
                // SAFETY: allocated by `allocate`.
                drop(unsafe { Box::from_raw(stripe) });
            }
        }
    }
}
