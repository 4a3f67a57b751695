//! The state: the second word of a block. It names the weak pointers and entries of an object, or
//! the record that takes their place.
//!
//! | value | meaning |
//! |---|---|
//! | `NONE` | nothing weak |
//! | `WEAK(n)` | weak pointers only: n shares, one of them the living object's |
//! | `THIN(stack)` | one entry of a collection of one owner, and nothing else: the block will be the notice (B3) |
//! | `SHARED(core)` | one entry of a collection that threads share, and nothing else; the entry has a share (C1) |
//! | `RECORD(record)` | anything more; the record stays until the block ends |
//! | `DEAD(below)` | the object has died. If the state was `THIN`, the block is a notice, and `below` is its link. If the state was `SHARED`, `below` is null |
//! | `LOCKED` | for a few instructions of a strong pointer, to check or to write the hash: `WEAK` of no shares |
//!
//! A death never finds `LOCKED`: only a strong pointer locks.
//!
//! The tag is in the lowest three bits (`NONE` and `SHARED` have no tag); every pointer in a state
//! is aligned to eight bytes. The table of all transitions, with their orderings, is in
//! docs/PROTOCOLS.md.
//!
//! Each loop over a state, here and in `share`, `register` and `death`, begins with
//! [`first_load`](super::flavour::Variable::first_load), and goes on with the value that a failed
//! compare-exchange returns. The compare-exchange acquires also on failure, since the returned
//! value may point to a record.

use alloc::boxed::Box;
use core::ptr;

use super::flavour::{Flavour, Variable, abort};
use super::header::Block;
use super::home::Home;
use super::hook::HookRef;
use super::recipient::Recipient;
use super::record::{NewRecord, RecordRef};
use super::shared::CoreRef;
use super::stack::{NoticeStack, StackRef};
use crate::sync::{self, Ordering::*};

const TAG: usize = 0b111;
const WEAK: usize = 1;
const THIN: usize = 2;
const RECORD: usize = 3;
/// Beside the marks of a node in the two lower bits.
const DEAD: usize = 4;

/// The state of an object to which nothing weak refers.
pub(super) const NONE: *mut () = ptr::null_mut();

/// The largest number of weak pointers without a record; one more aborts the process.
pub(super) const MAX_WEAK: usize = usize::MAX >> 4;

pub(super) enum State<F: Flavour> {
    None,
    Weak(usize),
    Thin(StackRef<F>),
    Shared(CoreRef),
    Record(RecordRef<F>),
    Dead,
    Locked,
}

/// Returns `THIN(stack)`.
#[inline(always)]
pub(super) fn thin<F: Flavour>(stack: StackRef<F>) -> *mut () {
    stack.as_ptr().cast::<()>().map_addr(|addr| addr | THIN)
}

/// Returns `WEAK(n)`.
#[inline(always)]
pub(super) fn weak(n: usize) -> *mut () {
    ptr::without_provenance_mut(n << 3 | WEAK)
}

/// Returns `DEAD`, with this link to the node below.
#[inline(always)]
pub(super) fn dead(below: *mut ()) -> *mut () {
    below.map_addr(|addr| addr | DEAD)
}

/// Returns the link in a state that is `DEAD`.
#[inline(always)]
pub(super) fn below(state: *mut ()) -> *mut () {
    state.map_addr(|addr| addr & !DEAD)
}

/// Returns the first value of a loop under loom, if no state is likely. The value is never right,
/// so a compare-exchange finds the state.
#[inline(always)]
pub(super) fn guess() -> *mut () {
    ptr::without_provenance_mut(1 << 3 | THIN)
}

/// Returns `LOCKED`.
#[inline(always)]
pub(super) fn locked() -> *mut () {
    weak(0)
}

/// Returns whether a dying object has a record, or weak pointers: the state is neither `NONE` nor
/// one entry alone.
#[inline(always)]
pub(super) fn is_more(state: *mut ()) -> bool {
    // Of the tags in these states, only `WEAK` and `RECORD` have the lowest bit.
    state.addr() & (WEAK & RECORD) != 0
}

/// Returns the record of an object in this state, if the object returns: see [`home`](super::home).
///
/// # Safety
/// The caller has a strong pointer, or has dropped the last one, and has loaded the state with
/// acquire.
#[inline(always)]
pub(super) unsafe fn returning<F: Flavour>(state: *mut ()) -> Option<RecordRef<F>> {
    match State::decode(state) {
        State::Record(record) if record.is_returning() => Some(record),
        _ => None,
    }
}

/// Returns the state of an object with one entry, and nothing else: `THIN` or `SHARED`.
#[inline(always)]
pub(super) fn entry<F: Flavour>(recipient: Recipient<F>) -> *mut () {
    match recipient {
        Recipient::Stack(stack) => thin(stack),
        Recipient::Core(core) => core.as_ptr().cast(),
    }
}

impl<F: Flavour> State<F> {
    #[inline(always)]
    pub(super) fn decode(state: *mut ()) -> Self {
        let pointer = state.map_addr(|addr| addr & !TAG);
        // SAFETY: the tag tells the type of the pointer.
        unsafe {
            match state.addr() & TAG {
                0 if state.is_null() => State::None,
                // A core is not null.
                0 => State::Shared(CoreRef::from_ptr(pointer.cast())),
                WEAK if state == locked() => State::Locked,
                WEAK => State::Weak(state.addr() >> 3),
                THIN => State::Thin(StackRef::from_ptr(pointer.cast::<NoticeStack<F>>())),
                RECORD => State::Record(RecordRef::from_ptr(pointer)),
                _ => State::Dead,
            }
        }
    }
}

