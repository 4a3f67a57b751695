//! The record of an object: for more weak pointers, entries and finalizers than the state word can name.
//!
//! Invariants:
//!
//! * **R1** `refs` counts those that may use record and block: the object until the end of its death, every
//!   weak pointer, every registered hook until it is unregistered or its notice is finished (for a collection that
//!   threads share, until its watch is dropped), and every finalizer token. The thread that takes it to zero frees both. A
//!   block never loses its record.
//! * **R2** `target`, `bystanders`, `finalizers`, and the links of the hooks in the list are used only by
//!   the thread that has the gate; once the gate is [`CLOSED`], only by the thread that closed it. No code of
//!   a user runs under it.
//! * **R3** `first` is the hook of the registration that is the block itself, and the head of the list. It is
//!   registered while `target` is not null, until the gate is closed. Its hash is the header's (B3).
//! * **R4** The gate is [`DYING`] from the first batch of hooks on, and `CLOSED` when all are pushed or taken off. No
//!   hook comes meanwhile: to register takes a strong pointer. By the step to `DYING` the death ends the registrations
//!   with collections that threads share (C1 of `shared`).

use alloc::boxed::Box;
use core::mem::{ManuallyDrop, offset_of};
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::flavour::{Counter, Flavour, abort};
use super::header::Block;
use super::hook::{Hook, HookRef, TargetCell};
use super::target::Target;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// A thread may take the gate.
const OPEN: u32 = 0;
/// A thread has the gate, to change the lists, to push some notices, or to take some hooks off.
const LOCKED: u32 = 1;
/// A flag: the object has died, and its registrations are being ended.
const DYING: u32 = 2;
/// The object is dead, and all its registrations have ended. Final.
const CLOSED: u32 = 4;

/// The flag in `refs` by which `get_mut` makes new weak pointers wait while it checks. No count reaches it.
const CHECKING: usize = 1 << (usize::BITS - 1);
/// Past this many references the process aborts.
pub(super) const MAX_REFS: usize = usize::MAX >> 2;

/// See the module documentation.
#[repr(C, align(8))]
pub(crate) struct Record<F: Flavour> {
    target: TargetCell,
    refs: F::Word,
    gate: F::Half,
    /// The part of `refs` that can never be upgraded: tokens of finalizers.
    bystanders: UnsafeCell<u32>,
    /// Newest first.
    finalizers: UnsafeCell<*mut FinalizerNode<F>>,
    first: Hook<F>,
    live: Live,
}

/// A pointer to a record that is not freed (R1).
pub(crate) struct RecordRef<F: Flavour>(NonNull<Record<F>>);

impl<F: Flavour> Clone for RecordRef<F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Flavour> Copy for RecordRef<F> {}

impl<F: Flavour> PartialEq for RecordRef<F> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A guard of the gate. R2.
pub(super) struct Gate<F: Flavour> {
    record: RecordRef<F>,
    /// The phase before, to which the gate returns.
    phase: u32,
}

impl<F: Flavour> Drop for Gate<F> {
    #[inline]
    fn drop(&mut self) {
        // Release: our changes are visible to the next thread that takes the gate.
        self.record.get().gate.store(self.phase, Release);
    }
}

impl<F: Flavour> Gate<F> {
    /// Whether the death has not begun to end registrations.
    pub(super) fn is_open(&self) -> bool {
        self.phase == OPEN
    }

    /// R4: the death begins to end registrations. The caller is the dying thread.
    pub(super) fn set_dying(&mut self) {
        self.phase = DYING;
    }

    /// R4: all registrations have ended. The caller is the dying thread.
    pub(super) fn set_closed(&mut self) {
        self.phase = CLOSED;
    }

    /// Runs `f` with the head of the list of finalizers.
    pub(super) fn finalizers<R>(&self, f: impl FnOnce(&mut *mut FinalizerNode<F>) -> R) -> R {
        // SAFETY: R2, we have the gate.
        self.record
            .get()
            .finalizers
            .with_mut(|head| f(unsafe { &mut *head }))
    }

