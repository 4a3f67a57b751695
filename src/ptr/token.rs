//! Tokens: an entry that other entries depend on has a token. The end of the entry ends the
//! dependents first.
//!
//! A token is an object without a payload. A dependent entry watches the token as it would watch
//! any object. No thread has a strong pointer to a token: the token lives until a thread *closes*
//! it.
//!
//! * **K1** The slot of an entry goes once from null: to a token, in which the slot has a
//!   reference (R1), or to `ENDED`. The thread that unlinks the entry goes on, under the lock of
//!   the bucket, only if the slot is `ENDED` from then on, or has a closed token. So no dependent
//!   registers with an entry that is not linked. (The end of a table ends the slots first, without
//!   the locks.)
//! * **K2** The gate of the record decides which thread closes a token: the thread that takes the
//!   gate from open to dying. From then on no dependent registers, and the lists of the record
//!   belong to the closing thread (R4), which unlinks each dependent as a death would. A
//!   registration stays in the record until its entry is unlinked. The gate is closed when all
//!   registrations have been taken off.
//! * **K3** If a dependent has an open token itself, the closing thread closes that token first. So
//!   whenever an entry is unlinked, all entries that depend on it, through any number of entries,
//!   are unlinked already. The tokens that a thread is closing are a list, each with the token
//!   *above* it; the word of the finalizers has the link (a token has no finalizer). So the closing
//!   allocates nothing, and takes no stack for a chain of entries.
//! * **K4** A thread that finds another thread closing a token waits until the token is closed. The
//!   thread holds no lock then, but perhaps tokens above. An entry depends only on entries that
//!   were linked before it, so a token is never below itself, and no two threads wait for each
//!   other: the list of a thread leads from a token to tokens below it only.
//! * **K5** No user code runs between the first step of a closing and its last: nothing is
//!   allocated or freed, and no waker is called. Otherwise an allocator or a waker that ends an
//!   entry could wait for a token that its own thread is closing. What the closing has taken off is
//!   freed at its end, and until then has the wake-ups that are owed: a hook in its link to the
//!   previous hook, and a token in the slots of its record, marked as [`OWED`].

use alloc::sync::Arc;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::death::Disposal;
use super::flavour::Atomic;
use super::found::{Attempt, RegistrationId, Tied};
use super::gate::Gate;
use super::header::Block;
use super::hook::Off;
use super::memory;
use super::recipient::{CORE, Recipient};
use super::record::{RecordRef, RecordSlot};
use super::register::Registration;
use super::shared::{Core, Counted, LastCores};
use super::shared_watch::SharedWatch;
use super::stack::NoticeStack;
use super::state;
use super::waker::{WakerCell, Wakes};
use crate::sync::{self, AtomicPtr, Critical, Ordering::*};

/// The mark of an entry that has ended without a token.
const ENDED: usize = 1;

/// The word of an entry for its token (K1).
pub(crate) struct TokenSlot(AtomicPtr<()>);