impl<F: Flavour> Block<F> {
    /// Changes the state from `from` to `to`, neither of which is a record. The error is the
    /// present state, if it is not `from`.
    #[inline(always)]
    pub(super) fn transition(self, from: *mut (), to: *mut ()) -> Result<*mut (), *mut ()> {
        // Release: the uses of the block by an owner, for the thread that frees the block. Not an
        // acquire: no thread reads through the replaced value. (As a read-modify-write the exchange
        // also passes on all that was released before.)
        self.header()
            .state
            .compare_exchange(from, to, Release, Acquire)
    }

    /// Publishes a record, which [`prepare`](Self::prepare) has set for the state `from`. The error
    /// is the present state, if it is not `from`; then `new` keeps the record.
    #[inline]
    pub(super) fn inflate(
        self,
        from: *mut (),
        new: &mut Option<NewRecord<F>>,
    ) -> Result<RecordRef<F>, *mut ()> {
        let Some(record) = new.take() else {
            unreachable!("the record has been prepared")
        };
        let to = record.record().as_ptr().map_addr(|addr| addr | RECORD);
        // Release: the record, for the threads that load the pointer; and as in `transition`.
        // Acquire: the removal of an entry whose hash the caller may be about to overwrite.
        match self
            .header()
            .state
            .compare_exchange(from, to, AcqRel, Acquire)
        {
            Ok(_) => Ok(record.publish()),
            Err(now) => {
                *new = Some(record);
                Err(now)
            }
        }
    }

    /// Sets the record that is to take the place of `NONE`, `WEAK`, `THIN` or `SHARED`, with `more`
    /// references for the caller.
    pub(super) fn prepare(self, state: &State<F>, more: usize, new: &mut Option<NewRecord<F>>) {
        let (others, recipient) = match state {
            State::Weak(n) => (*n - 1, None),
            State::Thin(stack) => (0, Some(Recipient::Stack(*stack))),
            State::Shared(core) => (0, Some(Recipient::Core(*core))),
            _ => (0, None),
        };
        new.get_or_insert_with(|| NewRecord::new(self))
            .set(others + more, recipient);
    }

    /// Waits one turn while the state is locked, and returns the state.
    #[cold]
    pub(super) fn wait(self, turn: &mut u32) -> *mut () {
        sync::relax(turn);
        // Acquire: the Release of the thread that has unlocked the state.
        self.header().state.load(Acquire)
    }

    /// Returns the record of an object that has one.
    ///
    /// # Safety
    /// The caller has a reference of its own to the record, or a registration.
    #[inline]
    pub(crate) unsafe fn known_record(self) -> RecordRef<F> {
        // Relaxed: the caller has synchronised with the publication of the record.
        match State::decode(self.header().state.load(Relaxed)) {
            State::Record(record) => record,
            _ => unreachable!("a block never loses its record"),
        }
    }

    /// Returns the record, if the object returns.
    ///
    /// # Safety
    /// As for the function [`returning`].
    pub(super) unsafe fn returning(self) -> Option<RecordRef<F>> {
        // SAFETY: the caller's promise.
        // Acquire: the publication of a record.
        unsafe { returning(self.header().state.load(Acquire)) }
    }

    /// Sets the home of an object: the object returns from now on. Allocates a record if there is
    /// none.
    ///
    /// # Safety
    /// As for [`Gate::set_home`](super::gate::Gate::set_home).
    pub(super) unsafe fn set_home(self, home: Box<Home<F>>) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(mut gate) = self.record().lock() else {
                unreachable!("the object is alive")
            };
            gate.set_home(home);
        }
    }

    /// Takes the home of an object out, if there is a home.
    ///
    /// # Safety
    /// G1: the caller has taken the count to zero, and then moves the payload out.
    pub(super) unsafe fn take_home(self) -> Option<Box<Home<F>>> {
        // SAFETY: the caller's promise.
        unsafe { self.returning()?.lock()?.take_home() }
    }

    /// Returns the record, which is made if there is none.
    ///
    /// # Safety
    /// The caller has a strong pointer.
    pub(super) unsafe fn record(self) -> RecordRef<F> {
        // SAFETY: the caller's promise; with `always` the record is made.
        unsafe {
            self.record_from(self.header().state.first_load(NONE), true)
                .unwrap_unchecked()
        }
    }

    /// Returns the record, which is made if the state needs a record, or `always`. The state was
    /// `now`.
    ///
    /// # Safety
    /// The caller has a strong pointer.
    pub(super) unsafe fn record_from(self, mut now: *mut (), always: bool) -> Option<RecordRef<F>> {
        let mut new = None;
        let mut turn = 0;
        loop {
            let state = State::decode(now);
            let done = match state {
                State::None | State::Weak(1) if !always => return None,
                State::Record(record) => Ok(record),
                State::Locked => Err(self.wait(&mut turn)),
                State::Dead => abort(),
                State::None | State::Weak(_) | State::Thin(_) | State::Shared(_) => {
                    self.prepare(&state, 0, &mut new);
                    self.inflate(now, &mut new)
                }
            };
            match done {
                Ok(record) => return Some(record),
                Err(other) => now = other,
            }
        }
    }
}

impl<F: Flavour> RecordRef<F> {
    /// Returns the record of a hook.
    ///
    /// # Safety
    /// R1: the hook is registered, or fired and not finished.
    #[inline]
    pub(super) unsafe fn of_hook(hook: HookRef<F>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { hook.block().known_record() }
    }
}
