//! The waker of a collection, which is called when something becomes pending.
//!
//! A collection has one *cell* with its waker, and a stack or two. (One that threads share has a
//! flag in the place of W1 and W2: see `shared`.)
//!
//! * **W1** A stack with a cell is *armed* when nothing is pending on it: a mark is in place of its
//!   top. The compare-exchange that links a notice replaces the mark, so one pusher knows that its
//!   notice is the first. It has taken a share in the cell before, since afterwards the stack may
//!   be gone (N2). Without a cell there is no mark, and a death costs nothing more.
//! * **W2** `busy` counts the stacks that are not armed. The pusher counts its stack *after* the
//!   push, the owner counts it off *before* it arms it. The thread that takes the count from zero
//!   to one owes a wake-up. So does one that finds less than zero: then a pusher that is late was
//!   counted off before it has counted. That one takes the count to one, but may make its wake-up
//!   long after that (W3).
//! * **W3** Wake-ups are made at the end of a death, which may be long after the push: finalizers
//!   run before. So no thread leaves its own to another. It has the cells that it owes one in a
//!   list until then; `linked` is not zero while a cell is in some thread's list, to which `next`
//!   belongs. A thread that finds it in another's keeps it apart.
//! * **W4** The waker is in an `Arc` of ours: under the lock it is only counted. All code of a
//!   user, which includes the clone and the drop of a `Waker`, runs under no lock.
//! * **W5** The end of a collection takes the waker out first. So the end of a cell, on whatever
//!   thread, runs no code of a user.
//!
//! No wake-up is lost: if something is pending when all pushers have returned, the count is above
//! zero. The last change from zero to one was a pusher's, which then woke. Stacks that were counted
//! before it were pushed on before that wake-up. One that was counted later was not yet armed
//! again, or the owner, who counted another off after that, has seen that count, and so the push:
//! the purge that follows a wake-up looks at all stacks after it has armed the last, and ends only
//! if nothing is pending.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::{self, ManuallyDrop};
use core::task::Waker;

use crate::sync::{self, AtomicUsize, Critical, Ordering::*, UnsafeCell};

/// The waker of a collection, if it has one. Shared by the stacks of the collection.
#[allow(unreachable_pub, reason = "1.85 does not see it behind `NoticeQueue`")]
#[derive(Debug)]
pub struct WakerCell {
    /// W2
    busy: AtomicUsize,
    /// W3
    linked: AtomicUsize,
    /// W3
    next: UnsafeCell<Option<Arc<WakerCell>>>,
    /// 1 while a thread uses the waker (W4).
    locked: AtomicUsize,
    waker: UnsafeCell<Option<Arc<Waker>>>,
}

// SAFETY: W3, W4: one thread at a time uses a cell inside; what is in there may cross threads.
unsafe impl Send for WakerCell {}
// SAFETY: likewise.
unsafe impl Sync for WakerCell {}

impl WakerCell {
    /// For stacks that are yet to be attached.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(WakerCell {
            busy: AtomicUsize::new(0),
            linked: AtomicUsize::new(0),
            next: UnsafeCell::new(None),
            locked: AtomicUsize::new(0),
            waker: UnsafeCell::new(None),
        })
    }

    /// Replaces the waker. The caller drops the result, under no lock.
    pub(crate) fn replace(&self, waker: Option<Arc<Waker>>) -> Option<Arc<Waker>> {
        self.lock(|place| mem::replace(place, waker))
    }

    /// Makes this the waker, unless the one that is there wakes the same task.
    pub(crate) fn renew(&self, waker: &Waker) {
        // (That compares two pointers, and runs no code of a user. If a death has found the one
        // that is there before this, its notice is seen, as by `replace`.)
        let is_known = |there: &mut Option<Arc<Waker>>| {
            (there.as_ref()).is_some_and(|there| there.will_wake(waker))
        };
        if !self.lock(is_known) {
            drop(self.replace(Some(Arc::new(waker.clone()))));
        }
    }

    fn lock<R>(&self, use_it: impl FnOnce(&mut Option<Arc<Waker>>) -> R) -> R {
        let mut turn = 0;
        // Acquire: the release of the thread that had the lock before.
        while self
            .locked
            .compare_exchange(0, 1, Acquire, Relaxed)
            .is_err()
        {
            sync::relax(&mut turn);
        }
        let _critical = Critical::enter();
        // SAFETY: W4, we have the lock.
        let result = self.waker.with_mut(|waker| use_it(unsafe { &mut *waker }));
        // Release: the next thread sees what we did. And the push of a thread that looked for a
        // waker: if it found the one that was replaced after that, the replacing thread sees its
        // notice.
        self.locked.store(0, Release);
        result
    }

    /// Counts a stack that is not armed. Returns whether it is the only one, but for those that are
    /// counted off already.
    ///
    /// AcqRel: of two pushes, the one that is counted first is seen by the thread that counts after
    /// it: W2.
    #[inline]
    pub(super) fn count(&self) -> bool {
        self.busy.fetch_add(1, AcqRel) as isize <= 0
    }

    /// Counts a stack off, which is about to be armed. AcqRel: the owner sees the pushes on other
    /// stacks that were counted before.
    #[inline]
    pub(super) fn count_off(&self) {
        self.busy.fetch_sub(1, AcqRel);
    }

    /// Calls the waker, if there is one. Under no lock (W4).
    pub(crate) fn wake(&self) {
        let waker = self.lock(|waker| waker.clone());
        if let Some(waker) = waker {
            waker.wake_by_ref();
        }
    }
}