impl TokenSlot {
    #[inline]
    pub(crate) fn new() -> Self {
        TokenSlot(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns a share in the token of the entry, which is made if there is none. `None` if the
    /// entry has ended. Allocates for the first dependent.
    pub(crate) fn token(&self) -> Option<Token> {
        // Acquire: with `make`: the token is initialised.
        match NonNull::new(self.0.load(Acquire)) {
            None => self.make(),
            Some(there) => Self::share(there).filter(|token| !token.0.is_closed()),
        }
    }

    /// Returns the place of the token, if there is a token.
    #[inline]
    pub(crate) fn place(&self) -> Option<usize> {
        // Acquire: as in `token`.
        let there = self.0.load(Acquire);
        // SAFETY: K1: the slot has a reference.
        let block = || unsafe { RecordRef::<Atomic>::from_ptr(there) }.block();
        (there.addr() > ENDED).then(|| block().place().addr().get())
    }

    /// Makes the token, unless another thread is faster or the entry ends. Returns a share in the
    /// token, or `None` if the entry has ended.
    #[cold]
    #[inline(never)]
    fn make(&self) -> Option<Token> {
        let new = Token::new();
        // Release: the token is initialised for the threads that find it.
        // Acquire on failure: the other thread's token is initialised.
        let there = (self.0).compare_exchange(ptr::null_mut(), new.0.as_ptr(), Release, Acquire);
        match there.map_err(NonNull::new) {
            Err(Some(there)) => {
                // No other thread knows the new token.
                let mut wakes = Wakes::NONE;
                new.close(&mut wakes);
                Self::share(there)
            }
            _ => {
                // The reference of the slot.
                new.0.add_ref();
                Some(new)
            }
        }
    }

    /// Returns a share in the token to which the word leads, or `None` if the word is `ENDED`.
    fn share(there: NonNull<()>) -> Option<Token> {
        if there.addr().get() == ENDED {
            return None;
        }
        // SAFETY: K1: the slot has a reference.
        let record = unsafe { RecordRef::from_ptr(there.as_ptr()) };
        record.add_ref();
        Some(Token(record))
    }

    /// Returns whether a registration with the token of the entry is counted now: the registration
    /// of a dependent entry, or of a computation under way. False once a thread closes the token.
    /// The caller keeps the entry from being destroyed.
    pub(crate) fn has_dependents(&self) -> bool {
        // Acquire: as in `token`.
        let there = NonNull::new(self.0.load(Acquire));
        let token = there.and_then(Self::share);
        token.is_some_and(|token| {
            let gate = token.0.lock().filter(Gate::is_open);
            gate.is_some_and(|gate| gate.count() != 0)
        })
    }

    /// Ends the slot, because the caller is about to unlink the entry, under the lock of the
    /// bucket. The error is an open token: the caller unlocks the bucket, [closes](Token::close)
    /// the token, and begins anew.
    #[inline]
    pub(crate) fn end(&self) -> Result<(), Token> {
        let ended = ptr::without_provenance_mut(ENDED);
        // Acquire on failure: as in `token`.
        // Relaxed: no other memory depends on it.
        match (self.0).compare_exchange(ptr::null_mut(), ended, Relaxed, Acquire) {
            Ok(_) => Ok(()),
            Err(there) => {
                let open = NonNull::new(there).and_then(Self::share);
                open.filter(|token| !token.0.is_closed())
                    .map_or(Ok(()), Err)
            }
        }
    }
}

impl Drop for TokenSlot {
    #[inline]
    fn drop(&mut self) {
        // Acquire: as in `token`.
        let there = self.0.load(Acquire);
        if there.addr() > ENDED {
            // SAFETY: K1: the reference of the slot.
            drop(Token(unsafe { RecordRef::from_ptr(there) }));
        }
    }
}

/// A share in a token.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Token(RecordRef<Atomic>);

// SAFETY: a record and its gate are made for many threads.
unsafe impl Send for Token {}
// SAFETY: as for `Send`.
unsafe impl Sync for Token {}

impl Token {
    fn new() -> Self {
        /// Frees the block, if the allocation of the record fails and unwinds.
        struct Undo(Block<Atomic>);
        impl Drop for Undo {
            fn drop(&mut self) {
                Token::disposal(self.0).run();
            }
        }
        let place = memory::allocate::<Atomic>(Layout::new::<()>(), 1, state::NONE);
        // SAFETY: the place of a new block.
        let undo = Undo(unsafe { Block::of_place(place) });
        // SAFETY: the object is alive.
        let record = unsafe { undo.0.record() };
        _ = ManuallyDrop::new(undo);
        record.add_ref();
        Token(record)
    }

    /// # Safety
    /// The pointer has a share, which it gives up.
    unsafe fn from_ptr(token: NonNull<()>) -> Self {
        // SAFETY: the caller's promise.
        Token(unsafe { RecordRef::from_ptr(token.as_ptr()) })
    }

    fn disposal(block: Block<Atomic>) -> Disposal<Atomic> {
        Disposal {
            block,
            payload: block.place(),
            layout: Layout::new::<()>(),
        }
    }

    /// Returns the place of the token's block. No other object has the place as long as this share
    /// lasts.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.0.block().place().addr().get()
    }

    /// Returns a watch for a dependent entry of this hash, registered as by
    /// [`SharedWatch::registered`]. `None` if the token is closing: then the entry has ended.
    pub(crate) fn watch(&self, counted: Counted, hash: u32) -> Option<SharedWatch> {
        let recipient = Recipient::Core(counted.core());
        // SAFETY: the recipient is no stack.
        let registered = unsafe { self.0.register(recipient, Some(hash)) }?;
        counted.keep();
        let block = self.0.block();
        let id = match registered {
            Registration::Block => RegistrationId::of_block(block),
            Registration::Second => RegistrationId::of_second(self.0.as_ptr()),
            Registration::Hook(hook) => RegistrationId::of_hook(hook),
        };
        // The registration has a reference of the object (R1), which is the watch's.
        Some(SharedWatch::of_registration(block.place().cast(), id))
    }

    /// Ends all entries that depend on the entry of this token, and closes the token; or waits
    /// until another thread has done so. Under no lock. `wakes` gets the wake-ups that are owed.
    pub(crate) fn close(self, wakes: &mut Wakes) {
        let mut closing = Closing {
            hooks: Off::new(),
            others: Off::new(),
            cores: LastCores::new(),
            done: None,
        };
        closing.run(self);
        closing.end(wakes);
    }
}

impl From<Token> for Tied {
    fn from(token: Token) -> Self {
        unsafe fn close(token: NonNull<()>, wakes: &mut Wakes) {
            // SAFETY: from below, once.
            unsafe { Token::from_ptr(token) }.close(wakes);
        }
        let token = ManuallyDrop::new(token).0.as_ptr();
        // SAFETY: a record is not null; `close` takes the share.
        unsafe { Tied::new(NonNull::new_unchecked(token), close) }
    }
}

impl Drop for Token {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: R1: the share's reference.
        unsafe { self.0.release() };
    }
}

