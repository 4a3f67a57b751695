//! The gate of a record: the lock of its lists, with all that threads read and change under the
//! lock. The invariants, R1 to R4, are in `record`.

use alloc::boxed::Box;
use core::{mem, ptr};

use super::callbacks::FinalizerNode;
use super::flavour::{Counter, Flavour, Variable, abort};
use super::home::Home;
use super::hook::HookRef;
use super::recipient::Recipient;
use super::record::{CHECKING, MAX_REGISTERED, OPEN, OWN, RecordRef, RecordSlot};
use crate::sync::{
    self, Critical,
    Ordering::{self, *},
};

/// A flag: a thread has the gate, to change the lists, to push some notices, or to take some hooks
/// off.
const LOCKED: u32 = 1;
/// A flag: the object has died, and its registrations are being ended.
const DYING: u32 = 2;
/// A flag: the object is dead, and all its registrations have ended. Final.
const CLOSED: u32 = 4;
/// A flag: the object returns (G1).
const RETURNING: u32 = 8;
/// A flag: a thread has waited for long while the gate was locked. Only a locked gate has the mark:
/// each unlocking takes the mark away, and a thread that waits on marks the gate again.
const WANTED: u32 = 16;
/// One bystander, in the bits of the gate above the flags. Bystanders are counted up to
/// `MAX_BYSTANDERS`.
const BYSTANDER: u32 = 1 << 8;
pub(super) const MAX_BYSTANDERS: u32 = u32::MAX / BYSTANDER;

/// A guard of the gate. R2.
pub(super) struct Gate<F: Flavour> {
    record: RecordRef<F>,
    /// The value that the gate gets when the guard is dropped.
    word: u32,
    _critical: Critical,
}

impl<F: Flavour> Drop for Gate<F> {
    #[inline]
    fn drop(&mut self) {
        // Release: our changes are visible to the next thread that takes the gate.
        self.set(self.word, Release);
    }
}

impl<F: Flavour> Gate<F> {
    /// Sets the word of the gate, without the mark of a waiter. (A store overwrites the mark. loom
    /// has an exchange: see the head of `sync`.)
    #[inline(always)]
    fn set(&self, word: u32, order: Ordering) {
        let gate = &self.record.get().gate;
        if cfg!(weakly_loom) {
            gate.swap(word, order);
        } else {
            gate.store(word, order);
        }
    }

    /// Opens the gate in the middle of a long walk. Returns whether a thread has waited for long:
    /// then the caller [gives way](sync::give_way).
    pub(super) fn pause(self) -> bool {
        // Relaxed: the mark is a hint. (Not a load: see the head of `sync`.)
        let gate = &self.record.get().gate;
        F::SHARED && gate.swap(self.word | LOCKED, Relaxed) & WANTED != 0
    }

    /// Returns whether the death has not begun to end registrations.
    pub(super) fn is_open(&self) -> bool {
        self.word & (DYING | CLOSED) == OPEN
    }

    /// Begins to end registrations, as part of the death (R4). Returns the list of finalizers.
    ///
    /// # Safety
    /// Called once, by the dying thread. If the object has a home, the thread has
    /// [taken](Self::take_home) it out.
    pub(super) unsafe fn begin_death(&mut self) -> *mut FinalizerNode<F> {
        debug_assert_eq!(self.word & RETURNING, 0);
        // SAFETY: R4, the caller's promise.
        unsafe {
            let finalizers = self.finalizers_or_home(|head| mem::replace(head, ptr::null_mut()));
            self.word |= DYING;
            // Release: with `is_open`. (The gate stays ours.)
            self.set(self.word | LOCKED, Release);
            finalizers
        }
    }

    /// Begins to close a token, whose gate was open (K2 of [`token`](super::token)).
    #[cfg(feature = "std")]
    pub(super) fn begin_closing(&mut self) {
        debug_assert!(self.is_open());
        self.word |= DYING;
    }

    /// Marks all registrations as ended (R4). The caller is the dying thread.
    pub(super) fn set_closed(&mut self) {
        self.word = CLOSED;
    }

    /// Runs `f` with the head of the list of finalizers, which is in the home if the object returns
    /// (G1).
    ///
    /// # Safety
    /// R4: the death has not begun.
    pub(super) unsafe fn finalizers<R>(
        &self,
        f: impl FnOnce(&mut *mut FinalizerNode<F>) -> R,
    ) -> R {
        // SAFETY: the caller's promise; G1.
        unsafe {
            self.finalizers_or_home(|head| match is_returning::<F>(self.word) {
                true => f(&mut (*head.cast::<Home<F>>()).finalizers),
                false => f(head),
            })
        }
    }

