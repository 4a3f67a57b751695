//! The death after the payload's destructor: the entries end, the finalizers run, and the memory is
//! freed.

use alloc::sync::Arc;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::callbacks::{self, FinalizerNode};
use super::flavour::{Flavour, Variable};
use super::found::RegistrationId;
use super::header::{Block, is_apart};
use super::home::Returning;
use super::hook::Off;
use super::notice::Notice;
use super::recipient::Recipient;
use super::record::{RecordRef, RecordSlot};
use super::shared::CoreRef;
use super::stack::StackRef;
use super::state::{self, State};
use super::waker::{Pushed, Wakes};
use crate::panics::apart;
use crate::sync::{self, Ordering::*};

/// The number of hooks that a death takes off before it lets other threads through the gate.
const BATCH: usize = if cfg!(weakly_loom) { 1 } else { 64 };

/// The end of a dead object without weak pointers and entries. The destructor of this guard ends
/// the object.
pub(super) struct Free<F: Flavour> {
    pub(super) block: Block<F>,
    pub(super) payload: NonNull<u8>,
    pub(super) layout: Layout,
}

impl<F: Flavour> Free<F> {
    /// Ends an object whose destructor has not panicked. Does the same as a drop of the guard; but
    /// where the layout is known, this is one `free`.
    #[inline]
    pub(super) fn run(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the last strong pointer and the payload are gone; no other share is left (B1).
        unsafe { this.block.free_all(this.payload, this.layout) };
    }
}

impl<F: Flavour> Drop for Free<F> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: as in `run`.
        unsafe { self.block.free_all(self.payload, self.layout) };
    }
}

/// The end of any other dead object, or of an object whose maker panicked. The destructor of this
/// guard ends the object.
pub(super) struct Disposal<F: Flavour> {
    pub(super) block: Block<F>,
    pub(super) payload: NonNull<u8>,
    pub(super) layout: Layout,
}

impl<F: Flavour> Disposal<F> {
    /// Ends an object whose destructor has not panicked. Does the same as a drop of the guard, but
    /// is short in the common case: the layout is known, and there is one entry.
    // Always inlined: otherwise the life of an entry takes 612 instructions instead of 524. Not in
    // an unoptimised build, where all inlined locals would have a place in the frame of each death.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run(self) {
        let this = ManuallyDrop::new(self);
        let now = this.begin();
        let now = match State::<F>::decode(now) {
            State::Thin(stack) => match this.notify(stack, now) {
                Ok(()) => return,
                Err(other) => other,
            },
            State::Shared(core) => return this.unlink(core, now),
            _ => now,
        };
        this.end(now);
    }

    /// Does the same as [`run`](Self::run), where one entry alone is not likely. The caller has
    /// loaded the state `now` after the count became zero.
    #[inline]
    pub(super) fn run_from(self, now: *mut ()) {
        let this = ManuallyDrop::new(self);
        // SAFETY: as in `begin`.
        unsafe { this.block.set_dead(this.layout) };
        this.end(now);
    }

    /// Marks the block as dead, and loads its state.
    #[inline]
    fn begin(&self) -> *mut () {
        // SAFETY: B2: we took the count to zero (or it never left zero), and the payload is gone.
        // The layout is written before the transitions below allow other threads to free the block.
        unsafe { self.block.set_dead(self.layout) };
        self.block.header().state.first_load(state::guess())
    }

    /// Notifies the owner of the one entry. The error is the state, if it has changed.
    // As `run`.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn notify(&self, stack: StackRef<F>, now: *mut ()) -> Result<(), *mut ()> {
        let state = &self.block.header().state;
        // Release: the entry's owner sees the whole death done.
        // Acquire on failure: the entry has been removed, or a weak pointer has been made from it.
        state.compare_exchange(now, state::dead(state::NONE), Release, Acquire)?;
        // SAFETY: N1, the registration's notice. The memory of a payload apart is freed only after
        // the push; its address comes from `self`, since the block may not be used any more.
        let pushed = unsafe {
            let pushed = stack.push(Notice::of_block(self.block));
            self.free_payload();
            pushed
        };
        if let Some(pushed) = pushed {
            finish(pushed);
        }
        Ok(())
    }

    #[inline(always)]
    fn unlink(&self, core: CoreRef, now: *mut ()) {
        Self::run_shared(self.block, self.payload, self.layout, core, now);
    }

    /// Ends an object in the state `SHARED`: unlinks the one entry, which is in a collection that
    /// threads share. (One function for all types, which gets all in registers.)
    #[inline(never)]
    fn run_shared(
        block: Block<F>,
        payload: NonNull<u8>,
        layout: Layout,
        core: CoreRef,
        now: *mut (),
    ) {
        let state = &block.header().state;
        // Release: the thread that has the last share frees the block after this step.
        // Acquire on failure: as in `notify`.
        let dead = state.compare_exchange(now, state::dead(state::NONE), Release, Acquire);
        if let Err(other) = dead {
            let this = Disposal {
                block,
                payload,
                layout,
            };
            return ManuallyDrop::new(this).end(other);
        }
        let is_apart = block.is_apart();
        let mut wakes = Wakes::NONE;
        // SAFETY: C1: we have ended the registration just now.
        let (found, waker) = unsafe {
            let of = RegistrationId::of_block(block);
            core.unlink(of, payload, block.hash(), &mut wakes, |cell| cell.get())
        };
        // SAFETY: no entry leads to the payload any more. If the entry was found, it owns the block
        // now. Otherwise another thread has unlinked the entry: the block then has a share for the
        // entry's watch, and a share for us, which we give up.
        unsafe {
            if is_apart {
                Block::<F>::free_apart(payload, layout);
            }
            if !found {
                block.leave_to_watch();
            }
        }
        // (The waker itself, without the cell: a death with a single entry owes a single call, and
        // runs no finalizer before the call.)
        if let Some(waker) = waker.flatten() {
            apart(|| waker.wake_by_ref());
        }
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
                State::Shared(core) => return self.unlink(core, now),
                // SAFETY: B1, R1: the share of the object, which the object gives up last.
                State::Record(record) => return unsafe { self.reclaim_with(record) },
                State::Weak(_) => unsafe {
                    // SAFETY: B1, as above.
                    self.free_payload();
                    return self.block.release_weak();
                },
                State::None => {
                    // The last entry may just have been removed.
                    // SAFETY: B1: no share is left, and none can come.
                    return unsafe { self.block.free_all(self.payload, self.layout) };
                }
                State::Dead | State::Locked => unreachable!("an object dies once"),
            }
        }
    }

    /// # Safety
    /// The payload is gone, and its memory is not used any more.
    #[inline]
    unsafe fn free_payload(&self) {
        if is_apart(self.layout) {
            // SAFETY: the caller's promise.
            unsafe { Block::<F>::free_apart(self.payload, self.layout) };
        }
    }
}

