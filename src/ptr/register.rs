//! Registrations: how an entry registers for the notice of an object's death (with the block, with its record's
//! first hook, or with a further hook), and how it deregisters.

#[cfg(feature = "std")]
use core::ptr::NonNull;

use super::flavour::{Flavour, Link};
use super::header::Block;
use super::hook::HookRef;
#[cfg(feature = "std")]
use super::record::Gate;
#[cfg(feature = "std")]
use super::record::NewRecord;
use super::record::RecordRef;
use super::stack::StackRef;
use super::state::{NONE, State, guess, locked, weak};
use crate::sync::Ordering::*;

/// What an entry is registered with. See [`Block::register`].
pub(crate) enum Registration<F: Flavour> {
    /// The block itself.
    Block,
    /// A hook.
    Hook(HookRef<F>),
}

impl<F: Flavour> Block<F> {
    /// Registers an entry with this hash: the object's death pushes a notice. O(1); allocates if there
    /// are weak pointers, other registrations or finalizers already.
    ///
    /// # Safety
    /// The caller has a strong pointer, and is the owner of the stack. (A stack that counts needs no owner.)
    #[inline]
    pub(crate) unsafe fn register(self, stack: StackRef<F>, hash: u32) -> Registration<F> {
        let state = &self.header().state;
        let mut now = state.first_load(NONE);
        while now == NONE || now == weak(1) {
            // Acquire: a weak pointer that is gone, or an entry that is gone and whose hash is overwritten.
            match state.compare_exchange(now, locked(), Acquire, Acquire) {
                Ok(_) => {
                    // SAFETY: B3, the state is locked.
                    unsafe { self.set_hash(hash) };
                    // Release: passes on what the lock acquired, as a store does not by itself. (The thread
                    // that reaches the stack through it has synchronised with our strong pointer's drop.)
                    state.store(State::Thin(stack).encode(), Release);
                    return Registration::Block;
                }
                Err(other) => now = other,
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.register_further(now, stack, hash) }
    }

    /// As [`register`](Self::register), if the block may not be the registration.
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

    /// Registers an entry of a collection that threads share: always with a hook, and with one more reference
    /// for the entry. O(1); allocates.
    ///
    /// # Safety
    /// As for [`register`](Self::register).
    #[cfg(feature = "std")]
    pub(crate) unsafe fn register_shared(self, stack: StackRef<F>, hash: u32) -> HookRef<F> {
        let state = &self.header().state;
        let now = state.first_load(NONE);
        if now == NONE || now == weak(1) {
            // The record comes into the world with its first registration: one exchange for what takes four
            // below. Before the state is locked, for the step may fail.
            let mut new = NewRecord::new(self);
            // The object's, the registration's, and the entry's.
            new.set(3, Some(stack));
            // Acquire: as in `register`.
            if state
                .compare_exchange(now, locked(), Acquire, Acquire)
                .is_ok()
            {
                // SAFETY: B3, the state is locked.
                unsafe { self.set_hash(hash) };
                // Release: the record and the hash; and as in `register`.
                state.store(State::Record(new.record()).encode(), Release);
                return new.publish().first();
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.register_shared_further(stack, hash) }
    }

    /// As [`register_shared`](Self::register_shared), if there may be a record, or weak pointers.
    ///
    /// # Safety
    /// As there.
    #[cfg(feature = "std")]
    #[inline(never)]
    unsafe fn register_shared_further(self, stack: StackRef<F>, hash: u32) -> HookRef<F> {
        // SAFETY: the caller's promise.
        unsafe {
            let record = self.record();
            // First the step that may allocate, and fail.
            let hook = match record.register(stack, hash) {
                Registered::First => record.first(),
                Registered::Further(hook) => hook,
            };
            // The entry's reference; the registration has its own.
            record.add_ref();
            hook
        }
    }

    /// Ends the registration that is the block itself. False if the object's death came first: then the
    /// notice has come, or will come. O(1).
    ///
    /// # Safety
    /// The registration is the caller's, and is ended once.
    #[inline]
    pub(crate) unsafe fn unregister(self, stack: StackRef<F>) -> bool {
        let mut now = self.header().state.first_load(State::Thin(stack).encode());
        loop {
            match State::<F>::decode(now) {
                State::Thin(_) => match self.transition(now, NONE) {
                    Ok(_) => return true,
                    Err(other) => now = other,
                },
                // SAFETY: R3, the caller's promise.
                State::Record(record) => return unsafe { record.unregister_first() },
                State::Dead => return false,
                State::None | State::Weak(_) | State::Locked => {
                    unreachable!("the entry is registered")
                }
            }
        }
    }

    /// Ends the registration with a further hook. As [`unregister`](Self::unregister).
    ///
    /// # Safety
    /// As there; `stack` is the registration's, and the caller its owner.
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

    /// Makes one more weak pointer for the owner of a registration that is the block itself. False if the
    /// object is dead and the block its notice: there is nothing left to share.
    ///
    /// # Safety
    /// The registration does not end meanwhile.
    pub(crate) unsafe fn downgrade_registered(self) -> bool {
        let mut new = None;
        let mut now = self.header().state.first_load(guess());
        loop {
            let state = State::decode(now);
            now = match state {
                State::Thin(_) => {
                    self.prepare(&state, 1, &mut new);
                    match self.inflate(now, &mut new) {
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
                    unreachable!("the entry is registered")
                }
            };
        }
    }
}

/// What a record registers an entry with.
enum Registered<F: Flavour> {
    /// The record's first hook, for the block.
    First,
    /// Another hook.
    Further(HookRef<F>),
}

impl<F: Flavour> RecordRef<F> {
    /// Registers with a stack, by the record's first hook if that is unused. The caller has a strong pointer,
    /// so the object is alive; the registration gets a reference of its own. O(1).
    ///
    /// # Safety
    /// As for [`StackRef::hook`].
    unsafe fn register(self, stack: StackRef<F>, hash: u32) -> Registered<F> {
        let block = self.block();
        let mut spare = None;
        loop {
            let Some(gate) = self.lock() else {
                unreachable!("the object is alive")
            };
            if gate.target().is_none() {
                gate.set_target(Some(stack));
                // R2: the gate keeps `get_mut` out.
                self.add_ref();
                // SAFETY: B3, we have the gate.
                unsafe { block.set_hash(hash) };
                drop(gate);
                if let Some(hook) = spare {
                    // SAFETY: the hook was not used.
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

    /// Ends the registration that is the block itself, unless its notice has been or is being pushed.
    ///
    /// # Safety
    /// R3: the registration is the caller's.
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

    /// Ends a registration with a further hook, unless its notice has been or is being pushed. The hook is
    /// then the caller's.
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

    /// Ends a registration of either kind, unless the death has begun to push notices: then this one's notice
    /// has come or will come. Takes the hook back. Returns the stack, which lives as long as its collection.
    ///
    /// (Another thread may have drained the notice, and freed the hook, before the gate is closed. So once
    /// the gate is not open, the hook may not be read to learn whether it is fired.)
    ///
    /// # Safety
    /// The registration, one with a stack that counts, is the caller's, and is ended once. The caller has a
    /// reference besides.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn unregister_shared(self, hook: NonNull<()>) -> Option<StackRef<F>> {
        let gate = self.lock().filter(Gate::is_open)?;
        // SAFETY: H1: the gate is open, so the hook is not fired.
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
