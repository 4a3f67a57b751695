//! Registrations: how an entry registers with an object (with the block, with its record, or with a
//! hook), and how an entry of a collection of one owner deregisters.

use super::flavour::{Flavour, Variable, abort};
use super::gate::Gate;
use super::header::Block;
use super::hook::HookRef;
use super::recipient::Recipient;
use super::record::{RecordRef, RecordSlot};
use super::stack::StackRef;
use super::state::{MAX_WEAK, NONE, State, entry, guess, locked, thin, weak};
use crate::sync::{Critical, Ordering::*};

/// The place of a registration. See [`Block::register`].
#[derive(Clone, Copy)]
pub(crate) enum Registration<F: Flavour> {
    /// The block itself.
    Block,
    /// The record's second slot.
    Second,
    /// A hook.
    Hook(HookRef<F>),
}

impl<F: Flavour> Block<F> {
    /// Registers an entry. The object's death pushes a notice, or unlinks the entry. `hash` is
    /// stored with the registration; `None` stores no hash: the recipient is a core whose table
    /// computes the hash of an entry from the object's address. O(1); allocates if there are weak
    /// pointers, other registrations or finalizers already.
    ///
    /// # Safety
    /// The caller has a strong pointer. If the recipient is a stack, the caller is its owner.
    #[inline]
    pub(crate) unsafe fn register(
        self,
        recipient: Recipient<F>,
        hash: Option<u32>,
    ) -> Registration<F> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.register_first(recipient, hash) {
                Ok(()) => Registration::Block,
                Err(now) => self.register_further(now, recipient, hash),
            }
        }
    }

    /// Registers an entry as [`register`](Self::register) does, if the object has no registration
    /// and no weak pointer. The error is the state.
    ///
    /// # Safety
    /// As for [`register`](Self::register).
    #[inline]
    pub(super) unsafe fn register_first(
        self,
        recipient: Recipient<F>,
        hash: Option<u32>,
    ) -> Result<(), *mut ()> {
        let state = &self.header().state;
        let entry = entry(recipient);
        let step = if hash.is_some() { locked() } else { entry };
        let mut now = state.first_load(NONE);
        while now == NONE || now == weak(1) {
            // Acquire: the end of a weak pointer, or of an entry whose hash is overwritten.
            // Release: passes on all that was acquired, where this is the last step. (A thread that
            // reaches the recipient through the state has synchronised with our strong pointer's
            // drop.)
            match state.compare_exchange(now, step, AcqRel, Acquire) {
                Ok(_) => {
                    if let Some(hash) = hash {
                        let _critical = Critical::enter();
                        // SAFETY: B3, the state is locked.
                        unsafe { self.set_hash(hash) };
                        // Release: passes on all that the lock acquired, since a store does not
                        // pass it on by itself.
                        state.store(entry, Release);
                    }
                    return Ok(());
                }
                Err(other) => now = other,
            }
        }
        Err(now)
    }

    /// Registers an entry as [`register`](Self::register) does, in the record if the state needs a
    /// record. The state was `now`.
    ///
    /// # Safety
    /// As for [`register`](Self::register).
    #[cold]
    #[inline(never)]
    unsafe fn register_further(
        self,
        now: *mut (),
        recipient: Recipient<F>,
        hash: Option<u32>,
    ) -> Registration<F> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.record_from(now, false) {
                // The state needs no record any more: the block may be the registration.
                None => self.register(recipient, hash),
                Some(record) => match record.register(recipient, hash) {
                    Some(registration) => registration,
                    None => unreachable!("the object is alive"),
                },
            }
        }
    }

    /// Ends the registration that is the block itself. Returns false if the object's death came
    /// first: then the notice has come, or will come. O(1).
    ///
    /// # Safety
    /// The registration is the caller's, and is ended once.
    #[inline]
    pub(crate) unsafe fn unregister(self, stack: StackRef<F>) -> bool {
        let mut now = self.header().state.first_load(thin(stack));
        loop {
            match State::<F>::decode(now) {
                State::Thin(_) => match self.transition(now, NONE) {
                    Ok(_) => return true,
                    Err(other) => now = other,
                },
                // SAFETY: R3, the caller's promise.
                State::Record(record) => return unsafe { record.unregister(RecordSlot::First) },
                State::Dead => return false,
                State::None | State::Weak(_) | State::Shared(_) | State::Locked => {
                    unreachable!("the entry is registered")
                }
            }
        }
    }

    /// Ends the registration that is the record's second. See [`unregister`](Self::unregister).
    ///
    /// # Safety
    /// As for [`unregister`](Self::unregister).
    #[inline]
    pub(crate) unsafe fn unregister_second(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.known_record().unregister(RecordSlot::Second) }
    }

    /// Ends the registration with a hook. See [`unregister`](Self::unregister).
    ///
    /// # Safety
    /// As for [`unregister`](Self::unregister); `stack` is the registration's, and the caller is
    /// the owner of the stack.
    #[inline]
    pub(crate) unsafe fn unregister_hook(hook: HookRef<F>, stack: StackRef<F>) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let ended = RecordRef::of_hook(hook).unregister_hook(hook);
            if ended {
                stack.give_back(hook);
            }
            ended
        }
    }

    /// Makes one more weak pointer, for a thread that looks at the watch of a registration. The
    /// registration is the block itself, or is with a shared collection. Returns false if the
    /// object is dead and the block is its notice or belongs to its entry: then there is nothing
    /// left to share.
    ///
    /// # Safety
    /// An owner's registration does not end during the call. For a shared entry, neither its watch
    /// nor the watch that has inherited its share is dropped during the call.
    pub(crate) unsafe fn downgrade_registered(self) -> bool {
        let mut new = None;
        let mut now = self.header().state.first_load(guess());
        loop {
            let state = State::decode(now);
            let done = match state {
                State::Thin(_) | State::Shared(_) => {
                    self.prepare(&state, 1, &mut new);
                    self.inflate(now, &mut new).map(drop)
                }
                // Another thread has unlinked the shared entry; the entry's watch still has a
                // share.
                State::Weak(n) if n < MAX_WEAK => self.transition(now, weak(n + 1)).map(drop),
                State::Record(record) => {
                    record.add_ref();
                    Ok(())
                }
                State::Dead => return false,
                State::Weak(_) => abort(),
                State::None | State::Locked => unreachable!("the entry is registered"),
            };
            match done {
                Ok(()) => return true,
                Err(other) => now = other,
            }
        }
    }
}