/// Ends a death with one notice: makes the wake-up that the death owes, if any.
#[cold]
#[inline(never)]
fn finish<S>(pushed: Pushed<S>) {
    match pushed {
        Pushed::First(cell) if cell.count() => cell.wake(),
        Pushed::First(cell) | Pushed::Share(cell) => drop(cell),
        Pushed::Last(stack) => drop(stack),
    }
}

impl<F: Flavour> Drop for Disposal<F> {
    fn drop(&mut self) {
        let now = self.begin();
        self.end(now);
    }
}

impl<F: Flavour> Disposal<F> {
    /// Ends an object that returns, together with its payload.
    ///
    /// # Safety
    /// Called in place of the payload's destructor. The record is the object's, and has the
    /// object's home (G2).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn run_returning(self, record: RecordRef<F>) {
        /// Keeps the block beyond the object's own reference, and keeps the memory of a payload
        /// apart.
        struct Last<F: Flavour>(ManuallyDrop<Disposal<F>>, RecordRef<F>);
        impl<F: Flavour> Drop for Last<F> {
            fn drop(&mut self) {
                // SAFETY: the payload is gone. R1: our reference.
                unsafe {
                    self.0.free_payload();
                    self.1.release();
                }
            }
        }
        let Some(mut gate) = record.lock() else {
            unreachable!("an object dies once")
        };
        // SAFETY: the caller's promise.
        let home = unsafe { gate.take_home() };
        // Under the gate, where the object has references.
        record.add_ref();
        drop(gate);
        let last = Last(ManuallyDrop::new(self), record);
        // SAFETY: G2: this guard is dropped after the last use of the payload, and before the
        // payload's memory is freed.
        let _payload = unsafe { Returning::new(home, last.0.payload) };
        // SAFETY: B2: as in `begin`. All else is as in `end`, except that `reclaim_with` frees no
        // memory of a payload: the layout has no size.
        unsafe {
            last.0.block.set_dead(last.0.layout);
            let layout = Layout::new::<()>();
            ManuallyDrop::new(Disposal { layout, ..*last.0 }).reclaim_with(record);
        }
    }

    /// # Safety
    /// Called once, by the dying thread; the record is the object's.
    #[inline(never)]
    unsafe fn reclaim_with(&self, record: RecordRef<F>) {
        /// The last step, which happens even if a finalizer panics.
        struct Last<'a, F: Flavour>(&'a Disposal<F>, RecordRef<F>);
        impl<F: Flavour> Drop for Last<'_, F> {
            fn drop(&mut self) {
                // SAFETY: the payload is gone, no upgrade can succeed, and all registrations have
                // ended. The object's own reference ends here.
                unsafe {
                    self.0.free_payload();
                    self.1.release_object();
                }
            }
        }
        // Dropped after everything else.
        let mut wakes = Wakes::NONE;
        let _last = Last(self, record);
        // SAFETY: the caller's promise.
        let finalizers = unsafe { record.notify_all(&mut wakes) };
        // SAFETY: the list is ours.
        unsafe { callbacks::run(finalizers) };
    }
}