impl Drop for WakerCell {
    fn drop(&mut self) {
        // (Locked for loom alone, which does not see what an `Arc` orders.)
        debug_assert!(
            self.lock(|waker| waker.is_none()),
            "W5: the collection ends first"
        );
    }
}

/// What a push has left to be done, or freed, under no lock.
pub(super) enum Pushed<S> {
    /// The notice is the first on an armed stack of this cell.
    First(Arc<WakerCell>),
    /// A share in a cell, which may be the last.
    Share(Arc<WakerCell>),
    /// N2 of `stack`: the end of the stack.
    Last(S),
}

/// The wake-ups that a death owes. Dropped when everything else of the death has happened, under no
/// lock: that makes them.
#[derive(Debug)]
pub(super) struct Wakes {
    // Both are empty in the end; without `ManuallyDrop` the drop would be a call.
    list: ManuallyDrop<Option<Arc<WakerCell>>>,
    /// Those that were in the list of another thread (W3).
    apart: ManuallyDrop<Vec<Arc<WakerCell>>>,
}

impl Wakes {
    pub(super) const NONE: Self = Wakes {
        list: ManuallyDrop::new(None),
        apart: ManuallyDrop::new(Vec::new()),
    };

    /// A notice has been pushed. Returns what is [left](Self::finish).
    #[cold]
    pub(super) fn add<S>(&mut self, pushed: Pushed<S>) -> Option<Pushed<S>> {
        match pushed {
            Pushed::First(cell) if cell.count() => self.link(cell).map(Pushed::First),
            Pushed::First(cell) => Some(Pushed::Share(cell)),
            other => Some(other),
        }
    }

    /// Keeps a cell apart, or frees what a push has left. Under no lock.
    #[cold]
    pub(super) fn finish<S>(&mut self, left: Pushed<S>) {
        match left {
            Pushed::First(cell) => self.apart.push(cell),
            Pushed::Share(cell) => drop(cell),
            Pushed::Last(stack) => drop(stack),
        }
    }

    /// A wake-up is owed for the death of an entry that it has unlinked. Under no lock.
    #[cold]
    pub(super) fn owe(&mut self, cell: Arc<WakerCell>) {
        if let Some(apart) = self.link(cell) {
            self.apart.push(apart);
        }
    }

    /// Puts the cell into the list, or returns it, if it is in another thread's.
    fn link(&mut self, cell: Arc<WakerCell>) -> Option<Arc<WakerCell>> {
        // Acquire: the release of the thread that has taken it out of its list: `next` is ours.
        if cell.linked.swap(1, Acquire) != 0 {
            return Some(cell);
        }
        // SAFETY: W3.
        cell.next
            .with_mut(|next| unsafe { *next = self.list.take() });
        *self.list = Some(cell);
        None
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self) {
        /// Something is left only after a panic. (A second panic while it unwinds aborts.)
        struct Rest<'a>(&'a mut Wakes);
        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                self.0.make_all();
            }
        }
        Rest(self).0.make_all();
    }

    fn make_all(&mut self) {
        while let Some(cell) = self.list.take() {
            // SAFETY: W3.
            *self.list = cell.next.with_mut(|next| unsafe { (*next).take() });
            // Release: the thread that links it next uses `next` after us.
            cell.linked.store(0, Release);
            cell.wake();
        }
        while let Some(cell) = self.apart.pop() {
            cell.wake();
        }
        // Frees the memory.
        *self.apart = Vec::new();
    }
}

impl Drop for Wakes {
    #[inline(always)]
    fn drop(&mut self) {
        if self.list.is_some() || !self.apart.is_empty() {
            self.make();
        }
    }
}