    /// What the first registration is with, if it is registered (R3).
    pub(super) fn target(&self) -> Option<Target<F>> {
        // SAFETY: R2, we have the gate; R3, a target that is not null is that of a collection.
        unsafe { Target::decode(self.record.get().target.with(|target| *target)) }
    }

    pub(super) fn set_target(&self, target: Option<Target<F>>) {
        let target = Target::encode(target);
        // SAFETY: R2, we have the gate.
        self.record
            .get()
            .target
            .with_mut(|place| unsafe { *place = target });
    }

    pub(super) fn bystanders<R>(&self, f: impl FnOnce(&mut u32) -> R) -> R {
        // SAFETY: R2, we have the gate.
        self.record
            .get()
            .bystanders
            .with_mut(|bystanders| f(unsafe { &mut *bystanders }))
    }
}

/// A record that no other thread knows yet. Freed on drop, unless it is [published](NewRecord::publish).
// (Not a box: once `state` has the pointer, to move a box would be to claim that no other thread uses it.)
pub(super) struct NewRecord<F: Flavour>(RecordRef<F>);

impl<F: Flavour> NewRecord<F> {
    pub(super) fn new(block: Block<F>) -> Self {
        let record = Box::new(Record {
            target: UnsafeCell::new(ptr::null_mut()),
            refs: F::Word::new(0),
            gate: F::Half::new(OPEN),
            bystanders: UnsafeCell::new(0),
            finalizers: UnsafeCell::new(ptr::null_mut()),
            first: Hook::new(block, RecordRef::<F>::OFFSET),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        NewRecord(RecordRef(unsafe {
            NonNull::new_unchecked(Box::into_raw(record))
        }))
    }

    /// Sets the count and the first registration with which the record is published.
    pub(super) fn set(&mut self, refs: usize, target: Option<Target<F>>) {
        let record = self.0.get();
        // Relaxed: the publication releases it.
        record.refs.store(refs, Relaxed);
        let target = Target::encode(target);
        // SAFETY: no other thread knows the record.
        record.target.with_mut(|place| unsafe { *place = target });
    }

    /// The record, for `state` to point to.
    pub(super) fn record(&self) -> RecordRef<F> {
        self.0
    }

    /// `state` points to the record now.
    pub(super) fn publish(self) -> RecordRef<F> {
        ManuallyDrop::new(self).0
    }
}

impl<F: Flavour> Drop for NewRecord<F> {
    fn drop(&mut self) {
        // SAFETY: made from a box, and no other thread knows it.
        drop(unsafe { Box::from_raw(self.0.0.as_ptr()) });
    }
}

impl<F: Flavour> RecordRef<F> {
    const OFFSET: usize = offset_of!(Record<F>, first) - offset_of!(Record<F>, target);

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// # Safety
    /// `record` is what [`as_ptr`](Self::as_ptr) has returned.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(record: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        RecordRef(unsafe { NonNull::new_unchecked(record.cast()) })
    }

    /// The record. R1: the caller has a reference, or is about to give it up by the one access that
    /// follows. (After that, only fields that are cells are used through this reference.)
    #[inline(always)]
    fn get<'a>(self) -> &'a Record<F> {
        // SAFETY: R1.
        let record = unsafe { self.0.as_ref() };
        record.live.check();
        record
    }

    #[inline]
    pub(super) fn first(self) -> HookRef<F> {
        // SAFETY: a field of the record, with the record's provenance.
        unsafe {
            let first = &raw mut (*self.0.as_ptr()).first;
            HookRef::from_ptr(NonNull::new_unchecked(first.cast()))
        }
    }

    /// The block.
    #[inline]
    pub(crate) fn block(self) -> Block<F> {
        self.first().block()
    }

    /// Adds a reference, for a caller that has one.
    #[inline]
    pub(crate) fn add_ref(self) {
        // Relaxed: the caller's reference.
        if self.get().refs.fetch_add(1, Relaxed) & !CHECKING > MAX_REFS {
            abort();
        }
    }

    /// Adds a reference for a caller that has only a strong pointer. Waits for `get_mut`, which may be checking
    /// that there is none.
    #[inline]
    pub(super) fn add_ref_by_strong(self) {
        // Relaxed, also below: `get_mut` acquires the drop of our strong pointer, if it sees it. What we do
        // before that drop then happens before the end of its check, so we cannot have seen that end.
        let before = self.get().refs.fetch_add(1, Relaxed);
        if before & !CHECKING > MAX_REFS {
            abort();
        }
        let (mut refs, mut turn) = (before, 0);
        while refs & CHECKING != 0 {
            sync::relax(&mut turn);
            refs = self.get().refs.load(Relaxed);
        }
    }

    /// Gives a reference up; the last frees record and block.
    ///
    /// # Safety
    /// R1: the caller owns a reference, and gives it up.
    #[inline]
    pub(crate) unsafe fn release(self) {
        // Release: our uses happen before the end. Acquire: so do all other threads'.
        if self.get().refs.fetch_sub(1, Release) == 1 {
            self.get().refs.load(Acquire);
            let block = self.block();
            self.first().retire();
            self.get().live.end();
            // SAFETY: R1, no reference is left; the object gave its own back after it was dead.
            unsafe {
                sync::free(self.0);
                block.free();
            }
        }
    }

    /// Takes the gate. None if the object is dead and all its registrations have ended.
    #[inline]
    pub(super) fn lock(self) -> Option<Gate<F>> {
        let gate = &self.get().gate;
        let (mut phase, mut turn) = (OPEN, 0);
        loop {
            // Acquire: the release of the thread that left the gate open, dying or closed.
            match gate.compare_exchange(phase, phase | LOCKED, Acquire, Acquire) {
                Ok(_) => {
                    return Some(Gate {
                        record: self,
                        phase,
                    });
                }
                Err(CLOSED) => return None,
                Err(now) if now & LOCKED == 0 => phase = now,
                Err(_) => sync::relax(&mut turn),
            }
        }
    }

    /// Whether the death has not yet ended the registrations with collections that threads share (R4).
    #[cfg(feature = "std")]
    #[inline]
    pub(super) fn is_open(self) -> bool {
        // Acquire: with the gate: a death that has looked for an entry, and not found it, has ended them before.
        self.get().gate.load(Acquire) & (DYING | CLOSED) == 0
    }

    /// Whether nothing weak could be upgraded, and `alone` returns true: that the caller's strong pointer is
    /// the only one. No weak pointer can come while `alone` runs.
    pub(super) fn is_unwatched(self, alone: impl FnOnce() -> bool) -> bool {
        let Some(gate) = self.lock() else {
            return false;
        };
        let unwatched = 1 + gate.bystanders(|bystanders| *bystanders as usize);
        let refs = &self.get().refs;
        // A token takes itself out of the bystanders before it gives its reference up, so an equality
        // proves that there is no other reference. Acquire: what the former references' owners did.
        if refs
            .compare_exchange(unwatched, unwatched | CHECKING, Acquire, Relaxed)
            .is_err()
        {
            return false;
        }
        let alone = alone();
        // Not a store: downgrades wait, counted. Relaxed: see `add_ref_by_strong`.
        refs.fetch_sub(CHECKING, Relaxed);
        alone
    }

    /// The number of weak pointers and entries. A snapshot.
    pub(super) fn weak_count(self) -> usize {
        let refs = self.get().refs.load(Relaxed) & !CHECKING;
        let bystanders = self
            .lock()
            .map_or(0, |gate| gate.bystanders(|bystanders| *bystanders as usize));
        // Saturating: the two loads are not one snapshot.
        refs.saturating_sub(1 + bystanders)
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_refs(self, refs: usize) {
        self.get().refs.store(refs, Relaxed);
    }
}
