//! A stripe of a shared queue: one stack of notices, which one thread at a time drains (S1).

use alloc::sync::Arc;
use core::ptr;

use crate::hash::HashValue;
use crate::ptr::{Atomic, Node, Notice, StackRef, WakerCell};
use crate::sync::{self, AtomicUsize, Ordering::*, UnsafeCell};

/// How many notices one call of [`Stripe::take`] takes at most.
const CHUNK: usize = 16;

/// A stack, and what every drain of it changes. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct Stripe {
    pub(super) stack: StackRef<Atomic>,
    /// What is left of the batch that was taken last (S1).
    batch: UnsafeCell<Node<Atomic>>,
    /// 1 while a thread takes notices out (S1).
    locked: AtomicUsize,
    /// Notices whose entries are unlinked (S2).
    reclaimed: AtomicUsize,
    /// How often its threads have polled it for something to drain.
    polls: AtomicUsize,
    /// 1 once the cell of a waker is attached to the stack. Written under the lock.
    has_waker: AtomicUsize,
}

/// The notice of a death, taken out by a drainer. [Complete](Self::complete) it when its entry is unlinked. A
/// notice that is lost is safe, but the queue is never idle again, which costs every lookup time.
pub(crate) struct SharedNotice<'a> {
    notice: Notice<Atomic>,
    stripe: &'a Stripe,
}

/// The notices that one call of [`Stripe::take`] took out. They are linked, and each is read before it is
/// reclaimed.
pub(crate) struct Taken<'a> {
    next: Node<Atomic>,
    left: usize,
    stripe: &'a Stripe,
}

impl<'a> Iterator for Taken<'a> {
    type Item = SharedNotice<'a>;

    #[inline]
    fn next(&mut self) -> Option<SharedNotice<'a>> {
        self.left = self.left.checked_sub(1)?;
        let notice = self.next.get()?;
        self.next = notice.below();
        let stripe = self.stripe;
        Some(SharedNotice { notice, stripe })
    }
}

/// Counts as a pending notice. See [`SharedQueue::keep_busy`](super::SharedQueue::keep_busy).
pub(crate) struct Busy<'a>(&'a Stripe);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        // Release: as for a reclamation, what was done meanwhile is done.
        self.0.reclaimed.fetch_add(1, Release);
    }
}

/// A drain of a stripe. When it ends, also by a panic, the waker is armed again if nothing is left: not before, since
/// what a drain destroys may kill the next key, which the same purge finds.
pub(crate) struct DrainGuard<'a>(&'a Stripe);

impl Drop for DrainGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.arm();
    }
}

/// The identity of a hook. It is compared and never dereferenced.
#[allow(unreachable_pub, reason = "1.85 does not see it behind `Watches`")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HookId(pub(super) *const ());

impl Stripe {
    pub(super) fn new() -> Stripe {
        Stripe {
            stack: StackRef::new(true),
            batch: UnsafeCell::new(Node::NONE),
            locked: AtomicUsize::new(0),
            reclaimed: AtomicUsize::new(0),
            polls: AtomicUsize::new(0),
            has_waker: AtomicUsize::new(0),
        }
    }

