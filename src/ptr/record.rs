//! The record of an object: for more weak pointers, entries and finalizers than the state word can name.
//!
//! Invariants:
//!
//! * **R1** `refs` counts those that may use record and block: the object until the end of its death, every
//!   weak pointer, every registered hook until it is unregistered or its notice is finished (for a collection that
//!   threads share, until its watch is dropped), and every finalizer token. The thread that takes it to zero frees both. A
//!   block never loses its record.
//! * **R2** Bystanders, finalizers, the targets in `slots`, and the hooks with their links are used only by the thread
//!   that has the gate; once the gate is [`CLOSED`], only by the thread that closed it. No code of a user runs under it.
//! * **R3** Two registrations are in the record itself: the first, which is the block, with its hash in the header (B3),
//!   and the second, with its hash here. Each is registered while its slot is not null, until the gate is closed. Then the
//!   slot is the link of its notice.
//! * **R4** The gate is [`DYING`] from before the first push on, and `CLOSED` when all are pushed or taken off. No
//!   registration comes meanwhile: that takes a strong pointer. By the step to `DYING` the death ends the registrations
//!   with collections that threads share (C1 of `shared`), and takes the finalizers; their place has the depths of the two
//!   notices from then on.

use alloc::boxed::Box;
use core::mem::{self, ManuallyDrop};
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::ends::Ends;
use super::flavour::{Counter, Flavour, Link, abort};
use super::header::Block;
use super::hook::HookRef;
use super::target::Target;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// A thread may take the gate.
const OPEN: u32 = 0;
/// A flag: a thread has the gate, to change the lists, to push some notices, or to take some hooks off.
const LOCKED: u32 = 1;
/// A flag: the object has died, and its registrations are being ended.
const DYING: u32 = 2;
/// A flag: the object is dead, and all its registrations have ended. Final.
const CLOSED: u32 = 4;
/// One bystander, in the bits of the gate above the flags. They are counted up to `MAX_BYSTANDERS`.
const BYSTANDER: u32 = 1 << 8;
const MAX_BYSTANDERS: u32 = u32::MAX / BYSTANDER;

/// The flag in `refs` by which `get_mut` makes new weak pointers wait while it checks. No count reaches it.
const CHECKING: u32 = 1 << 31;
/// Past this many references the process aborts.
pub(super) const MAX_REFS: u32 = u32::MAX >> 2;

/// One of the two registrations in a record.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Slot {
    First,
    Second,
}

/// See the module documentation.
// Seven words of 64 bits: an allocator that aligns to 16 bytes, and has a word of its own, gives it a cache line.
#[repr(C, align(8))]
pub(crate) struct Record<F: Flavour> {
    refs: F::Half,
    /// Its flags, and the bystanders: the part of `refs` that can never be upgraded, tokens of finalizers.
    gate: F::Half,
    block: NonNull<()>,
    /// The further registrations, newest first.
    hooks: UnsafeCell<Option<HookRef<F>>>,
    /// Targets; then links.
    slots: [F::Link; 2],
    ends: Ends<F>,
    /// Of the second registration. Written under the gate before it is registered, and constant until it ends.
    hash: F::Half,
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
    /// What the gate will be.
    word: u32,
}

impl<F: Flavour> Drop for Gate<F> {
    #[inline]
    fn drop(&mut self) {
        // Release: our changes are visible to the next thread that takes the gate.
        self.record.get().gate.store(self.word, Release);
    }
}

impl<F: Flavour> Gate<F> {
    /// Whether the death has not begun to end registrations.
    pub(super) fn is_open(&self) -> bool {
        self.word & (DYING | CLOSED) == OPEN
    }

    /// R4: the death begins to end registrations. Returns the list of finalizers.
    ///
    /// # Safety
    /// Called once, by the dying thread.
    pub(super) unsafe fn begin_death(&mut self) -> *mut FinalizerNode<F> {
        // SAFETY: R4, the caller's promise.
        unsafe {
            let finalizers = self.finalizers(|head| mem::replace(head, ptr::null_mut()));
            self.record.get().ends.begin_depths();
            self.word |= DYING;
            // Release: with `depth`: the depths have begun. (The gate stays ours.)
            let gate = &self.record.get().gate;
            gate.store(self.word | LOCKED, Release);
            finalizers
        }
    }

    /// R4: all registrations have ended. The caller is the dying thread.
    pub(super) fn set_closed(&mut self) {
        self.word = CLOSED;
    }

    /// Runs `f` with the head of the list of finalizers.
    ///
    /// # Safety
    /// R4: the death has not begun.
    pub(super) unsafe fn finalizers<R>(
        &self,
        f: impl FnOnce(&mut *mut FinalizerNode<F>) -> R,
    ) -> R {
        // SAFETY: R2, we have the gate; the caller's promise.
        unsafe {
            let finalizers = self.record.get().ends.finalizers();
            finalizers.with_mut(|head| f(&mut *head))
        }
    }