impl<F: Flavour> RecordRef<F> {
    /// Registers with a recipient: in the record itself, if one of its two slots is free, or else
    /// with a hook. Returns `None` if the gate is not open, which never happens while the caller
    /// has a strong pointer. `hash`: as for [`Block::register`]. O(1).
    ///
    /// # Safety
    /// As for [`Recipient::hook`].
    pub(super) unsafe fn register(
        self,
        recipient: Recipient<F>,
        hash: Option<u32>,
    ) -> Option<Registration<F>> {
        let block = self.block();
        let mut spare = None;
        // SAFETY: the hook was not used.
        let give_back = |spare: Option<_>| unsafe {
            spare.into_iter().for_each(|hook| recipient.give_back(hook));
        };
        loop {
            let Some(gate) = self.lock().filter(Gate::is_open) else {
                give_back(spare);
                return None;
            };
            let within = if gate.recipient(RecordSlot::First).is_none() {
                gate.set_recipient(RecordSlot::First, Some(recipient));
                if let Some(hash) = hash {
                    // SAFETY: B3, we have the gate.
                    unsafe { block.set_hash(hash) };
                }
                Some(Registration::Block)
            } else if gate.recipient(RecordSlot::Second).is_none() {
                gate.set_second(recipient, hash.unwrap_or(0));
                Some(Registration::Second)
            } else {
                None
            };
            if let Some(within) = within {
                gate.add_registration();
                drop(gate);
                give_back(spare);
                return Some(within);
            }
            // SAFETY: the caller's promise.
            let take_spare = || unsafe { recipient.spare_hook(block, hash.unwrap_or(0)) };
            if let Some(hook) = spare.or_else(take_spare) {
                gate.add_registration();
                gate.link(hook);
                return Some(Registration::Hook(hook));
            }
            // Not under the gate, since `hook` allocates.
            drop(gate);
            // SAFETY: the caller's promise.
            spare = Some(unsafe { recipient.hook(block, hash.unwrap_or(0)) });
        }
    }

    /// Ends a registration that is in the record, unless its notice has been or is being pushed.
    /// Returns whether the registration was ended here.
    ///
    /// # Safety
    /// R3: the registration is the caller's.
    #[inline]
    unsafe fn unregister(self, slot: RecordSlot) -> bool {
        // R3: registered until the gate is closed.
        let Some(gate) = self.lock() else {
            return false;
        };
        gate.set_recipient(slot, None);
        gate.end_registration();
        true
    }

    /// Ends a registration with a hook, unless its notice has been or is being pushed. Returns
    /// whether the registration was ended here: then the hook belongs to the caller.
    ///
    /// # Safety
    /// H1: the registration is the caller's.
    #[inline]
    unsafe fn unregister_hook(self, hook: HookRef<F>) -> bool {
        let Some(gate) = self.lock().filter(|_| !hook.is_fired()) else {
            return false;
        };
        gate.unlink(hook);
        gate.end_registration();
        true
    }
}
