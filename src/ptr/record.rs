//! The record of an object on which more holds weakly than a few weak handles or one entry.
//!
//! Invariants:
//!
//! * **R1** `refs` counts who may use record and block: the object until the end of its death, every weak
//!   handle, every registered hook until it is unregistered or its notice is finished, every finalizer
//!   token, and what else a shared collection asks for. Whoever takes it to zero frees both. A record is
//!   never taken away from a block.
//! * **R2** `target`, `bystanders`, `finalizers`, and the links of the hooks in the list are used only by
//!   the holder of the gate; once it is [`CLOSED`], only by the thread that closed it. No code of a user
//!   runs under it.
//! * **R3** `first` stands for the registration that the block itself stands for, and is the head of the
//!   list: it is registered while `target` is not null, until the gate is closed. Its hash is the header's
//!   (B3).
//! * **R4** The gate is [`DYING`] from the beginning of the notices, and `CLOSED` when all are pushed. No
//!   hook comes meanwhile: to register takes a strong handle.

use alloc::boxed::Box;
use core::mem::{ManuallyDrop, offset_of};
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::flavour::{Counter, Flavour, abort};
use super::header::Block;
use super::hook::{Hook, HookRef};
use super::stack::{StackRef, Target};
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// The lists may be entered.
const OPEN: u32 = 0;
/// A thread is in the lists, for pointer surgery or some pushes.
const LOCKED: u32 = 1;
/// A flag: the object has died, and its notices are being pushed.
const DYING: u32 = 2;
/// The object is dead, and all its notices are pushed. Final.
const CLOSED: u32 = 4;

/// The flag in `refs` by which `get_mut` keeps new weak handles waiting. No count reaches it.
const ASKED: usize = 1 << (usize::BITS - 1);
/// Past this many references the process is aborted.
pub(super) const MAX_REFS: usize = usize::MAX >> 2;

/// See the module's chapter.
#[repr(C, align(8))]
pub(crate) struct Record<F: Flavour> {
    target: Target<F>,
    refs: F::Word,
    gate: F::Half,
    /// Those of `refs` that can never bring back a strong handle: tokens of finalizers.
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

/// The gate, while it is held. R2.
pub(super) struct Gate<F: Flavour> {
    record: RecordRef<F>,
    /// What it was, and will be again.
    phase: u32,
}

impl<F: Flavour> Drop for Gate<F> {
    #[inline]
    fn drop(&mut self) {
        // Release: our surgery is visible to whoever takes the gate next.
        self.record.get().gate.store(self.phase, Release);
    }
}

impl<F: Flavour> Gate<F> {
    /// Whether the notices of the object's death have not begun.
    pub(super) fn is_open(&self) -> bool {
        self.phase == OPEN
    }

    /// R4: the notices have begun. The caller is the dying thread.
    pub(super) fn set_dying(&mut self) {
        self.phase = DYING;
    }

    /// R4: all notices are pushed. The caller is the dying thread.
    pub(super) fn set_closed(&mut self) {
        self.phase = CLOSED;
    }

    /// Runs `f` with the head of the list of finalizers.
    pub(super) fn finalizers<R>(&self, f: impl FnOnce(&mut *mut FinalizerNode<F>) -> R) -> R {
        // SAFETY: R2, we hold the gate.
        self.record
            .get()
            .finalizers
            .with_mut(|head| f(unsafe { &mut *head }))
    }

    /// The stack of the first registration, if it is registered (R3).
    pub(super) fn target(&self) -> Option<StackRef<F>> {
        // SAFETY: R2, we hold the gate.
        let target = self.record.get().target.with(|target| unsafe { *target });
        // SAFETY: R3, what is not null is the stack of a collection.
        (!target.is_null()).then(|| unsafe { StackRef::from_ptr(target) })
    }

    pub(super) fn set_target(&self, target: Option<StackRef<F>>) {
        let target = target.map_or(ptr::null_mut(), StackRef::as_ptr);
        // SAFETY: R2, we hold the gate.
        self.record
            .get()
            .target
            .with_mut(|place| unsafe { *place = target });
    }

    pub(super) fn bystanders<R>(&self, f: impl FnOnce(&mut u32) -> R) -> R {
        // SAFETY: R2, we hold the gate.
        self.record
            .get()
            .bystanders
            .with_mut(|bystanders| f(unsafe { &mut *bystanders }))
    }
}

/// A record that nobody knows yet. Dropped unless it is [published](Fresh::publish).
// (Not a box: once `state` has the pointer, to move a box would be to claim that nobody else uses it.)
pub(super) struct Fresh<F: Flavour>(RecordRef<F>);

impl<F: Flavour> Fresh<F> {
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
        Fresh(RecordRef(unsafe {
            NonNull::new_unchecked(Box::into_raw(record))
        }))
    }