    /// Runs `f` with the head of the list of finalizers or, if the object returns, its home.
    ///
    /// # Safety
    /// R4: the death has not begun.
    unsafe fn finalizers_or_home<R>(&self, f: impl FnOnce(&mut *mut FinalizerNode<F>) -> R) -> R {
        // SAFETY: R2, we have the gate; the caller's promise.
        unsafe { self.record.get().finalizers.with_mut(|head| f(&mut *head)) }
    }

    /// Makes the object return from now on.
    ///
    /// # Safety
    /// G1: no thread but the caller has a handle to the object, which has no home and no finalizer.
    /// G3: this home is for the type of the payload.
    pub(super) unsafe fn set_home(&mut self, home: Box<Home<F>>) {
        self.word |= RETURNING;
        // SAFETY: R4: the object is alive.
        unsafe {
            self.finalizers_or_home(|head| {
                debug_assert!(head.is_null() && home.finalizers.is_null());
                *head = Box::into_raw(home).cast();
            });
        }
    }

    /// Makes the object not return any more. Returns its home, if it has one.
    ///
    /// # Safety
    /// G1, R4: the count of the object is zero, and the caller is the thread that has taken it to
    /// zero; the death has not begun.
    pub(super) unsafe fn take_home(&mut self) -> Option<Box<Home<F>>> {
        if !is_returning::<F>(self.word) {
            return None;
        }
        self.word &= !RETURNING;
        // SAFETY: the caller's promise; G1, `set_home` has put the home there.
        unsafe {
            self.finalizers_or_home(|head| {
                let mut home = Box::from_raw(head.cast::<Home<F>>());
                *head = mem::replace(&mut home.finalizers, ptr::null_mut());
                Some(home)
            })
        }
    }

    /// Returns the recipient of a registration in the record itself, if there is such a
    /// registration (R3).
    #[inline]
    pub(super) fn recipient(&self, slot: RecordSlot) -> Option<Recipient<F>> {
        // Relaxed: R2, we have the gate.
        // SAFETY: R3, a pointer that is not null leads to the recipient of a registration.
        unsafe { Recipient::decode(self.record.slot(slot).load(Relaxed)) }
    }

    #[inline]
    pub(super) fn set_recipient(&self, slot: RecordSlot, recipient: Option<Recipient<F>>) {
        // Relaxed: R2, we have the gate.
        let place = self.record.slot(slot);
        place.store(Recipient::encode(recipient), Relaxed);
    }

    /// Registers the second entry, whose slot is free.
    #[inline]
    pub(super) fn set_second(&self, recipient: Recipient<F>, hash: u32) {
        // Relaxed: every reader has synchronised with the registration.
        self.record.get().hash.store(hash, Relaxed);
        self.set_recipient(RecordSlot::Second, Some(recipient));
    }

    /// Returns the newest hook.
    pub(super) fn newest(&self) -> Option<HookRef<F>> {
        self.hooks(|newest| *newest)
    }

    /// Returns how many registrations there are.
    pub(super) fn count(&self) -> u32 {
        self.registered(|registered| *registered)
    }

    fn registered<R>(&self, f: impl FnOnce(&mut u32) -> R) -> R {
        let registered = &self.record.get().registered;
        // SAFETY: R2, we have the gate.
        registered.with_mut(|registered| f(unsafe { &mut *registered }))
    }

    /// Counts one more registration. R1: the caller has a strong pointer.
    #[inline]
    pub(super) fn add_registration(&self) {
        self.registered(|registered| {
            *registered += 1;
            if *registered > MAX_REGISTERED {
                abort();
            }
        });
    }

    /// Counts off a registration that has ended. R1: the registration was the caller's, and the
    /// caller does not use the record after the gate.
    #[inline]
    pub(super) fn end_registration(&self) {
        self.registered(|registered| *registered -= 1);
    }

    /// Counts off a registration that has ended, and gives its watch a reference. R1: the gate is
    /// open, and the registration was the caller's.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn keep_share(&self) {
        self.end_registration();
        // Under the gate: the object is not at its end, and `get_mut` does not check.
        self.record.add_ref();
    }

    fn hooks<R>(&self, f: impl FnOnce(&mut Option<HookRef<F>>) -> R) -> R {
        let hooks = &self.record.get().hooks;
        // SAFETY: R2, we have the gate.
        hooks.with_mut(|head| f(unsafe { &mut *head }))
    }

    #[inline]
    pub(super) fn link(&self, hook: HookRef<F>) {
        self.hooks(|head| hook.link_to(head));
    }

    /// Unlinks a hook, which is in the list.
    #[inline]
    pub(super) fn unlink(&self, hook: HookRef<F>) {
        self.hooks(|head| hook.unlink(head));
    }

    /// Unlinks the newest hook.
    #[inline]
    pub(super) fn pop(&self) -> Option<HookRef<F>> {
        self.hooks(|head| {
            let hook = (*head)?;
            hook.unlink(head);
            Some(hook)
        })
    }

    fn bystanders(&self) -> u32 {
        self.word / BYSTANDER
    }

    /// Counts a bystander. (Past the largest number, the reference of a bystander counts like a
    /// weak pointer.)
    pub(super) fn add_bystander(&mut self) {
        if self.bystanders() < MAX_BYSTANDERS {
            self.word += BYSTANDER;
        }
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_bystanders(&mut self, count: u32) {
        self.word = count * BYSTANDER;
    }

    /// Counts a bystander off, if one is left.
    pub(super) fn remove_bystander(&mut self) {
        if self.bystanders() > 0 {
            self.word -= BYSTANDER;
        }
    }
}