/// K2, K4: begins to close a token, or waits until another thread has closed it. Returns whether
/// the calling thread closes it.
fn claim(token: RecordRef<Atomic>, above: Option<RecordRef<Atomic>>) -> bool {
    let Some(mut gate) = token.lock() else {
        return false;
    };
    if gate.is_open() {
        gate.begin_closing();
        // SAFETY: K3: the gate was open, and a token has no home and no finalizer.
        unsafe { token.set_link(above) };
        return true;
    }
    drop(gate);
    let mut turn = 0;
    while !token.is_closed() {
        sync::relax(&mut turn);
    }
    false
}

/// Takes the gate of a token that the calling thread is closing.
fn lock(token: RecordRef<Atomic>) -> Gate<Atomic> {
    match token.lock() {
        Some(gate) => gate,
        None => unreachable!("only the closing thread closes the gate"),
    }
}

/// Returns the recipient of a registration in the record itself, if the slot has a registration
/// that the closing has not taken off. The caller has the gate.
fn recipient(token: RecordRef<Atomic>, slot: RecordSlot) -> Option<Recipient<Atomic>> {
    // Relaxed: R2.
    let word = token.slot(slot).load(Relaxed);
    // SAFETY: R3: without the mark, the word is null, or the recipient of a registration that the
    // closing has not counted: the core is not freed before (C1).
    (word.addr() & OWED == 0).then(|| unsafe { Recipient::decode(word) })?
}

/// Collects a wake-up that was owed, if there is one.
fn owe(cell: *const WakerCell, wakes: &mut Wakes) {
    if !cell.is_null() {
        // SAFETY: K5: from `Arc::into_raw`, once.
        wakes.owe(unsafe { Arc::from_raw(cell) });
    }
}

/// All that a closing frees at its end (K5).
struct Closing {
    /// The hooks of the dependents, which have the wake-ups that are owed.
    hooks: Off,
    /// The hooks of other registrations of the dependents.
    others: Off,
    /// The cores of collections that have ended, whose last registrations the closing has counted.
    cores: LastCores,
    /// The newest of the closed tokens, in each of which the list has a reference. The word of the
    /// finalizers has the link, as for a token above.
    done: Option<RecordRef<Atomic>>,
}

/// The mark of a slot whose registration a closing has taken off. The rest of the word is the cell
/// to which a wake-up is owed, or null.
const OWED: usize = 2;
// No cell has the bit in its address, and no recipient in its encoded form, which also has `CORE`.
const _: () = assert!(
    OWED & CORE == 0
        && OWED < align_of::<WakerCell>()
        && OWED < align_of::<NoticeStack<Atomic>>()
        && OWED < align_of::<Core>()
);

/// A step of a closing.
enum Step {
    Unlinked,
    /// The next dependent has an open token.
    Below(Token),
    /// No registration is left.
    Empty(Gate<Atomic>),
}

impl Closing {
    fn run(&mut self, first: Token) {
        let _critical = Critical::enter();
        let first = ManuallyDrop::new(first).0;
        if !claim(first, None) {
            return self.give_up(first);
        }
        let mut current = first;
        loop {
            match self.step(current) {
                Step::Unlinked => {}
                // K3
                Step::Below(token) => {
                    let below = ManuallyDrop::new(token).0;
                    if claim(below, Some(current)) {
                        current = below;
                    } else {
                        self.give_up(below);
                    }
                }
                Step::Empty(gate) => match self.finish(current, gate) {
                    Some(above) => current = above,
                    None => return,
                },
            }
        }
    }