    /// What the record is to say when it is published.
    pub(super) fn set(&mut self, refs: usize, target: Option<StackRef<F>>) {
        let record = self.0.get();
        // Relaxed: the publication.
        record.refs.store(refs, Relaxed);
        let target = target.map_or(ptr::null_mut(), StackRef::as_ptr);
        // SAFETY: nobody else knows the record.
        record.target.with_mut(|place| unsafe { *place = target });
    }

    /// The record, for `state` to name.
    pub(super) fn record(&self) -> RecordRef<F> {
        self.0
    }

    /// `state` names the record now.
    pub(super) fn publish(self) -> RecordRef<F> {
        ManuallyDrop::new(self).0
    }
}

impl<F: Flavour> Drop for Fresh<F> {
    fn drop(&mut self) {
        // SAFETY: made from a box, and nobody else knows it.
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
    /// follows. (Of this reference only fields that are cells are used after that.)
    #[inline(always)]
    fn get<'a>(self) -> &'a Record<F> {
        // SAFETY: R1.
        let record = unsafe { self.0.as_ref() };
        record.live.check();
        record
    }

    #[inline]
    pub(super) fn first(self) -> HookRef<F> {
        // SAFETY: a place in the record, with its provenance.
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

    /// One more reference, by a caller who has one.
    #[inline]
    pub(crate) fn add_ref(self) {
        // Relaxed: the caller's reference.
        if self.get().refs.fetch_add(1, Relaxed) & !ASKED > MAX_REFS {
            abort();
        }
    }

    /// One more reference, on the strength of a strong handle alone: it waits for `get_mut`, which may be
    /// looking whether there is one.
    #[inline]
    pub(super) fn add_ref_by_strong(self) {
        // Relaxed, also below: `get_mut` acquires the drop of our handle, if it sees it. What we do before
        // that drop then happens before the end of its look, so we cannot have seen that end.
        let before = self.get().refs.fetch_add(1, Relaxed);
        if before & !ASKED > MAX_REFS {
            abort();
        }
        let (mut asked, mut turn) = (before, 0);
        while asked & ASKED != 0 {
            sync::relax(&mut turn);
            asked = self.get().refs.load(Relaxed);
        }
    }

    /// Gives a reference back, and frees record and block with the last.
    ///
    /// # Safety
    /// R1: the caller owns a reference, and gives it up.
    #[inline]
    pub(crate) unsafe fn release(self) {
        // Release: our uses happen before the end. Acquire: so do all others'.
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

    /// Takes the gate; none if the object is dead and all its notices are pushed.
    #[inline]
    pub(super) fn lock(self) -> Option<Gate<F>> {
        let gate = &self.get().gate;
        let (mut phase, mut turn) = (OPEN, 0);
        loop {
            // Acquire: the release of whoever left the gate, open, dying or closed.
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

    /// Whether all notices of the object's death are pushed.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn is_closed(self) -> bool {
        // Acquire: the release of the close, so that the death happens before what the caller concludes.
        self.get().gate.load(Acquire) == CLOSED
    }

    /// Whether notices of the object's death have been pushed; if not, all are still to come.
    #[cfg(feature = "std")]
    pub(crate) fn is_dying(self) -> bool {
        self.lock().is_none_or(|gate| !gate.is_open())
    }

    /// Whether nobody holds on weakly in a way that could bring back a strong handle, and `alone` says that
    /// the caller's is the only one, while no weak handle can come.
    pub(super) fn is_unwatched(self, alone: impl FnOnce() -> bool) -> bool {
        let Some(gate) = self.lock() else {
            return false;
        };
        let unwatched = 1 + gate.bystanders(|bystanders| *bystanders as usize);
        let refs = &self.get().refs;
        // A token takes itself out of the bystanders before it gives its reference back, so an equality
        // proves that there is no other reference. Acquire: what those did who gave theirs back.
        if refs
            .compare_exchange(unwatched, unwatched | ASKED, Acquire, Relaxed)
            .is_err()
        {
            return false;
        }
        let alone = alone();
        // Not a store: downgrades wait, counted. Relaxed: see `add_ref_by_strong`.
        refs.fetch_sub(ASKED, Relaxed);
        alone
    }

    /// How many hold on weakly. A moment's answer.
    pub(super) fn weak_count(self) -> usize {
        let refs = self.get().refs.load(Relaxed) & !ASKED;
        let bystanders = self
            .lock()
            .map_or(0, |gate| gate.bystanders(|bystanders| *bystanders as usize));
        // Saturating: the two looks are not one.
        refs.saturating_sub(1 + bystanders)
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_refs(self, refs: usize) {
        self.get().refs.store(refs, Relaxed);
    }
}
