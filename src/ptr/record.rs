//! The record of an object: it holds the weak pointers, entries and finalizers that the state word
//! cannot name.
//!
//! Invariants:
//!
//! * **R1** `refs` counts the references of all that may use record and block: the object until the
//!   end of its death, every weak pointer, every finalizer token, and every registration until it
//!   is unregistered or its notice is finished (for a collection that threads share, until its
//!   watch is dropped). The thread that takes `refs` to zero frees both. A block never loses its
//!   record.
//!
//!   The object has [`OWN`] references, and lends one of them to each registration: only
//!   `registered` counts the registrations. If an owner takes a registration off, it counts the
//!   registration off there; if the registration's watch goes on, a reference is made for the
//!   watch. A registration that the death takes off, or pushes as a notice, stays counted, and
//!   gives up its reference when it is finished. At the end of the death, when the gate is closed,
//!   the object gives up all its references but those lent to counted registrations, in one step.
//! * **R2** Bystanders, finalizers, `registered`, the recipients in `slots`, and the hooks with
//!   their links are used only by the thread that has the gate; once the gate is `CLOSED`, only by
//!   the thread that closed it. No user code runs under the gate.
//! * **R3** Two registrations are in the record itself: the first, which is the block, with its
//!   hash in the header (B3), and the second, with its hash here. Each is registered while its slot
//!   is not null, until the gate is closed. Then the slot is the link of its notice.
//! * **R4** The gate is `DYING` from before the first push on, and `CLOSED` when all registrations
//!   are pushed or taken off. No registration comes meanwhile: to register takes a strong pointer,
//!   or an open gate (K2 of `token`). By the step to `DYING` the death ends the registrations with
//!   collections that threads share (C1 of `shared`), and takes the finalizers. (If the object
//!   returns, the death has taken the home before: see G1 of `home`.)

use alloc::boxed::Box;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::flavour::{Counter, Flavour, Variable, abort};
use super::header::Block;
use super::hook::HookRef;
use super::recipient::Recipient;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// The first value of the gate: a thread may take the gate.
pub(super) const OPEN: u32 = 0;

/// The flag in `refs` by which `get_mut` makes new weak pointers wait while it checks. No count
/// reaches the flag.
pub(super) const CHECKING: u32 = 1 << 31;
/// The number of the object's own references.
pub(super) const OWN: u32 = 1 << 30;
/// The largest number of registrations; one more aborts the process.
pub(super) const MAX_REGISTERED: u32 = OWN / 2;
/// The largest number of references; one more aborts the process.
pub(super) const MAX_REFS: u32 = OWN + OWN / 2;

/// One of the two registrations in a record.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RecordSlot {
    First,
    Second,
}

/// The record of an object. See the module documentation.
// Seven words of 64 bits: an allocator that aligns to 16 bytes, and has a word of its own, gives
// the record a cache line.
#[repr(C, align(8))]
pub(crate) struct Record<F: Flavour> {
    pub(super) refs: F::Half,
    /// The flags of the gate, and the number of bystanders: the references in `refs` that can never
    /// be upgraded, which are the tokens of finalizers.
    pub(super) gate: F::Half,
    block: NonNull<()>,
    /// The further registrations, newest first.
    pub(super) hooks: UnsafeCell<Option<HookRef<F>>>,
    /// Recipients; then links.
    slots: [F::Link; 2],
    /// The finalizers, newest first; or the home, which then has the finalizers (G1). Null once the
    /// death has taken them.
    pub(super) finalizers: UnsafeCell<*mut FinalizerNode<F>>,
    /// The hash of the second registration. Written under the gate before the registration, and
    /// constant until the registration ends.
    pub(super) hash: F::Half,
    /// The number of registrations that have one of the object's references.
    pub(super) registered: UnsafeCell<u32>,
    live: Live,
}

/// A pointer to a record that is not freed (R1).
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct RecordRef<F: Flavour>(NonNull<Record<F>>);

/// A record that no other thread knows yet. Its drop frees the record, unless the record was
/// [published](NewRecord::publish).
// (Not a box: once `state` has the pointer, to move a box would be to claim that no other thread
// uses the record.)
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
            finalizers: UnsafeCell::new(ptr::null_mut()),
            hash: F::Half::new(0),
            registered: UnsafeCell::new(0),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        NewRecord(RecordRef(unsafe {
            NonNull::new_unchecked(Box::into_raw(record))
        }))
    }

    /// Sets the number of shares besides the object's, and the first registration. The record is
    /// published with both.
    pub(super) fn set(&mut self, others: usize, recipient: Option<Recipient<F>>) {
        if others > (MAX_REFS - OWN) as usize {
            abort();
        }
        // Relaxed: the publication releases the record.
        let record = self.0.get();
        record.refs.store(OWN + others as u32, Relaxed);
        record.slots[0].store(Recipient::encode(recipient), Relaxed);
        let registered = u32::from(recipient.is_some());
        // SAFETY: no other thread knows the record.
        let set = |place: *mut u32| unsafe { *place = registered };
        record.registered.with_mut(set);
    }

    /// Returns the record, for `state` to point to.
    pub(super) fn record(&self) -> RecordRef<F> {
        self.0
    }

    /// Notes that `state` points to the record now.
    pub(super) fn publish(self) -> RecordRef<F> {
        ManuallyDrop::new(self).0
    }
}

impl<F: Flavour> Drop for NewRecord<F> {
    fn drop(&mut self) {
        // SAFETY: made from a box, and no other thread knows the record.
        drop(unsafe { Box::from_raw(self.0.0.as_ptr()) });
    }
}