    /// Unlinks the next dependent, if its token allows that.
    fn step(&mut self, token: RecordRef<Atomic>) -> Step {
        let gate = lock(token);
        let block = token.block();
        let (recipient, of, hash, at) = if let Some(hook) = gate.newest() {
            let id = RegistrationId::of_hook(hook);
            // SAFETY: K2: the registrations are ours.
            let recipient = unsafe { hook.recipient() };
            (Some(recipient), id, hook.hash(), None)
        } else if let Some(second) = recipient(token, RecordSlot::Second) {
            let id = RegistrationId::of_second(token.as_ptr());
            let at = RecordSlot::Second;
            (Some(second), id, token.second_hash(), Some(at))
        } else {
            let first = recipient(token, RecordSlot::First);
            let at = RecordSlot::First;
            (
                first,
                RegistrationId::of_block(block),
                block.hash(),
                Some(at),
            )
        };
        let Some(Recipient::Core(core)) = recipient else {
            return Step::Empty(gate);
        };
        drop(gate);
        let (place, others) = (block.payload(), &mut self.others);
        // SAFETY: C1: the gate is not open, so the registration has ended, and is counted once: as
        // soon as the registration is counted, it is taken off below.
        let cell = match unsafe { core.try_unlink(of, place, hash, others, Arc::clone) } {
            Attempt::Tied(below) => {
                // SAFETY: made of a token.
                return Step::Below(unsafe { Token::from_ptr(below.into_token()) });
            }
            Attempt::Done(_, cell) => cell,
            Attempt::Closed => {
                // SAFETY: C4: as above.
                unsafe { self.cores.count(core) };
                None
            }
        };
        let cell = cell.map_or(ptr::null(), Arc::into_raw).cast_mut();
        let gate = lock(token);
        match at {
            Some(slot) => {
                let owed = cell.map_addr(|addr| addr | OWED);
                // Relaxed: R2, we have the gate.
                token.slot(slot).store(owed.cast(), Relaxed);
            }
            None => {
                let hook = gate.pop();
                drop(gate);
                if let Some(hook) = hook {
                    hook.set_owed_waker(cell.cast());
                    // SAFETY: H1: a lone hook, taken off just now.
                    unsafe { self.hooks.add(hook) };
                }
            }
        }
        Step::Unlinked
    }

    /// Closes the gate of a token, and gives up the references of the token. Returns the token
    /// above.
    fn finish(
        &mut self,
        token: RecordRef<Atomic>,
        mut gate: Gate<Atomic>,
    ) -> Option<RecordRef<Atomic>> {
        // SAFETY: K3: the word is the closing thread's. The list has the reference of the share.
        let above = unsafe {
            let above = token.link();
            token.set_link(self.done.replace(token));
            above
        };
        // SAFETY: B2: only the closing thread ends the token, once. Before the gate is closed: a
        // thread that finds the gate closed may give its reference up.
        unsafe { token.block().set_dead(Layout::new::<()>()) };
        gate.set_closed();
        drop(gate);
        // SAFETY: R1: called once. These references are not the last.
        unsafe { token.release_object() };
        above
    }

    /// Gives up the reference of a share in a token that another thread has closed. If that was the
    /// last reference, the token is freed at the end.
    fn give_up(&mut self, token: RecordRef<Atomic>) {
        // SAFETY: R1: the share's reference. If it was the last, the token is the caller's alone,
        // and `add_ref` makes the reference of the list.
        unsafe {
            if token.gives_up_last(1) {
                token.add_ref();
                token.set_link(self.done.replace(token));
            }
        }
    }

    /// Collects the wake-ups, and frees everything.
    fn end(self, wakes: &mut Wakes) {
        self.hooks
            .each(|hook| owe(hook.take_owed_waker().cast(), wakes));
        let mut next = self.done;
        while let Some(token) = next {
            for slot in [RecordSlot::First, RecordSlot::Second] {
                // Relaxed: written by this thread; or null, since another thread that has closed
                // the token has taken the wake-ups out before it gave its reference up.
                let word = token.slot(slot).load(Relaxed);
                token.slot(slot).store(ptr::null_mut(), Relaxed);
                owe(word.map_addr(|addr| addr & !OWED).cast(), wakes);
            }
            // SAFETY: K3; the reference of the list, which is given up once.
            unsafe {
                next = token.link();
                token.release();
            }
        }
    }
}
