//! Registrations: how an entry comes to be notified of an object's death, by the block, by its record's first
//! hook, or by a further hook; and how it ends that.

#[cfg(feature = "std")]
use core::ptr::NonNull;

use super::flavour::{Flavour, Link};
use super::header::Block;
use super::hook::HookRef;
#[cfg(feature = "std")]
use super::record::Gate;
use super::record::RecordRef;
use super::stack::StackRef;
use super::state::{NONE, State, guess, locked, weak};
use crate::sync::Ordering::*;

/// How an entry is registered. See [`Block::register`].
pub(crate) enum Registration<F: Flavour> {
    /// The block stands for the entry.
    Block,
    /// This hook does.
    Hook(HookRef<F>),
}

impl<F: Flavour> Block<F> {
    /// Registers an entry with this hash: the object's death will push a notice. O(1); allocates if there
    /// are weak handles, other registrations or finalizers already.
    ///
    /// # Safety
    /// The caller has a strong handle, and is the owner of the stack (or, of one that counts, anybody).
    #[inline]
    pub(crate) unsafe fn register(self, stack: StackRef<F>, hash: u32) -> Registration<F> {
        let state = &self.header().state;
        let mut now = state.first_load(NONE);
        while now == NONE || now == weak(1) {
            // Acquire: the weak handle that has gone, or the entry whose hash is overwritten.
            match state.compare_exchange(now, locked(), Acquire, Acquire) {
                Ok(_) => {
                    // SAFETY: B3, it is locked.
                    unsafe { self.set_hash(hash) };
                    // Release: passes on what has been acquired, as a store does not by itself. (Whoever
                    // uses the stack knows us by our handle.)
                    state.store(State::Thin(stack).encode(), Release);
                    return Registration::Block;
                }
                Err(other) => now = other,
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.register_further(now, stack, hash) }
    }

    /// As [`register`](Self::register), where it is not the first of all.
    #[cold]
    #[inline(never)]
    unsafe fn register_further(
        self,
        now: *mut (),
        stack: StackRef<F>,
        hash: u32,
    ) -> Registration<F> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.record_from(now, false) {
                None => self.register(stack, hash),
                Some(record) => match record.register(stack, hash) {
                    Registered::First => Registration::Block,
                    Registered::Further(hook) => Registration::Hook(hook),
                },
            }
        }
    }

    /// Registers an entry of a collection that threads share: with a hook, also if it is the first, and with
    /// one reference more for the entry.
    ///
    /// # Safety
    /// As for [`register`](Self::register).
    #[cfg(feature = "std")]
    pub(crate) unsafe fn register_shared(self, stack: StackRef<F>, hash: u32) -> HookRef<F> {
        // SAFETY: the caller's promise.
        unsafe {
            let record = self.record();
            // First what may allocate, and fail.
            let hook = match record.register(stack, hash) {
                Registered::First => record.first(),
                Registered::Further(hook) => hook,
            };
            // The registration has a reference.
            record.add_ref();
            hook
        }
    }

    /// Ends the registration that the block stands for. False if the object's death was faster: then its
    /// notice has come, or will come. O(1).
    ///
    /// # Safety
    /// The registration is the caller's; it is not ended twice.
    #[inline]
    pub(crate) unsafe fn unregister(self, stack: StackRef<F>) -> bool {
        let mut now = self.header().state.first_load(State::Thin(stack).encode());
        loop {
            match State::<F>::decode(now) {
                State::Thin(_) => match self.swing(now, NONE) {
                    Ok(_) => return true,
                    Err(other) => now = other,
                },
                // SAFETY: R3, the caller's promise.
                State::Record(record) => return unsafe { record.unregister_first() },
                State::Dead => return false,
                State::None | State::Weak(_) | State::Locked => {
                    unreachable!("it is registered")
                }
            }
        }
    }

    /// Ends the registration of a further hook. As [`unregister`](Self::unregister).
    ///
    /// # Safety
    /// As there; `stack` is that of the registration, and the caller its owner.
    #[inline]
    pub(crate) unsafe fn unregister_hook(hook: HookRef<F>, stack: StackRef<F>) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let ended = RecordRef::of_hook(hook).unregister(hook);
            if ended {
                stack.give_back(hook);
            }
            ended
        }
    }

    /// Makes one more weak handle on the strength of a registration that the block stands for. False if
    /// the object is dead and the block its notice: nothing is left to hold on to.
    ///
    /// # Safety
    /// The registration does not end meanwhile.
    pub(crate) unsafe fn downgrade_registered(self) -> bool {
        let mut fresh = None;
        let mut now = self.header().state.first_load(guess());
        loop {
            let state = State::decode(now);
            now = match state {
                State::Thin(_) => {
                    self.prepare(&state, 1, &mut fresh);
                    match self.inflate(now, &mut fresh) {
                        Ok(_) => return true,
                        Err(other) => other,
                    }
                }
                State::Record(record) => {
                    record.add_ref();
                    return true;
                }
                State::Dead => return false,
                State::None | State::Weak(_) | State::Locked => {
                    unreachable!("it is registered")
                }
            };
        }
    }
}