impl<F: Flavour> RecordRef<F> {
    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// # Safety
    /// `record` was returned by [`as_ptr`](Self::as_ptr).
    #[inline(always)]
    pub(super) unsafe fn from_ptr(record: *mut ()) -> Self {
        // SAFETY: the caller's promise.
        RecordRef(unsafe { NonNull::new_unchecked(record.cast()) })
    }

    /// Returns the record. R1: the caller has a reference, or gives its reference up by the next
    /// access, which is to a field that is a cell: a Rust reference to a cell does not promise that
    /// the cell outlives the access.
    #[inline(always)]
    pub(super) fn get<'a>(self) -> &'a Record<F> {
        // SAFETY: R1.
        let record = unsafe { self.0.as_ref() };
        record.live.check();
        record
    }

    /// Returns the block.
    #[inline]
    pub(crate) fn block(self) -> Block<F> {
        // SAFETY: R1: the field does not change.
        unsafe { Block::from_ptr(self.get().block.as_ptr()) }
    }

    /// Returns the hash of the entry with the second registration, in its short form.
    #[inline]
    pub(crate) fn second_hash(self) -> u32 {
        // Relaxed: the hash was written before the registration that the caller knows of, and is
        // constant until the registration ends.
        self.get().hash.load(Relaxed)
    }

    /// Returns the hash of an entry whose registration is in the record, in its short form.
    #[inline]
    pub(super) fn hash(self, slot: RecordSlot) -> u32 {
        match slot {
            RecordSlot::First => self.block().hash(),
            RecordSlot::Second => self.second_hash(),
        }
    }

    /// Returns the recipient or, once the notice is pushed or about to be pushed, its link (R3).
    #[inline(always)]
    pub(super) fn slot<'a>(self, slot: RecordSlot) -> &'a F::Link {
        &self.get().slots[slot as usize]
    }

    /// Adds a reference, for a caller that has a reference or a registration.
    #[inline]
    pub(crate) fn add_ref(self) {
        // Relaxed: the caller's reference, or the reference on which its registration relies.
        if self.get().refs.fetch_add(1, Relaxed) & !CHECKING > MAX_REFS {
            abort();
        }
    }

    /// Adds a reference for a caller that has only a strong pointer. Waits while `get_mut` checks
    /// that there is no weak pointer.
    #[inline]
    pub(super) fn add_ref_by_strong(self) {
        // Relaxed, also below: `get_mut` acquires the drop of our strong pointer, if it sees the
        // drop. All that we do before the drop then happens before the end of the check of
        // `get_mut`, so we cannot have seen the end of the check.
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

    /// Gives a reference up; the last reference frees record and block.
    ///
    /// # Safety
    /// R1: the caller owns a reference, and gives it up.
    #[inline]
    pub(crate) unsafe fn release(self) {
        // SAFETY: the caller's promise.
        unsafe { self.give_up(1) };
    }

    /// Gives the object's references up, except the references lent to its registrations.
    ///
    /// # Safety
    /// R1: called once, by the dying thread, at the end of the death.
    #[inline]
    pub(super) unsafe fn release_object(self) {
        let registered = &self.get().registered;
        // SAFETY: R1: the number does not change any more.
        unsafe {
            let registered = registered.with(|registered| *registered);
            self.give_up(OWN - registered);
        }
    }

    /// Gives references up, and returns whether they were the last.
    ///
    /// # Safety
    /// R1: the caller owns this many references.
    #[inline(always)]
    pub(super) unsafe fn gives_up_last(self, count: u32) -> bool {
        // Release: our uses happen before the end.
        let is_last = self.get().refs.fetch_sub(count, Release) == count;
        if is_last {
            // Acquire: with the Release of all other threads, whose release sequences our own step
            // continues: their uses happen before the end, too.
            self.get().refs.load(Acquire);
        }
        is_last
    }

    /// Returns the record to which the word of the finalizers leads, in a token that is being
    /// closed, or that is closed (K3 of [`token`](super::token)).
    ///
    /// # Safety
    /// The caller has begun to close the token, or no other thread uses it.
    #[cfg(feature = "std")]
    pub(super) unsafe fn link(self) -> Option<Self> {
        // SAFETY: the caller's promise. The word was written by `set_link`.
        unsafe {
            let link = self.get().finalizers.with(|link| (*link).cast());
            NonNull::new(link).map(|link: NonNull<()>| Self::from_ptr(link.as_ptr()))
        }
    }

    /// Sets the record that [`link`](Self::link) returns.
    ///
    /// # Safety
    /// As for [`link`](Self::link).
    #[cfg(feature = "std")]
    pub(super) unsafe fn set_link(self, link: Option<Self>) {
        let link = link.map_or(ptr::null_mut(), Self::as_ptr).cast();
        // SAFETY: as in `link`.
        unsafe { self.get().finalizers.with_mut(|place| *place = link) };
    }

    /// # Safety
    /// R1: the caller owns this many references.
    #[inline(always)]
    unsafe fn give_up(self, count: u32) {
        // SAFETY: the caller's promise.
        if unsafe { self.gives_up_last(count) } {
            let block = self.block();
            self.get().live.end();
            // SAFETY: R1, no reference is left; the object gave up its own references after it was
            // dead.
            unsafe {
                sync::free(self.0);
                block.free();
            }
        }
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_refs(self, refs: u32) {
        self.get().refs.store(refs, Relaxed);
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_registered(self, count: u32) {
        let registered = &self.get().registered;
        // SAFETY: one thread.
        registered.with_mut(|registered| unsafe { *registered = count });
    }
}