impl<F: Flavour> Block<F> {
    /// Gives up the object's share after the state was `SHARED` and another thread has unlinked the
    /// entry. If the watch has already turned `DEAD` into `WEAK`, the share is given up at once.
    /// Otherwise `WEAK` with one share is left, which the watch finds as its own.
    ///
    /// # Safety
    /// Called once, by the dying thread.
    #[cold]
    #[inline(never)]
    unsafe fn leave_to_watch(self) {
        // Release: our uses of the block happen before its end.
        // Acquire: the uses by the watch's thread happen before ours.
        let state = &self.header().state;
        let left =
            state.compare_exchange(state::dead(state::NONE), state::weak(1), AcqRel, Acquire);
        if left.is_err() {
            // SAFETY: the caller's promise.
            unsafe { self.release_weak() };
        }
    }
}

/// Registrations with collections that threads share, taken out of the record by a death. The death
/// unlinks their entries when the gate is open, and then frees the hooks.
struct Unlinking<F: Flavour> {
    hooks: Off<F>,
    /// The two registrations in the record.
    slots: [Option<CoreRef>; 2],
}

impl<F: Flavour> Unlinking<F> {
    fn new() -> Self {
        Unlinking {
            hooks: Off::new(),
            slots: [None; 2],
        }
    }

    /// # Safety
    /// The caller holds no lock. C1: the caller is the dying thread, has ended the registrations,
    /// and has its reference to the record.
    unsafe fn run(self, record: RecordRef<F>, wakes: &mut Wakes) {
        let block = record.block();
        let mut unlink = |core: CoreRef, of, hash| {
            // SAFETY: the caller's promise.
            let (_, waker) = unsafe { core.unlink(of, block.payload(), hash, wakes, Arc::clone) };
            if let Some(waker) = waker {
                wakes.owe(waker);
            }
        };
        self.hooks.each(|hook| {
            // SAFETY: H1, the hook is ours.
            if let Recipient::Core(core) = unsafe { hook.recipient() } {
                unlink(core, RegistrationId::of_hook(hook), hook.hash());
            }
        });
        let [first, second] = self.slots;
        if let Some(core) = second {
            let of = RegistrationId::of_second(record.as_ptr());
            unlink(core, of, record.second_hash());
        }
        if let Some(core) = first {
            unlink(core, RegistrationId::of_block(block), block.hash());
        }
    }
}

impl<F: Flavour> RecordRef<F> {
    /// Pushes all notices of the dead object, unlinks its entries in collections that threads
    /// share, and closes the gate. Takes at most [`BATCH`] hooks off at a time, so that an object
    /// with a million registrations keeps no thread waiting for long. Returns the list of
    /// finalizers, newest first, which the caller owns.
    ///
    /// # Safety
    /// Called once, by the dying thread.
    unsafe fn notify_all(self, wakes: &mut Wakes) -> *mut FinalizerNode<F> {
        let Some(mut gate) = self.lock() else {
            unreachable!("an object dies once")
        };
        // SAFETY: the caller's promise.
        let finalizers = unsafe { gate.begin_death() };
        loop {
            // The work that `wakes` returns, postponed until the gate is open: under the gate
            // nothing is allocated or freed.
            let (mut left, mut other) = (None, None);
            let mut unlinking = Unlinking::new();
            let mut is_last = false;
            // SAFETY, of all pushes: N1, H1, R3: each registration is registered until its push.
            // The pushes are under the gate: a thread that finds a registration fired may go on,
            // for its stack stays until the notice has come.
            for _ in 0..BATCH {
                let Some(hook) = gate.pop() else {
                    is_last = true;
                    break;
                };
                // SAFETY: see above.
                let pushed = unsafe {
                    match hook.recipient() {
                        Recipient::Stack(stack) => stack.push(Notice::of_hook(hook)),
                        Recipient::Core(_) => {
                            unlinking.hooks.add(hook);
                            None
                        }
                    }
                };
                left = pushed.and_then(|pushed| wakes.add(pushed));
                if left.is_some() {
                    break;
                }
            }
            let wanted = if is_last {
                let mut end = |slot: RecordSlot| match gate.recipient(slot)? {
                    Recipient::Stack(stack) => {
                        // SAFETY: see above.
                        let pushed = unsafe { stack.push(Notice::of_slot(self, slot)) }?;
                        wakes.add(pushed)
                    }
                    Recipient::Core(core) => {
                        unlinking.slots[slot as usize] = Some(core);
                        None
                    }
                };
                (left, other) = (end(RecordSlot::First), end(RecordSlot::Second));
                gate.set_closed();
                drop(gate);
                false
            } else {
                gate.pause()
            };
            let left = left.into_iter().chain(other);
            left.for_each(|left| wakes.finish(left));
            // SAFETY: the caller's promise; all registrations with cores have ended, since the gate
            // is not open (R4).
            unsafe { unlinking.run(self, wakes) };
            if is_last {
                return finalizers;
            }
            if wanted {
                sync::give_way();
            }
            gate = match self.lock() {
                Some(gate) => gate,
                None => unreachable!("only the dying thread closes the gate"),
            };
        }
    }
}
