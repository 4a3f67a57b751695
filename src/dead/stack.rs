//! The queue of notices: hooks, which are there anyway, on a Treiber stack.
//!
//! Any thread pushes: one compare-exchange, no allocation, no wait. The owner takes the whole stack
//! by one swap and works it off at leisure: since nobody else pops, no address can come back under a
//! pusher's compare-exchange with another meaning, and the usual trouble of these stacks (ABA) does
//! not arise. (R. K. Treiber, "Systems Programming: Coping with Parallelism", 1986.) Notices of one
//! batch come newest first; nobody is promised an order.
//!
//! `SegQueue` of crossbeam was here before: two read-modify-writes to push, two and a full fence to
//! pop, and a block to allocate for 31 deaths. At churn with 10^3 live keys it cost a twelfth more.

use core::ptr;

use crate::ptr::{Flavour, HookRef, Link, Word};
use crate::sync::{self, Ordering::*, UnsafeCell};

pub(super) struct Stack<F: Flavour> {
    /// The newest notice.
    top: F::Top,
    /// How many have been, or are just being, pushed.
    pushed: F::Word,
    /// How many have been popped. The owner's.
    popped: F::Word,
    /// What is left of the batch that was taken last. The owner's.
    batch: UnsafeCell<Option<HookRef<F>>>,
}

impl<F: Flavour> Stack<F> {
    pub(super) fn new() -> Self {
        Stack {
            top: F::Top::null(),
            pushed: F::Word::new(0),
            popped: F::Word::new(0),
            batch: UnsafeCell::new(None),
        }
    }

    /// Counts a notice that is about to be linked: who finds it finds it counted. Relaxed: a count.
    #[inline]
    pub(super) fn count(&self) {
        self.pushed.fetch_add(1, Relaxed);
    }

    /// # Safety
    /// The hook has been fired and counted, and is the stack's from now on.
    #[inline]
    pub(super) unsafe fn link(&self, hook: HookRef<F>) {
        // Relaxed: only compared, and written into the hook.
        let mut top = sync::first_load(ptr::null_mut(), || self.top.load(Relaxed));
        loop {
            // SAFETY: the hook is ours until it is on the stack.
            unsafe { hook.set_next(top) };
            // Release: pairs with the swap in `pop`: the owner finds the hook as we have left it, and
            // the death up to here before it.
            match self
                .top
                .compare_exchange(top, hook.as_ptr(), Release, Relaxed)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// # Safety
    /// The caller is the owner, and uses the stack exclusively but for pushes.
    #[inline]
    pub(super) unsafe fn pop(&self) -> Option<HookRef<F>> {
        // SAFETY: the owner's field.
        let batch = unsafe { self.batch.with(|batch| *batch) };
        let hook = match batch {
            Some(hook) => hook,
            // Relaxed: the swap decides; this spares it when there is nothing.
            None if sync::first_load(false, || self.top.load(Relaxed).is_null()) => return None,
            // Acquire: the release of each push, whose successors are part of its release sequence.
            None => HookRef::from_ptr(self.top.swap(ptr::null_mut(), Acquire))?,
        };
        // SAFETY: popped, so ours; and the owner's field.
        unsafe {
            let next = HookRef::from_ptr(hook.next());
            self.batch.with_mut(|batch| *batch = next);
        }
        self.popped
            .store(self.popped.load(Relaxed).wrapping_add(1), Relaxed);
        Some(hook)
    }

    /// How many have ever been pushed, or are on their way.
    #[inline]
    pub(super) fn pushed(&self) -> usize {
        self.pushed.load(Relaxed)
    }

    /// How many are on the stack, or on their way.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.pushed().wrapping_sub(self.popped.load(Relaxed))
    }

    /// Whether there is none, not even on its way. Relaxed is enough for what this is to prove: if a
    /// death happens before this call, then so does its count.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.len() == 0
    }
}
