//! The delivery of notices: pushed by the dying, taken and finished by the owner of the stack, and what becomes of
//! those that come after its end. The invariants, N1 to N3, are in `stack`.

use core::ptr::{self, NonNull};

use super::flavour::{Counter, Flavour, Link};
use super::notice::{Node, Notice};
use super::stack::{LoneHook, StackRef};
use super::state;
use crate::sync::{self, Ordering::*};

/// The top of a stack whose owner has gone: no notice has this address.
const CLOSED: usize = 2;

impl<F: Flavour> StackRef<F> {
    /// Pushes a notice.
    ///
    /// # Safety
    /// N1: it stands for a registration with this stack, and is pushed once. (N2, N3: neither stack nor
    /// notice may be used after this.)
    #[inline]
    pub(super) unsafe fn push(self, node: Node<F>) {
        let stack = self.get();
        if stack.is_counted {
            // Counted before it is linked: whoever finds it finds it counted. Relaxed: a count.
            stack.pushed.fetch_add(1, Relaxed);
        }
        let mut top = stack.top.first_look(ptr::null_mut());
        loop {
            if top.addr() == CLOSED {
                // SAFETY: the caller's promise.
                return unsafe { self.push_closed(node) };
            }
            match node.get() {
                // Release: the entry's owner may find it before it is pushed, and mark it as late; what the
                // death has done to the block was released by its step to `DEAD`, which this overwrites.
                Some(Notice::Block(block)) => {
                    block.header().state.store(state::dead(top), Release);
                }
                // Relaxed: the compare-exchange publishes it, and the gate keeps the owner out until then.
                Some(Notice::Hook(hook)) => hook.link().store(top, Relaxed),
                None => return,
            }
            // Release: pairs with the swap in `take`: the owner finds the notice as we have left it, and
            // the death up to here before it. Acquire on failure: if the owner has gone, it may have marked
            // as late what we end.
            match stack
                .top
                .compare_exchange(top, node.as_ptr(), Release, Acquire)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Ends a notice that nobody waits for any more.
    ///
    /// # Safety
    /// As for [`push`](Self::push), and the stack is closed.
    #[cold]
    #[inline(never)]
    unsafe fn push_closed(self, node: Node<F>) {
        // SAFETY: N3 without an owner: it is ours to end.
        unsafe {
            match node.get().and_then(|notice| notice.end()) {
                Some(hook) if self.get().is_counted => LoneHook::free(hook),
                // The slab goes with the stack, and is not a pusher's.
                Some(hook) => hook.retire(),
                None => {}
            }
            self.arrive();
        }
    }

    /// One that was to come after the end has come.
    ///
    /// # Safety
    /// N2, once for each notice that finds the stack closed.
    unsafe fn arrive(self) {
        // Release: our uses of the stack happen before its end. Acquire: so do all others'.
        if self.get().inflight.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: N2.
            unsafe { self.free() };
        }
    }

    /// The newest notice. A moment's answer, but what is there stays while the caller keeps the owner from
    /// draining it. Acquire: the release of each push, so that the notices can be read.
    #[inline]
    pub(crate) fn top(self) -> Node<F> {
        Node::from_ptr(self.get().top.load(Acquire))
    }

    /// Whether there is no notice. Relaxed is enough for what this is to prove: a death that happens before
    /// this call has pushed before.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.get().top.load(Relaxed).is_null()
    }

    /// Takes all notices out. The caller is the owner.
    #[inline]
    pub(crate) fn take(self) -> Node<F> {
        // Acquire: the release of each push, whose successors are part of its release sequence.
        Node::from_ptr(self.get().top.swap(ptr::null_mut(), Acquire))
    }

    /// How many have ever been pushed, or are on their way, of a stack that counts them. Relaxed: a death
    /// that happens before this call has counted its push.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn pushed(self) -> usize {
        self.get().pushed.load(Relaxed)
    }

    /// Counts one more, as if it had been pushed. Relaxed: a count.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn count(self) {
        self.get().pushed.fetch_add(1, Relaxed);
    }

    /// The owner ends: `owed` registrations have neither been ended nor brought their notice. What is on the
    /// stack is dropped, what is still to come drops itself, and the last frees the stack. Waits for
    /// no one.
    ///
    /// # Safety
    /// The caller is the owner, and does not use the stack after this; no entry is left that a notice may
    /// stand for, but those that were leaked.
    pub(crate) unsafe fn close(self, owed: usize) {
        let stack = self.get();
        // Acquire: as in `take`. Release: what the owner did to the slab happens before the end.
        let closed = ptr::without_provenance_mut(CLOSED);
        let mut owed = owed;
        for notice in Node::<F>::from_ptr(stack.top.swap(closed, AcqRel)) {
            // SAFETY: N3.
            unsafe { self.finish(notice) };
            owed -= 1;
        }
        // AcqRel: as in `arrive`.
        if owed == 0 || stack.inflight.fetch_add(owed, AcqRel).wrapping_add(owed) == 0 {
            // SAFETY: N2.
            unsafe { self.free() };
        }
    }

    /// # Safety
    /// N2: nobody uses the stack any more.
    unsafe fn free(self) {
        let stack = self.get();
        // SAFETY: the owner has gone, and all its hooks have brought their notices.
        unsafe {
            stack.slab.with_mut(|slab| (*slab).free());
            stack.live.end();
            sync::free(NonNull::new_unchecked(self.as_ptr()));
        }
    }

    /// Ends a notice: its block is freed, or its hook taken back.
    ///
    /// # Safety
    /// N3: the caller is the owner, the notice has been taken out, and no entry is left that stands for it.
    #[inline(always)]
    pub(crate) unsafe fn finish(self, notice: Notice<F>) {
        // SAFETY: the caller's promise.
        unsafe {
            match notice {
                Notice::Block(block) => block.free(),
                Notice::Hook(_) => self.finish_hook(notice),
            }
        }
    }

    /// # Safety
    /// As for [`finish`](Self::finish).
    #[cold]
    #[inline(never)]
    unsafe fn finish_hook(self, notice: Notice<F>) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(hook) = notice.end() {
                self.give_back(hook);
            }
        }
    }
}