/// What stands for a registration.
enum Registered<F: Flavour> {
    /// The block, and here its record's first hook.
    First,
    /// A hook.
    Further(HookRef<F>),
}

impl<F: Flavour> RecordRef<F> {
    /// Registers with a stack; the hook is the record's first if that is not taken. The caller holds a
    /// strong handle, so the object lives; the registration has a reference of its own. O(1).
    ///
    /// # Safety
    /// As for [`StackRef::hook`].
    unsafe fn register(self, stack: StackRef<F>, hash: u32) -> Registered<F> {
        let block = self.block();
        let mut spare = None;
        loop {
            let Some(gate) = self.lock() else {
                unreachable!("it lives")
            };
            if gate.target().is_none() {
                gate.set_target(Some(stack));
                // R2: the gate keeps `get_mut` out.
                self.add_ref();
                // SAFETY: B3, we hold the gate.
                unsafe { block.set_hash(hash) };
                drop(gate);
                if let Some(hook) = spare {
                    // SAFETY: it was not used.
                    unsafe { stack.give_back(hook) };
                }
                return Registered::First;
            }
            // SAFETY: the caller's promise.
            if let Some(hook) = spare.or_else(|| unsafe { stack.spare_hook(block, hash) }) {
                self.add_ref();
                hook.link_after(self.first());
                return Registered::Further(hook);
            }
            // Not under the gate, since it allocates.
            drop(gate);
            // SAFETY: the caller's promise.
            spare = Some(unsafe { stack.hook(block, hash) });
        }
    }

    /// Ends the registration that the block stands for, unless its notice has been or is just being pushed.
    ///
    /// # Safety
    /// R3: it is the caller's.
    #[inline]
    unsafe fn unregister_first(self) -> bool {
        match self.lock() {
            // R3: it is registered until the gate is closed.
            Some(gate) => gate.set_target(None),
            None => return false,
        }
        // SAFETY: the registration's reference.
        unsafe { self.release() };
        true
    }

    /// Ends a registration with a further hook, unless its notice has been or is just being pushed. The hook
    /// is then the caller's.
    ///
    /// # Safety
    /// H1: the registration is the caller's.
    #[inline]
    unsafe fn unregister(self, hook: HookRef<F>) -> bool {
        match self.lock() {
            Some(_gate) if !hook.is_fired() => hook.unlink(),
            _ => return false,
        }
        // SAFETY: the registration's reference.
        unsafe { self.release() };
        true
    }

    /// Ends a registration of whatever kind, unless the notices of the object's death have begun: then
    /// its own has come or will come. The hook is taken back, and the stack returned: it stays as long as its
    /// collection.
    ///
    /// (Another thread may have drained the notice, and freed the hook, before the gate is closed: so
    /// whether it has been fired cannot be read from it, once the gate is not open.)
    ///
    /// # Safety
    /// The registration, one with a stack that counts, is the caller's; it is not ended twice. The caller
    /// has a reference besides.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn unregister_shared(self, hook: NonNull<()>) -> Option<StackRef<F>> {
        let gate = self.lock().filter(Gate::is_open)?;
        // SAFETY: H1: the gate is open, so it has not been fired.
        unsafe {
            let hook = HookRef::from_ptr(hook);
            let stack = hook.target();
            if hook == self.first() {
                gate.set_target(None);
                drop(gate);
            } else {
                hook.unlink();
                drop(gate);
                stack.give_back(hook);
            }
            self.release();
            Some(stack)
        }
    }
}