/// Returns whether a gate has the flag of a returning object. (No object of one thread returns.)
#[inline(always)]
fn is_returning<F: Flavour>(gate: u32) -> bool {
    F::SHARED && gate & RETURNING != 0
}

impl<F: Flavour> RecordRef<F> {
    /// Returns whether the object returns. The caller has a strong pointer, or has dropped the last
    /// one.
    #[inline]
    pub(super) fn is_returning(self) -> bool {
        // Relaxed: G1.
        is_returning::<F>(self.get().gate.load(Relaxed))
    }

    /// Returns whether the object returns to the [destination](super::home::Destination) at this
    /// address. The caller has a strong pointer.
    pub(super) fn returns_to(self, destination: *const ()) -> bool {
        self.is_returning()
            && self.lock().is_some_and(|gate| {
                // SAFETY: R4: the object is alive. G1: the flag is set, so the pointer is the
                // object's home.
                unsafe {
                    gate.finalizers_or_home(|head| {
                        (*head.cast::<Home<F>>()).destination == destination
                    })
                }
            })
    }

    /// Takes the gate. Returns `None` if the object is dead and all its registrations have ended.
    #[inline]
    pub(super) fn lock(self) -> Option<Gate<F>> {
        let gate = &self.get().gate;
        let (mut word, mut turn) = (OPEN, 0);
        loop {
            // Acquire: the Release of the thread that left the gate open, dying or closed.
            match gate.compare_exchange(word, word | LOCKED, Acquire, Acquire) {
                Ok(_) => {
                    return Some(Gate {
                        record: self,
                        word,
                        _critical: Critical::enter(),
                    });
                }
                Err(now) if now & CLOSED != 0 => return None,
                Err(now) if now & LOCKED == 0 => word = now,
                Err(now) => {
                    sync::relax(&mut turn);
                    if sync::is_long(turn) && now & WANTED == 0 {
                        // Relaxed: a hint for the thread that has the gate. If the gate has been
                        // unlocked meanwhile, the exchange fails.
                        let _ = gate.compare_exchange(now, now | WANTED, Relaxed, Relaxed);
                    }
                }
            }
        }
    }

    /// Returns whether the death has not yet ended the registrations with collections that threads
    /// share (R4).
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn is_open(self) -> bool {
        // Acquire: with the gate: a death that has looked for an entry, and has not found it, had
        // ended the registrations before.
        self.get().gate.load(Acquire) & (DYING | CLOSED) == 0
    }

    /// Returns whether all registrations have ended, and their entries are unlinked.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn is_closed(self) -> bool {
        // Acquire: with the drop of the gate by the thread that has closed it.
        self.get().gate.load(Acquire) & CLOSED != 0
    }

    /// Returns whether the object has nothing weak that could be upgraded, and `alone` returns
    /// true, which says that the caller's strong pointer is the only one. No weak pointer can come
    /// while `alone` runs.
    pub(super) fn is_unwatched(self, alone: impl FnOnce() -> bool) -> bool {
        let Some(gate) = self.lock() else {
            return false;
        };
        if gate.count() != 0 {
            return false;
        }
        let unwatched = OWN + gate.bystanders();
        let refs = &self.get().refs;
        // A token takes itself out of the bystanders before it gives its reference up, so an
        // equality proves that there is no other reference.
        // Acquire: the uses by the owners of former references.
        if refs
            .compare_exchange(unwatched, unwatched | CHECKING, Acquire, Relaxed)
            .is_err()
        {
            return false;
        }
        let alone = alone();
        // Not a store: downgrades wait, counted.
        // Relaxed: see `add_ref_by_strong`.
        refs.fetch_sub(CHECKING, Relaxed);
        alone
    }

    /// Returns the number of weak pointers and entries. A snapshot.
    pub(super) fn weak_count(self) -> usize {
        // Under the gate, so that no registration is counted twice or not at all.
        let gate = self.lock();
        let refs = self.get().refs.load(Relaxed) & !CHECKING;
        let (registered, bystanders) =
            gate.map_or((0, 0), |gate| (gate.count(), gate.bystanders()));
        // Saturating, since a dead object has given up its own references.
        (refs + registered).saturating_sub(OWN + bystanders) as usize
    }
}
