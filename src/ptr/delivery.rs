//! The delivery of notices: the dying thread pushes them, and the owner of the stack takes and
//! finishes them. A notice that comes after the owner's end is finished by the pusher. The
//! invariants, N1 to N3, are in `stack`.

use alloc::sync::Arc;
use core::ptr::{self, NonNull};

use super::flavour::{Counter, Flavour, Variable};
use super::notice::{Kind, Notice, NoticeLink};
use super::stack::StackRef;
use super::waker::{Pushed, WakerCell};
use crate::sync::{self, Ordering::*};

/// The top of a stack whose owner has ended: no notice has this address.
const CLOSED: usize = 2;
/// The top of an armed stack: the stack is empty, and the next notice wakes (W1).
const ARMED: usize = 4;

/// Returns whether the top is one of the marks.
#[inline(always)]
fn is_mark(top: *mut ()) -> bool {
    // No notice has an address up to `ARMED`, and null wraps to the largest number.
    top.addr().wrapping_sub(1) < ARMED
}

/// Returns the notice that is the top of a stack, if there is one.
#[inline(always)]
fn newest<F: Flavour>(top: *mut ()) -> NoticeLink<F> {
    NoticeLink::from_ptr(if is_mark(top) { ptr::null_mut() } else { top })
}

/// A stack that no thread uses any more (N2): the drop of this guard frees the stack.
pub(super) struct Ended<F: Flavour>(StackRef<F>);

impl<F: Flavour> Drop for Ended<F> {
    fn drop(&mut self) {
        // SAFETY: N2.
        unsafe { self.0.free() };
    }
}

impl<F: Flavour> StackRef<F> {
    /// Pushes a notice. The caller passes the result to its [`Wakes`](super::waker::Wakes): the
    /// push frees nothing, since the caller may hold a gate.
    ///
    /// # Safety
    /// N1: the notice is of a registration with this stack, and is pushed once. (N2, N3: neither
    /// stack nor notice may be used after the push.)
    #[inline]
    #[must_use]
    pub(super) unsafe fn push(self, notice: Notice<F>) -> Option<Pushed<Ended<F>>> {
        let (stack, node) = (self.get(), notice.node());
        let mut top = stack.top.first_load(ptr::null_mut());
        loop {
            if is_mark(top) {
                // SAFETY: the caller's promise.
                return unsafe { self.push_on_mark(notice, top) };
            }
            notice.link_to(top);
            // Release: with the swap in `take`: the owner sees the notice as we left it, and all of
            // the death before the push.
            // Acquire on failure: an owner that has ended may have read the notice before we finish
            // it.
            match stack
                .top
                .compare_exchange(top, node.as_ptr(), Release, Acquire)
            {
                Ok(_) => return None,
                Err(now) => top = now,
            }
        }
    }

    /// Pushes a notice as [`push`](Self::push) does, if the top is a mark.
    ///
    /// # Safety
    /// As for `push`.
    #[cold]
    #[inline(never)]
    unsafe fn push_on_mark(self, notice: Notice<F>, mut top: *mut ()) -> Option<Pushed<Ended<F>>> {
        let (stack, node) = (self.get(), notice.node());
        let mut cell: Option<Arc<WakerCell>> = None;
        loop {
            if top.addr() == CLOSED {
                // (Not the last share: the stack has one.)
                drop(cell);
                // SAFETY: the caller's promise.
                return unsafe { self.push_closed(notice) }.map(Pushed::Last);
            }
            let is_armed = top.addr() == ARMED;
            if is_armed && cell.is_none() {
                // SAFETY: W1, the cell was set before the stack was armed, which we have acquired.
                cell = stack.waker.with(|waker| unsafe { (*waker).clone() });
            }
            notice.link_to(newest::<F>(top).as_ptr());
            // Release, Acquire: as in `push`.
            match stack
                .top
                .compare_exchange(top, node.as_ptr(), Release, Acquire)
            {
                Ok(_) if is_armed => return cell.map(Pushed::First),
                // Another push was the first. Our share may be the last one by now.
                Ok(_) => return cell.map(Pushed::Share),
                Err(now) => top = now,
            }
        }
    }

    /// Finishes a notice whose stack has no owner any more.
    ///
    /// # Safety
    /// As for [`push`](Self::push), and the stack is closed.
    #[cold]
    #[inline(never)]
    unsafe fn push_closed(self, notice: Notice<F>) -> Option<Ended<F>> {
        // SAFETY: N3 without an owner: the notice is ours to finish. (For a notice of a record, the
        // end does not give up the last reference: the object has its own references until its
        // death ends.)
        if let Some(hook) = unsafe { notice.end() } {
            // The slab is freed with the stack; a pusher may not touch the slab.
            hook.retire();
        }
        // N2: one of the notices that were to come after the owner's end.
        // Release: our uses of the stack happen before its end.
        // Acquire: the uses by all other threads happen before its end, too.
        let is_last = self.get().inflight.fetch_sub(1, AcqRel) == 1;
        is_last.then(|| Ended(self))
    }

    /// Returns the newest notice. A snapshot; but the notices stay while the caller keeps the owner
    /// from draining them.
    /// Acquire: the Release of each push, so that the notices can be read.
    #[inline]
    pub(crate) fn top(self) -> NoticeLink<F> {
        newest(self.get().top.load(Acquire))
    }

