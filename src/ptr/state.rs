//! The second word of a block: what holds on weakly, and how a record takes its place.
//!
//! | value | meaning |
//! |---|---|
//! | `NONE` | nobody |
//! | `WEAK(n)` | weak handles only: n, the living object being one of them |
//! | `THIN(stack)` | one entry of one collection, and nothing else: the block itself will be the notice, its hash is beside the count |
//! | `RECORD(record)` | anything more; it stays until the block ends |
//! | `DEAD(below)` | it was `THIN`, and the object has died: the block belongs to the notice, this is the link to the one below |
//! | `LOCKED` | for some instructions of a strong handle: `get_mut` is looking, or a hash is being written. A death never meets it |
//!
//! The tag is in the lowest three bits; all that is pointed to is aligned to eight bytes. The table of all
//! transitions, with their orderings, is in docs/DESIGN.md.
//!
//! Each loop over a state, here and in `share`, `register` and `death`, begins with
//! [`first_load`](super::flavour::Link::first_load), and goes on with what a failed compare-exchange has found;
//! Acquire, also on failure, since what is found may point to a record.

use core::ptr;

use super::flavour::{Flavour, Link, abort};
use super::header::Block;
use super::hook::HookRef;
use super::record::{NewRecord, RecordRef};
use super::stack::{NoticeStack, StackRef};
use crate::sync::{self, Ordering::*};

const TAG: usize = 0b111;
const WEAK: usize = 1;
const THIN: usize = 2;
const RECORD: usize = 3;
/// With the mark of a hook in the lowest bit, 4 or 5.
const DEAD: usize = 4;
const LOCKED: usize = 6;

/// The state of an object that nobody holds on to weakly.
pub(super) const NONE: *mut () = ptr::null_mut();

/// Past this many weak handles without a record the process is aborted.
pub(super) const MAX_WEAK: usize = usize::MAX >> 4;

pub(super) enum State<F: Flavour> {
    None,
    Weak(usize),
    Thin(StackRef<F>),
    Record(RecordRef<F>),
    Dead,
    Locked,
}

/// `WEAK(n)`.
#[inline(always)]
pub(super) fn weak(n: usize) -> *mut () {
    ptr::without_provenance_mut(n << 3 | WEAK)
}

/// `DEAD`, above this node of a stack.
#[inline(always)]
pub(super) fn dead(below: *mut ()) -> *mut () {
    below.map_addr(|addr| addr | DEAD)
}

/// The link of a block that is `DEAD`.
#[inline(always)]
pub(super) fn below(state: *mut ()) -> *mut () {
    state.map_addr(|addr| addr & !DEAD)
}

/// What a loop takes for the state at first, under loom, if nothing else is likely: as it is never right, a
/// compare-exchange finds out.
#[inline(always)]
pub(super) fn guess() -> *mut () {
    ptr::without_provenance_mut(1 << 3 | THIN)
}

#[inline(always)]
pub(super) fn locked() -> *mut () {
    ptr::without_provenance_mut(LOCKED)
}

impl<F: Flavour> State<F> {
    #[inline(always)]
    pub(super) fn decode(state: *mut ()) -> Self {
        let pointer = state.map_addr(|addr| addr & !TAG);
        // SAFETY: the tag says what the rest was made of.
        unsafe {
            match state.addr() & TAG {
                0 => State::None,
                WEAK => State::Weak(state.addr() >> 3),
                THIN => State::Thin(StackRef::from_ptr(pointer.cast::<NoticeStack<F>>())),
                RECORD => State::Record(RecordRef::from_ptr(pointer)),
                LOCKED => State::Locked,
                _ => State::Dead,
            }
        }
    }

    #[inline(always)]
    pub(super) fn encode(&self) -> *mut () {
        match self {
            State::None => NONE,
            State::Weak(n) => weak(*n),
            State::Thin(stack) => stack.as_ptr().cast::<()>().map_addr(|addr| addr | THIN),
            State::Record(record) => record.as_ptr().map_addr(|addr| addr | RECORD),
            State::Dead => dead(ptr::null_mut()),
            State::Locked => locked(),
        }
    }
}