    /// What a registration of the record itself is with, if it is registered (R3).
    #[inline]
    pub(super) fn target(&self, slot: Slot) -> Option<Target<F>> {
        // Relaxed: R2, we have the gate. SAFETY: R3, a target that is not null is that of a collection.
        unsafe { Target::decode(self.record.slot(slot).load(Relaxed)) }
    }

    #[inline]
    pub(super) fn set_target(&self, slot: Slot, target: Option<Target<F>>) {
        // Relaxed: R2, we have the gate.
        let place = self.record.slot(slot);
        place.store(Target::encode(target), Relaxed);
    }

    /// Registers the second, whose slot is free.
    #[inline]
    pub(super) fn set_second(&self, target: Target<F>, hash: u32) {
        // Relaxed: every reader has synchronised with the registration.
        self.record.get().hash.store(hash, Relaxed);
        self.set_target(Slot::Second, Some(target));
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

    /// Counts a bystander. (Past the largest number, its reference looks like a weak pointer.)
    pub(super) fn add_bystander(&mut self) {
        if self.bystanders() < MAX_BYSTANDERS {
            self.word += BYSTANDER;
        }
    }

    /// Counts a bystander off, if one is left.
    pub(super) fn remove_bystander(&mut self) {
        if self.bystanders() > 0 {
            self.word -= BYSTANDER;
        }
    }
}

/// A record that no other thread knows yet. Freed on drop, unless it is [published](NewRecord::publish).
// (Not a box: once `state` has the pointer, to move a box would be to claim that no other thread uses it.)
pub(super) struct NewRecord<F: Flavour>(RecordRef<F>);

impl<F: Flavour> NewRecord<F> {
    pub(super) fn new(block: Block<F>) -> Self {
        let record = Box::new(Record {
            refs: F::Half::new(0),
            gate: F::Half::new(OPEN),
            // SAFETY: a block is not null.
            block: unsafe { NonNull::new_unchecked(block.as_ptr()) },
            hooks: UnsafeCell::new(None),
            slots: [ptr::null_mut(); 2].map(F::Link::new),
            ends: Ends::new(),
            hash: F::Half::new(0),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        NewRecord(RecordRef(unsafe {
            NonNull::new_unchecked(Box::into_raw(record))
        }))
    }

    /// Sets the count and the first registration with which the record is published.
    pub(super) fn set(&mut self, refs: usize, target: Option<Target<F>>) {
        if refs > MAX_REFS as usize {
            abort();
        }
        // Relaxed: the publication releases it.
        self.0.get().refs.store(refs as u32, Relaxed);
        let first = self.0.slot(Slot::First);
        first.store(Target::encode(target), Relaxed);
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

    /// The block.
    #[inline]
    pub(crate) fn block(self) -> Block<F> {
        // SAFETY: R1: it does not change.
        unsafe { Block::from_ptr(self.get().block.as_ptr()) }
    }

    /// The hash of the entry with the second registration, in its short form.
    #[inline]
    pub(crate) fn second_hash(self) -> u32 {
        // Relaxed: written before the registration that the caller knows of, and constant until that ends.
        self.get().hash.load(Relaxed)
    }

    /// The hash of an entry whose registration is in the record, in its short form.
    #[inline]
    pub(super) fn hash(self, slot: Slot) -> u32 {
        match slot {
            Slot::First => self.block().hash(),
            Slot::Second => self.second_hash(),
        }
    }

    /// The target or, once the notice is pushed or about to be, its link (R3).
    #[inline(always)]
    pub(super) fn slot<'a>(self, slot: Slot) -> &'a F::Link {
        &self.get().slots[slot as usize]
    }

    /// The depth of a notice and its flags; none if there is no notice yet.
    #[inline]
    pub(super) fn depth<'a>(self, slot: Slot) -> Option<&'a F::Half> {
        // Acquire: with `begin_death`. A notice that the caller has found comes after that.
        if self.get().gate.load(Acquire) & (DYING | CLOSED) == 0 {
            return None;
        }
        // SAFETY: R4.
        Some(unsafe { &self.get().ends.depths()[slot as usize] })
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
        let (mut word, mut turn) = (OPEN, 0);
        loop {
            // Acquire: the release of the thread that left the gate open, dying or closed.
            match gate.compare_exchange(word, word | LOCKED, Acquire, Acquire) {
                Ok(_) => return Some(Gate { record: self, word }),
                Err(now) if now & CLOSED != 0 => return None,
                Err(now) if now & LOCKED == 0 => word = now,
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
        let unwatched = 1 + gate.bystanders();
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
        let bystanders = self.lock().map_or(0, |gate| gate.bystanders());
        // Saturating: the two loads are not one snapshot.
        refs.saturating_sub(1 + bystanders) as usize
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_refs(self, refs: u32) {
        self.get().refs.store(refs, Relaxed);
    }
}
