//! The second word of a block: who holds on weakly.
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
//! Each loop here begins with [`first_look`](super::flavour::Link::first_look), and goes on with what a failed
//! compare-exchange has found; Acquire, also on failure, since what is found may point to a record.

use core::ptr;

use super::flavour::{Counter, Flavour, Link, abort};
use super::header::Block;
use super::notice::{Node, Notice};
use super::record::{Fresh, RecordRef, Registered};
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
const MAX_WEAK: usize = usize::MAX >> 4;

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
pub(super) fn below<F: Flavour>(state: *mut ()) -> Node<F> {
    Node::from_ptr(state.map_addr(|addr| addr & !DEAD))
}

/// What a loop takes for the state at first, under loom, if nothing else is likely: as it is never right, a
/// compare-exchange finds out.
#[inline(always)]
pub(super) fn guess() -> *mut () {
    ptr::without_provenance_mut(1 << 3 | THIN)
}

#[inline(always)]
fn locked() -> *mut () {
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

/// How an entry is registered. See [`Block::register`].
pub(crate) enum Registration<F: Flavour> {
    /// The block stands for the entry.
    Block,
    /// This hook does.
    Hook(super::hook::HookRef<F>),
}

impl<F: Flavour> Block<F> {
    #[inline(always)]
    fn swing(self, from: *mut (), to: *mut ()) -> Result<*mut (), *mut ()> {
        // Release: the record, for whoever finds it; what an owner did to the block, for who frees it. Not an
        // acquire: nobody looks at what he has replaced. (And all that was released before is released by
        // this, too, as a read-modify-write.)
        self.header()
            .state
            .compare_exchange(from, to, Release, Acquire)
    }

    /// Publishes a record, which has been set to take this state's place.
    #[inline]
    fn inflate(self, from: *mut (), fresh: &mut Option<Fresh<F>>) -> Result<RecordRef<F>, *mut ()> {
        let Some(record) = fresh.take() else {
            unreachable!("it has been set")
        };
        match self.swing(from, record.encode()) {
            Ok(_) => Ok(record.publish()),
            Err(now) => {
                *fresh = Some(record);
                Err(now)
            }
        }
    }

    /// Sets the record that is to take the place of `NONE`, `WEAK` or `THIN`, with `more` references for the
    /// caller.
    fn prepare(self, state: &State<F>, more: usize, fresh: &mut Option<Fresh<F>>) {
        let (refs, target) = match state {
            State::Weak(n) => (*n, None),
            // The object's, and the entry's.
            State::Thin(stack) => (2, Some(*stack)),
            _ => (1, None),
        };
        fresh
            .get_or_insert_with(|| Fresh::new(self))
            .set(refs + more, target);
    }

    /// One more weak handle, made by a strong one. O(1).
    ///
    /// # Safety
    /// The caller has a strong handle.
    #[inline]
    pub(super) unsafe fn downgrade(self) {
        let mut fresh = None;
        let mut turn = 0;
        let mut now = self.header().state.first_look(NONE);
        loop {
            let state = State::decode(now);
            let done = match state {
                State::None => self.swing(now, weak(2)).map(drop),
                State::Weak(n) if n < MAX_WEAK => self.swing(now, weak(n + 1)).map(drop),
                State::Thin(_) => {
                    self.prepare(&state, 1, &mut fresh);
                    self.inflate(now, &mut fresh).map(drop)
                }
                State::Record(record) => {
                    record.add_ref_by_strong();
                    Ok(())
                }
                State::Locked => Err(self.wait(&mut turn)),
                State::Weak(_) | State::Dead => abort(),
            };
            match done {
                Ok(()) => return,
                Err(other) => now = other,
            }
        }
    }

    /// Waits for a moment while the state is locked.
    #[cold]
    fn wait(self, turn: &mut u32) -> *mut () {
        sync::relax(turn);
        // Acquire: whoever has unlocked it.
        self.header().state.load(Acquire)
    }

    /// One more weak handle, made by another.
    ///
    /// # Safety
    /// The caller has a weak handle: so the state is `WEAK` or `RECORD`, and stays one of them.
    #[inline]
    pub(super) unsafe fn clone_weak(self) {
        let mut now = self.header().state.first_look(weak(2));
        loop {
            match State::<F>::decode(now) {
                State::Record(record) => return record.add_ref(),
                State::Weak(n) if n < MAX_WEAK => {
                    // Relaxed: the caller's handle. Acquire on failure: a record.
                    match self
                        .header()
                        .state
                        .compare_exchange(now, weak(n + 1), Relaxed, Acquire)
                    {
                        Ok(_) => return,
                        Err(other) => now = other,
                    }
                }
                _ => abort(),
            }
        }
    }

    /// Gives up the share of a weak handle, or of an object at the end of its death.
    ///
    /// # Safety
    /// B1: the caller owns that share, and gives it up. The state is `WEAK` or `RECORD`.
    #[inline]
    pub(super) unsafe fn release_weak(self) {
        let mut now = self.header().state.first_look(weak(2));
        loop {
            match State::<F>::decode(now) {
                // SAFETY: R1, the caller's promise.
                State::Record(record) => return unsafe { record.release() },
                // The object has given its share up, and nobody has one left to make another of. (Found with
                // an acquire: all others' uses happen before the end.)
                // SAFETY: B1, the caller's was the last.
                State::Weak(1) => return unsafe { self.free() },
                // Release: pairs with the acquire of the last.
                State::Weak(n) => {
                    match self
                        .header()
                        .state
                        .compare_exchange(now, weak(n - 1), Release, Acquire)
                    {
                        Ok(_) => return,
                        Err(other) => now = other,
                    }
                }
                _ => unreachable!("a weak handle has a share"),
            }
        }
    }

    /// Registers an entry with this hash: the object's death will push a notice. O(1); allocates if there
    /// are weak handles, other registrations or finalizers already.
    ///
    /// # Safety
    /// The caller has a strong handle, and is the owner of the stack (or, of one that counts, anybody).
    #[inline]
    pub(crate) unsafe fn register(self, stack: StackRef<F>, hash: u32) -> Registration<F> {
        let state = &self.header().state;
        let mut now = state.first_look(NONE);
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
    pub(crate) unsafe fn register_shared(
        self,
        stack: StackRef<F>,
        hash: u32,
    ) -> super::hook::HookRef<F> {
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
            self.record_from(self.header().state.first_look(NONE), true)
                .unwrap_unchecked()
        }
    }

    /// The record, made if there is something for it to say, or `always`. The state was `now`.
    ///
    /// # Safety
    /// The caller has a strong handle.
    unsafe fn record_from(self, mut now: *mut (), always: bool) -> Option<RecordRef<F>> {
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

    /// Ends the registration that the block stands for. False if the object's death was faster: then its
    /// notice has come, or will come. O(1).
    ///
    /// # Safety
    /// The registration is the caller's; it is not ended twice.
    #[inline]
    pub(crate) unsafe fn unregister(self, stack: StackRef<F>) -> bool {
        let mut now = self.header().state.first_look(State::Thin(stack).encode());
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
    pub(crate) unsafe fn unregister_hook(
        hook: super::hook::HookRef<F>,
        stack: StackRef<F>,
    ) -> bool {
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
        let mut now = self.header().state.first_look(guess());
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

    /// Whether nobody but the caller, who has a strong handle, has any, weak or strong, nor an entry.
    pub(super) fn is_unique(self) -> bool {
        // Acquire: the release of every other handle's drop, so that their uses of the object happen before
        // what the caller does to it.
        let alone = || self.header().count.load(Acquire) == 1;
        let state = &self.header().state;
        let mut now = state.first_look(NONE);
        loop {
            match State::<F>::decode(now) {
                State::None | State::Weak(1) => {
                    // Acquire: weak handles that have gone.
                    match state.compare_exchange(now, locked(), Acquire, Acquire) {
                        Ok(_) => {
                            // No weak handle can come while it is locked; so a count of one stays. (A
                            // handle whose drop we see cannot have waited for the store below.)
                            let alone = alone();
                            // Release: passes on what has been acquired, as a store does not by itself.
                            state.store(now, Release);
                            return alone;
                        }
                        Err(other) => now = other,
                    }
                }
                State::Record(record) => return record.is_unwatched(alone),
                // (Locked: by another strong handle.)
                State::Weak(_) | State::Thin(_) | State::Locked | State::Dead => return false,
            }
        }
    }

    /// The notice that stands for a registration that the block stands for, if the object may have died.
    ///
    /// # Safety
    /// The registration is the caller's, and its notice, if any, has not been finished.
    pub(crate) unsafe fn notice(self) -> Option<Notice<F>> {
        match State::<F>::decode(self.header().state.load(Acquire)) {
            State::Dead => Some(Notice::Block(self)),
            State::Record(record) => Some(Notice::Hook(record.first())),
            _ => None,
        }
    }

    /// How many hold on weakly: handles and entries. A moment's answer.
    pub(super) fn weak_count(self) -> usize {
        match State::<F>::decode(self.header().state.load(Acquire)) {
            State::None | State::Dead | State::Locked => 0,
            State::Weak(n) => n - 1,
            State::Thin(_) => 1,
            State::Record(record) => record.weak_count(),
        }
    }
}
