//! The waker of a collection, which is called when a notice becomes pending.
//!
//! A collection has one *cell* with its waker, and one or two stacks. (A collection that threads
//! share has a flag in the place of W1 and W2: see `shared`.)
//!
//! * **W1** A stack with a cell is *armed* when nothing is pending on it: a mark is in place of its
//!   top. The compare-exchange that links a notice replaces the mark, so one pusher knows that its
//!   notice is the first. The pusher has taken a share in the cell before the push, since after the
//!   push the stack may be freed (N2). Without a cell there is no mark, and a death costs nothing
//!   more.
//! * **W2** `busy` counts the stacks that are not armed. A pusher counts its stack *after* the
//!   push; the owner counts a stack off *before* it arms the stack. A thread that takes the count
//!   from zero to one owes a wake-up. A thread that finds a count below zero owes a wake-up, too:
//!   then the stack of a late pusher was counted off before the pusher has counted it. The late
//!   pusher takes the count to one, but may make its wake-up long after that (W3).
//! * **W3** Wake-ups are made at the end of a death, which may be long after the push, since
//!   finalizers run before. So no thread leaves its wake-up to another thread. Until the end of the
//!   death, the dying thread has a list of the cells to which it owes a wake-up. `linked` is not
//!   zero while a cell is in some thread's list, and `next` belongs to the thread with the list. A
//!   thread that finds a cell in another thread's list keeps the cell apart, or calls the waker at
//!   once if there is no memory for that.
//! * **W4** The waker is in an `Arc` of ours: under the lock the `Arc` is only counted. All user
//!   code, including the clone and the drop of a `Waker`, runs under no lock.
//! * **W5** The end of a collection takes the waker out first. So the end of a cell, on whatever
//!   thread, runs no user code.
//!
//! No wake-up is lost: if a notice is pending when all pushers have returned, the count is above
//! zero. The last change from zero to one was made by a pusher, which then woke, or by an owner
//! whose arming failed (`arm`): then the earlier wake-up is still unanswered. (Or by an owner who
//! attaches the cell, and looks for notices afterwards.) Stacks counted before a pusher's change
//! were pushed on before the wake-up. Consider a stack counted later. Either the stack was not yet
//! armed again, or the owner, who counted another stack off afterwards, has seen the count, and so
//! the push: the purge that follows a wake-up looks at all stacks after it has armed the last, and
//! ends only if nothing is pending.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::{self, ManuallyDrop};
use core::task::Waker;

use crate::panics::{FirstPanic, apart};
use crate::sync::{self, AtomicUsize, Critical, Ordering::*, UnsafeCell};

/// The waker of a collection, if a waker is set. The stacks of the collection share the cell.
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

// SAFETY: W3, W4: one thread at a time uses the fields inside; both types may cross threads.
unsafe impl Send for WakerCell {}
// SAFETY: as for `Send`.
unsafe impl Sync for WakerCell {}

impl WakerCell {
    /// Creates a cell for stacks that are yet to be attached.
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

    /// Makes this the waker, unless the present waker wakes the same task.
    pub(crate) fn renew(&self, waker: &Waker) {
        // (`will_wake` compares two pointers, and runs no user code. If a death has found the
        // present waker before this call, the death's notice is seen, as by `replace`.)
        let is_known = |there: &mut Option<Arc<Waker>>| {
            (there.as_ref()).is_some_and(|there| there.will_wake(waker))
        };
        if !self.lock(is_known) {
            drop(self.replace(Some(Arc::new(waker.clone()))));
        }
    }

    /// Uses the place of the waker under the lock. The closure is ours: it moves, counts or
    /// compares the `Arc`, frees nothing, and does not panic (W4).
    fn lock<R>(&self, use_place: impl FnOnce(&mut Option<Arc<Waker>>) -> R) -> R {
        let mut turn = 0;
        // Acquire: the Release of the thread that had the lock before.
        while self
            .locked
            .compare_exchange(0, 1, Acquire, Relaxed)
            .is_err()
        {
            sync::relax(&mut turn);
        }
        let _critical = Critical::enter();
        // SAFETY: W4, we have the lock.
        let result = self
            .waker
            .with_mut(|waker| use_place(unsafe { &mut *waker }));
        // Release: the next thread sees our changes. It also passes on the push of a thread that
        // looked for a waker: if the thread found the old waker, the thread that replaces the waker
        // later sees the notice.
        self.locked.store(0, Release);
        result
    }

    /// Counts a stack that is not armed. Returns whether the stack is the only one, except those
    /// that are counted off already.
    ///
    /// AcqRel: of two pushes, the push that is counted first is seen by the thread that counts
    /// second: W2.
    #[inline]
    pub(super) fn count(&self) -> bool {
        self.busy.fetch_add(1, AcqRel) as isize <= 0
    }