impl<F: Flavour> Block<F> {
    #[inline(always)]
    pub(super) fn swing(self, from: *mut (), to: *mut ()) -> Result<*mut (), *mut ()> {
        // Release: the record, for whoever finds it; what an owner did to the block, for who frees it. Not an
        // acquire: nobody looks at what he has replaced. (And all that was released before is released by
        // this, too, as a read-modify-write.)
        self.header()
            .state
            .compare_exchange(from, to, Release, Acquire)
    }

    /// Publishes a record, which has been set to take this state's place.
    #[inline]
    pub(super) fn inflate(
        self,
        from: *mut (),
        fresh: &mut Option<NewRecord<F>>,
    ) -> Result<RecordRef<F>, *mut ()> {
        let Some(record) = fresh.take() else {
            unreachable!("it has been set")
        };
        match self.swing(from, State::Record(record.record()).encode()) {
            Ok(_) => Ok(record.publish()),
            Err(now) => {
                *fresh = Some(record);
                Err(now)
            }
        }
    }

    /// Sets the record that is to take the place of `NONE`, `WEAK` or `THIN`, with `more` references for the
    /// caller.
    pub(super) fn prepare(self, state: &State<F>, more: usize, fresh: &mut Option<NewRecord<F>>) {
        let (refs, target) = match state {
            State::Weak(n) => (*n, None),
            // The object's, and the entry's.
            State::Thin(stack) => (2, Some(*stack)),
            _ => (1, None),
        };
        fresh
            .get_or_insert_with(|| NewRecord::new(self))
            .set(refs + more, target);
    }

    /// Waits for a moment while the state is locked.
    #[cold]
    pub(super) fn wait(self, turn: &mut u32) -> *mut () {
        sync::relax(turn);
        // Acquire: whoever has unlocked it.
        self.header().state.load(Acquire)
    }

    /// The record of an object that has one.
    ///
    /// # Safety
    /// The caller has a reference of its own to the record.
    #[inline]
    pub(crate) unsafe fn known_record(self) -> RecordRef<F> {
        // Relaxed: whoever has a reference has synchronised with the making of the record.
        match State::decode(self.header().state.load(Relaxed)) {
            State::Record(record) => record,
            _ => unreachable!("a record is never taken away"),
        }
    }

    /// The record, made if there is none.
    ///
    /// # Safety
    /// The caller has a strong handle.
    pub(super) unsafe fn record(self) -> RecordRef<F> {
        // SAFETY: the caller's promise; with `always` there is one.
        unsafe {
            self.record_from(self.header().state.first_load(NONE), true)
                .unwrap_unchecked()
        }
    }

    /// The record, made if there is something for it to say, or `always`. The state was `now`.
    ///
    /// # Safety
    /// The caller has a strong handle.
    pub(super) unsafe fn record_from(self, mut now: *mut (), always: bool) -> Option<RecordRef<F>> {
        let mut fresh = None;
        let mut turn = 0;
        loop {
            let state = State::decode(now);
            let done = match state {
                State::None | State::Weak(1) if !always => return None,
                State::Record(record) => Ok(record),
                State::Locked => Err(self.wait(&mut turn)),
                State::Dead => abort(),
                State::None | State::Weak(_) | State::Thin(_) => {
                    self.prepare(&state, 0, &mut fresh);
                    self.inflate(now, &mut fresh)
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
    /// The record of a hook.
    ///
    /// # Safety
    /// R1: the hook is registered, or fired and not finished.
    #[inline]
    pub(crate) unsafe fn of_hook(hook: HookRef<F>) -> Self {
        // SAFETY: whoever knows a hook knows of its record, in which it has a reference.
        unsafe { hook.block().known_record() }
    }

    /// Whether a hook lies in the record of its object.
    #[inline]
    pub(crate) fn is_first(hook: HookRef<F>) -> bool {
        // SAFETY: a hook that is registered, or fired and not finished, has a reference.
        unsafe { Self::of_hook(hook) }.first() == hook
    }

    /// The hash of a hook's entry. R3.
    #[inline]
    pub(super) fn hash_of(hook: HookRef<F>) -> u32 {
        if Self::is_first(hook) {
            hook.block().hash()
        } else {
            hook.hash()
        }
    }
}