    /// Returns whether there is no notice.
    /// Relaxed is enough: a death that happens before this call has pushed before this call.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.get().top.load(Relaxed).addr() <= ARMED
    }

    /// Takes all notices out, if there are any. The caller is the owner.
    #[inline]
    pub(crate) fn take(self) -> NoticeLink<F> {
        // N4. Relaxed: the owner keeps all readers out.
        self.get().counted.store(ptr::null_mut(), Relaxed);
        // Acquire: the Release of each push, whose successors are part of its release sequence.
        NoticeLink::from_ptr(self.get().top.swap(ptr::null_mut(), Acquire))
    }

    /// Returns the cell of the waker, if a waker has ever been set. The caller is the owner.
    #[inline]
    pub(crate) fn waker<'a>(self) -> Option<&'a Arc<WakerCell>> {
        // SAFETY: only the owner writes the cell.
        self.get().waker.with(|waker| unsafe { (*waker).as_ref() })
    }

    /// Attaches the cell of a waker, for ever. The stack is not armed yet.
    ///
    /// # Safety
    /// The caller is the owner, and no cell is attached.
    pub(crate) unsafe fn attach(self, cell: Arc<WakerCell>) {
        // The stack is counted before any notice can be the first.
        cell.count();
        // SAFETY: the caller is the owner; pushers do not read the cell before the stack is armed.
        let set = |waker: *mut Option<_>| unsafe { *waker = Some(cell) };
        self.get().waker.with_mut(set);
    }

    /// Arms a stack with a waker, if the stack is empty. Returns whether the stack is armed. The
    /// caller is the owner, and has finished the notices that it had taken out.
    pub(crate) fn arm(self) -> bool {
        let stack = self.get();
        let Some(cell) = self.waker() else {
            return false;
        };
        // An armed stack stays armed until a push, and a pushed notice stays until the owner takes
        // it.
        // Acquire: not relied on. The owner reads a notice only after `top` or `take`, which
        // acquire its push, and sees counted pushes on other stacks by `count_off`.
        let top = stack.top.load(Acquire);
        if !top.is_null() {
            return top.addr() == ARMED;
        }
        // W2
        cell.count_off();
        let armed = ptr::without_provenance_mut(ARMED);
        // Release: the pusher that finds the stack armed reads the cell.
        // Acquire on failure: as for the load.
        let result = stack.top.compare_exchange(top, armed, Release, Acquire);
        if result.is_err() {
            // No wake-up is owed: the notice came while the stack was not armed. The stack was
            // counted by `attach`, whose caller looks for notices, or by a push: then the wake-up
            // of this push, or of an earlier push on another stack, is unanswered yet.
            cell.count();
        }
        result.is_ok()
    }

    /// Ends the owner: `owed` registrations have neither ended nor brought their notice. Finishes
    /// the notices on the stack; a notice that comes later is finished by its pusher, and the last
    /// pusher frees the stack. Waits for no thread.
    ///
    /// # Safety
    /// The caller is the owner, and does not use the stack after this call. No entry is left to
    /// which a notice may belong, except leaked entries.
    pub(crate) unsafe fn close(self, owed: usize) {
        let stack = self.get();
        // Acquire: as in `take`.
        // Release: the owner's uses of the slab happen before the end.
        let closed = ptr::without_provenance_mut(CLOSED);
        let mut owed = owed;
        for notice in newest::<F>(stack.top.swap(closed, AcqRel)) {
            // SAFETY: N3.
            unsafe { self.finish(notice) };
            owed -= 1;
        }
        // AcqRel: as in `push_closed`.
        if owed == 0 || stack.inflight.fetch_add(owed, AcqRel).wrapping_add(owed) == 0 {
            // SAFETY: N2.
            unsafe { self.free() };
        }
    }

    /// # Safety
    /// N2: no thread uses the stack any more.
    unsafe fn free(self) {
        debug_assert!(!sync::in_critical(), "nothing is freed under a lock");
        let stack = self.get();
        // SAFETY: the owner has ended, and all its hooks have brought their notices.
        unsafe {
            stack.slab.with_mut(|slab| (*slab).free());
            // W5
            drop(stack.waker.with_mut(|waker| (*waker).take()));
            stack.live.end();
            sync::free(NonNull::new_unchecked(self.as_ptr()));
        }
    }

    /// Finishes a notice: frees its block, or gives up its reference, and takes its hook back.
    ///
    /// # Safety
    /// N3: the caller is the owner, has taken the notice out, and the entry is gone.
    #[inline(always)]
    pub(crate) unsafe fn finish(self, notice: Notice<F>) {
        // SAFETY: the caller's promise.
        unsafe {
            match notice.kind() {
                Kind::Block(block) => block.free(),
                Kind::RecordSlot(..) | Kind::Hook(_) => self.finish_of_record(notice),
            }
        }
    }

    /// # Safety
    /// As for [`finish`](Self::finish).
    #[cold]
    #[inline(never)]
    unsafe fn finish_of_record(self, notice: Notice<F>) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(hook) = notice.end() {
                self.give_back(hook);
            }
        }
    }
}
