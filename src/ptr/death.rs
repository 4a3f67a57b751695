//! What comes after the payload's destructor: notices, finalizers, and the end of the memory.

use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::callbacks::{self, FinalizerNode};
use super::flavour::{Flavour, Link};
use super::header::{Block, is_apart};
use super::notice::Node;
use super::record::RecordRef;
use super::stack::StackRef;
use super::state::{self, State};
use crate::sync::{self, Ordering::*};

/// How many notices a death pushes before it lets others through the gate.
const BATCH: usize = if cfg!(weakly_loom) { 1 } else { 64 };

/// The end of a dead object that nobody holds on to weakly, done by its destructor.
pub(super) struct Free<F: Flavour> {
    pub(super) block: Block<F>,
    pub(super) payload: NonNull<u8>,
    pub(super) layout: Layout,
}

impl<F: Flavour> Drop for Free<F> {
    // Inline: with the layout known, this is one `free`.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the last handle has gone, and so has the payload; nobody else has a share (B1).
        unsafe { self.block.free_all(self.payload, self.layout) };
    }
}

/// The end of any other dead object, or of one that was never born, done by its destructor.
pub(super) struct Reclaim<F: Flavour> {
    pub(super) block: Block<F>,
    pub(super) payload: NonNull<u8>,
    pub(super) layout: Layout,
}

impl<F: Flavour> Reclaim<F> {
    /// The end of an object whose destructor has not panicked. The same as to drop this; but where the layout
    /// is known and there is one entry, which is the rule, it is short.
    #[inline(always)]
    pub(super) fn run(self) {
        let this = ManuallyDrop::new(self);
        let now = this.begin();
        let now = match State::<F>::decode(now) {
            State::Thin(stack) => match this.notify(stack, now) {
                Ok(()) => return,
                Err(other) => other,
            },
            _ => now,
        };
        this.end(now);
    }

    /// Marks the block as dead, and looks at its state.
    #[inline(always)]
    fn begin(&self) -> *mut () {
        // SAFETY: B2: we took the count to zero (or it never left it), and the payload is gone. Written
        // before the transitions below publish that the block may be freed by others.
        unsafe { self.block.set_dead(self.layout) };
        self.block.header().state.first_look(state::guess())
    }

    /// Notifies the one entry that there is. If there is another state by now, that is the error.
    #[inline(always)]
    fn notify(&self, stack: StackRef<F>, now: *mut ()) -> Result<(), *mut ()> {
        let state = &self.block.header().state;
        // Release: the entry's owner finds the whole death done. Acquire on failure: the entry has been
        // removed, or a weak handle been made of it.
        state.compare_exchange(now, state::dead(state::NONE), Release, Acquire)?;
        // SAFETY: N1, the registration's notice. The payload's address may come back only after that: it is
        // in `self`, as nothing of the block may be used any more.
        unsafe {
            stack.push(Node::of_block(self.block));
            self.free_payload();
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn end(&self, mut now: *mut ()) {
        loop {
            match State::<F>::decode(now) {
                State::Thin(stack) => match self.notify(stack, now) {
                    Ok(()) => return,
                    Err(other) => now = other,
                },
                // SAFETY: B1, R1: the object's share, with which everything ends that it owned.
                State::Record(record) => return unsafe { self.reclaim_with(record) },
                State::Weak(_) => unsafe {
                    // SAFETY: likewise.
                    self.free_payload();
                    return self.block.release_weak();
                },
                State::None => {
                    // It may be that the last entry has just been removed.
                    // SAFETY: B1: nobody holds on, and nobody can any more.
                    return unsafe { self.block.free_all(self.payload, self.layout) };
                }
                State::Dead | State::Locked => unreachable!("an object dies once"),
            }
        }
    }

    /// # Safety
    /// The payload is gone, and its memory is not used any more.
    #[inline(always)]
    unsafe fn free_payload(&self) {
        if is_apart(self.layout) {
            // SAFETY: the caller's promise.
            unsafe { Block::<F>::free_apart(self.payload, self.layout) };
        }
    }
}

impl<F: Flavour> Drop for Reclaim<F> {
    fn drop(&mut self) {
        let now = self.begin();
        self.end(now);
    }
}

impl<F: Flavour> Reclaim<F> {
    /// # Safety
    /// Called once, by the dying thread; the record is the object's.
    #[inline(never)]
    unsafe fn reclaim_with(&self, record: RecordRef<F>) {
        /// The last step, also if a finalizer panics.
        struct Last<'a, F: Flavour>(&'a Reclaim<F>, RecordRef<F>);
        impl<F: Flavour> Drop for Last<'_, F> {
            fn drop(&mut self) {
                // SAFETY: the payload is gone, no upgrade can succeed, and all notices are pushed. The
                // object's own reference ends here.
                unsafe {
                    self.0.free_payload();
                    self.1.release();
                }
            }
        }
        let _last = Last(self, record);
        // SAFETY: the caller's promise.
        let finalizers = unsafe { record.notify_all() };
        // SAFETY: they are ours.
        unsafe { callbacks::run(finalizers) };
    }
}

impl<F: Flavour> RecordRef<F> {
    /// The object is dead: pushes all notices, and closes the gate. At most [`BATCH`] at a time, so that an
    /// object that is registered a million times keeps nobody waiting for long. What is left is the list of
    /// the finalizers, newest first, which is the caller's.
    ///
    /// # Safety
    /// Called once, by the dying thread.
    unsafe fn notify_all(self) -> *mut FinalizerNode<F> {
        let first = self.first();
        let Some(mut gate) = self.lock() else {
            unreachable!("an object dies once")
        };
        let finalizers = gate.finalizers(|head| core::mem::replace(head, ptr::null_mut()));
        loop {
            for _ in 0..BATCH {
                // SAFETY: N1, H1, R3: registered until here. Under the gate: whoever finds a registration
                // fired may go, for its stack stays until the notice has come. The first is the last, since
                // its link is the list's head until then.
                unsafe {
                    if let Some(hook) = first.behind() {
                        hook.unlink();
                        hook.target().push(Node::of_hook(hook));
                        continue;
                    }
                    if let Some(stack) = gate.target() {
                        stack.push(Node::of_hook(first));
                    }
                }
                gate.set_closed();
                return finalizers;
            }
            gate.set_dying();
            drop(gate);
            sync::give_way();
            gate = match self.lock() {
                Some(gate) => gate,
                None => unreachable!("only the dying thread closes the gate"),
            };
        }
    }
}