    /// Counts a stack off, which is about to be armed.
    /// AcqRel: the owner sees the pushes on other stacks that were counted before.
    #[inline]
    pub(super) fn count_off(&self) {
        self.busy.fetch_sub(1, AcqRel);
    }

    /// Returns the waker, if there is one.
    pub(super) fn get(&self) -> Option<Arc<Waker>> {
        self.lock(|waker| waker.clone())
    }

    /// Calls the waker, if there is one. Under no lock (W4).
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.get() {
            apart(|| waker.wake_by_ref());
        }
    }
}

impl Drop for WakerCell {
    fn drop(&mut self) {
        // (Locked only for loom, which does not see the ordering by an `Arc`.)
        debug_assert!(
            self.lock(|waker| waker.is_none()),
            "W5: the collection ends first"
        );
    }
}

/// The work that a push has left, to be done or freed under no lock.
pub(super) enum Pushed<S> {
    /// The notice is the first on an armed stack of this cell.
    First(Arc<WakerCell>),
    /// A share in a cell, which may be the last.
    Share(Arc<WakerCell>),
    /// N2 of `stack`: the end of the stack.
    Last(S),
}

/// The wake-ups that a death owes. The drop makes the wake-ups, under no lock, when everything else
/// of the death has happened.
#[derive(Debug)]
pub(crate) struct Wakes {
    // Both are empty in the end; without `ManuallyDrop` the drop would be a call.
    /// The newest cell in the list of this thread (W3).
    list: ManuallyDrop<Option<Arc<WakerCell>>>,
    /// The cells that were in the list of another thread (W3).
    apart: ManuallyDrop<Vec<Arc<WakerCell>>>,
}

impl Wakes {
    pub(crate) const NONE: Self = Wakes {
        list: ManuallyDrop::new(None),
        apart: ManuallyDrop::new(Vec::new()),
    };

    /// Adds the wake-up of a pushed notice, if the push owes one. Returns the rest, for
    /// [`finish`](Self::finish).
    #[cold]
    pub(super) fn add<S>(&mut self, pushed: Pushed<S>) -> Option<Pushed<S>> {
        match pushed {
            Pushed::First(cell) if cell.count() => self.link(cell).map(Pushed::First),
            Pushed::First(cell) => Some(Pushed::Share(cell)),
            other => Some(other),
        }
    }

    /// Keeps a cell apart, or frees the rest of a push. Under no lock.
    #[cold]
    pub(super) fn finish<S>(&mut self, left: Pushed<S>) {
        match left {
            Pushed::First(cell) => self.keep_apart(cell),
            Pushed::Share(cell) => drop(cell),
            Pushed::Last(stack) => drop(stack),
        }
    }

    /// Adds a wake-up that is owed since the death has unlinked an entry. Under no lock.
    #[cold]
    pub(super) fn owe(&mut self, cell: Arc<WakerCell>) {
        if let Some(apart) = self.link(cell) {
            self.keep_apart(apart);
        }
    }

    /// Keeps a cell apart. Without memory for the cell, calls its waker at once: the entry or
    /// notice has come by now, and only the finalizers have not run. A panic of the waker is
    /// dropped then, since the death has to go on.
    fn keep_apart(&mut self, cell: Arc<WakerCell>) {
        if self.apart.try_reserve(1).is_ok() {
            self.apart.push(cell);
        } else {
            let mut panics = FirstPanic::default();
            panics.catch(|| cell.wake());
            panics.forget();
        }
    }

    /// Puts the cell into the list, or returns the cell, if it is in another thread's list.
    fn link(&mut self, cell: Arc<WakerCell>) -> Option<Arc<WakerCell>> {
        // Acquire: the Release of the thread that has taken the cell out of its list: `next` is
        // ours.
        if cell.linked.swap(1, Acquire) != 0 {
            return Some(cell);
        }
        // SAFETY: W3.
        cell.next
            .with_mut(|next| unsafe { *next = self.list.take() });
        *self.list = Some(cell);
        None
    }

    /// Makes the wake-ups. If a waker panics, the other wakers are still called.
    #[cold]
    #[inline(never)]
    fn make(&mut self) {
        /// Cells are left only after a panic. (A second panic while the first unwinds aborts.)
        struct RemainingCells<'a>(&'a mut Wakes);
        impl Drop for RemainingCells<'_> {
            fn drop(&mut self) {
                self.0.make_all();
            }
        }
        RemainingCells(self).0.make_all();
    }

    fn make_all(&mut self) {
        while let Some(cell) = self.list.take() {
            // SAFETY: W3.
            *self.list = cell.next.with_mut(|next| unsafe { (*next).take() });
            // Release: the thread that links the cell next uses `next` after us.
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