    /// Makes the stripe seem busy until the result is dropped.
    pub(super) fn keep_busy(&self) -> Busy<'_> {
        // Relaxed: a thread that must see this has seen a death that came after it. (The caller looks at the
        // object after this, under its gate, and does not find it dying; so the push, on whatever stripe,
        // comes after the count.)
        self.stack.count();
        // Relaxed: S4: reclaimed at the end, as a registration is by its notice.
        self.stack.get().registered.fetch_add(1, Relaxed);
        Busy(self)
    }

    /// Counts a poll by one of its threads.
    #[inline]
    pub(super) fn poll(&self) -> usize {
        // Relaxed: a hint; two threads of one stripe may count as one.
        let polls = self.polls.load(Relaxed).wrapping_add(1);
        self.polls.store(polls, Relaxed);
        polls
    }

    /// Notices whose entries may still be there.
    #[inline]
    pub(super) fn pending(&self) -> usize {
        let reclaimed = self.reclaimed();
        self.stack.pushed().wrapping_sub(reclaimed)
    }

    #[inline]
    fn reclaimed(&self) -> usize {
        // Acquire: S2, the release of each reclamation: its entry is unlinked for us, and its push counted.
        self.reclaimed.load(Acquire)
    }

    /// S4: registrations that have neither ended nor brought their notice. Exact while no other thread uses the
    /// stripe: hence Relaxed.
    pub(super) fn owed(&self) -> usize {
        let registered = self.stack.get().registered.load(Relaxed);
        registered.wrapping_sub(self.reclaimed.load(Relaxed))
    }

    /// To be called before [`take`](Self::take); the result is dropped when all that was taken is destroyed.
    #[inline]
    pub(crate) fn draining(&self) -> DrainGuard<'_> {
        DrainGuard(self)
    }

    /// If nothing is left, and there is a waker, the next notice wakes.
    #[inline]
    pub(super) fn arm(&self) {
        // Relaxed: a thread that has taken something after the cell was attached has synchronised with that by the
        // lock; before that, the attaching thread arms what is empty.
        if self.has_waker.load(Relaxed) != 0 {
            self.arm_locked();
        }
    }

    #[cold]
    #[inline(never)]
    fn arm_locked(&self) {
        self.lock(true);
        self.arm_if_empty();
        // Release: as in `take`.
        self.locked.store(0, Release);
    }

    /// S1: the caller has the lock.
    fn arm_if_empty(&self) {
        // SAFETY: S1.
        let batch = self.batch.with_mut(|batch| unsafe { *batch });
        if batch.is_none() {
            self.stack.arm();
        }
    }

    /// Attaches the cell of a waker, unless there is one. Returns the one that is attached.
    pub(super) fn attach(&self, cell: Arc<WakerCell>) -> Arc<WakerCell> {
        self.lock(true);
        let there = self.stack.waker().map(Arc::clone);
        if there.is_none() {
            // SAFETY: S1.
            unsafe { self.stack.attach(Arc::clone(&cell)) };
            self.has_waker.store(1, Relaxed);
            self.arm_if_empty();
        }
        // Release: as in `take`.
        self.locked.store(0, Release);
        there.unwrap_or(cell)
    }

    /// The cell of the waker, if one has been attached.
    pub(super) fn waker(&self) -> Option<Arc<WakerCell>> {
        self.lock(true);
        let waker = self.stack.waker().map(Arc::clone);
        // Release: as in `take`.
        self.locked.store(0, Release);
        waker
    }

    /// Takes some notices out. None if there are none or, unless `patient`, if another thread has the lock.
    #[inline]
    pub(crate) fn take(&self, patient: bool) -> Taken<'_> {
        let mut taken = Taken {
            next: Node::NONE,
            left: 0,
            stripe: self,
        };
        if self.lock(patient) {
            (taken.next, taken.left) = self.cut();
            // Release: what we did to the batch is visible to the next thread that locks.
            self.locked.store(0, Release);
        }
        taken
    }

    /// Cuts some notices off the batch: the first, and how many. S1: the caller has the lock.
    fn cut(&self) -> (Node<Atomic>, usize) {
        // SAFETY: S1.
        let batch = self.batch.with_mut(|batch| unsafe { &mut *batch });
        if batch.is_none() && !self.stack.is_empty() {
            *batch = self.stack.take();
        }
        let first = *batch;
        let mut count = 0;
        while let Some(notice) = batch.get().filter(|_| count < CHUNK) {
            *batch = notice.below();
            count += 1;
        }
        (first, count)
    }

    fn lock(&self, patient: bool) -> bool {
        let mut turn = 0;
        loop {
            // Acquire: the release of the thread that had the lock before.
            match self.locked.compare_exchange(0, 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(_) if patient => sync::relax(&mut turn),
                Err(_) => return false,
            }
        }
    }
}

impl Drop for Stripe {
    fn drop(&mut self) {
        loop {
            let taken = self.take(true);
            if taken.left == 0 {
                break;
            }
            for notice in taken {
                notice.complete();
            }
        }
        // SAFETY: S4; all entries are gone.
        unsafe { self.stack.close(self.owed()) };
    }
}

impl SharedNotice<'_> {
    /// The hash that was given to [`SharedWatch::new`](super::SharedWatch::new).
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        HashValue::of_short(self.notice.hash())
    }

    /// The hook of its registration.
    #[inline]
    pub(crate) fn hook(&self) -> HookId {
        match self.notice {
            Notice::Hook(hook) => HookId(hook.as_ptr().as_ptr()),
            // A registration of a shared collection is always a hook.
            Notice::Block(_) => HookId(ptr::null()),
        }
    }

    /// Completes the notice: its entry is unlinked, by this drainer or before. Frees the hook.
    #[inline]
    pub(crate) fn complete(self) {
        // SAFETY: N3: taken out; the watch is complete, or only compares the hook's address.
        unsafe { self.stripe.stack.finish(self.notice) };
        // Release: S2, for the next load of `reclaimed`: the entry is gone.
        self.stripe.reclaimed.fetch_add(1, Release);
    }
}
