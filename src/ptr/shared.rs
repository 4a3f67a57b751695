//! The part of a shared collection that deaths use: where a dying thread finds its entry, and where
//! it puts what it has unlinked.
//!
//! A death takes two locks for each entry, both for a few instructions: that of a *stripe* of the
//! collection's core, and that of the entry's bucket. (Lock striping: any free stripe will do, and
//! each thread has its own to begin with.)
//!
//! * **C1** A registration with a core is ended once. The death ends it by taking `state` from
//!   `SHARED` to `DEAD` or, if there is a record, by the step of its gate from open to dying.
//!   Before that the watch of the entry may end it, by taking `SHARED` to `WEAK`, or the
//!   registration out of the record while the gate is open.
//! * **C2** A death that has ended a registration locks a stripe, unlinks the entry, puts it into
//!   the list of the stripe, and counts the registration. The unlocking is its last access to the
//!   core. Meanwhile no code of a user runs, nothing is allocated or freed, and no other lock is
//!   waited for than that of the bucket and, after it, the gates of the entry's other objects:
//!   whoever has one of these waits for no stripe.
//! * **C3** Whoever changes what deaths look at (unlinks an array, arms the waker) does so first,
//!   and then *passes* the stripes: locks and unlocks each. The deaths that have not seen the
//!   change have ended then, and later ones see it.
//! * **C4** The end of the collection closes the stripes. No death is at the entries then, and none
//!   will be: they belong to the end. A death that finds a closed stripe counts itself off
//!   `inflight`. The thread that brings that to zero, after the end has added the registrations
//!   that others have still to count, frees the core. So the end waits for a thread that has a
//!   stripe, and for no others.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::flavour::Flavour;
use super::header::Block;
use super::hook::{HookRef, Off};
use super::stripe::{Busy, Dead, Locked, Stripe};
use super::waker::WakerCell;
use crate::sync::{self, AtomicPtr, AtomicUsize, Live, Ordering::*};

/// How many deaths may be at the entries of one collection at a time.
pub(crate) const STRIPES: usize = if cfg!(weakly_loom) { 2 } else { 8 };

/// One in so many times a thread looks at the stripes of others first.
const FOREIGN_INTERVAL: usize = 16;

/// Names a registration: the address of the block (`SHARED`, or the record's first), of the record
/// (its second), or of a hook. Only compared.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistrationId(*mut ());

impl RegistrationId {
    #[inline]
    pub(super) fn of_block<F: Flavour>(block: Block<F>) -> Self {
        RegistrationId(block.as_ptr())
    }

    #[inline]
    pub(super) fn of_hook<F: Flavour>(hook: HookRef<F>) -> Self {
        RegistrationId(hook.as_ptr().as_ptr())
    }

    #[inline]
    pub(super) fn of_second(record: *mut ()) -> Self {
        RegistrationId(record)
    }

    #[inline]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0
    }
}

/// Finds the entry that has this registration, and unlinks it under the lock of its bucket. Passed
/// what [`CoreRef::set_entries`] was, the address of the payload and the hash of the registration,
/// and a list for the hooks of the entry's other registrations, which it ends.
///
/// # Safety
/// The caller has a stripe.
pub(crate) type Unlink = unsafe fn(
    entries: *mut (),
    of: RegistrationId,
    addr: *const (),
    hash: u32,
    off: &mut Off,
) -> Option<Dead>;

/// The core of a shared collection. See the module documentation.
#[repr(C)]
pub(crate) struct Core {
    stripes: [Stripe; STRIPES],
    /// Where the entries are.
    entries: AtomicPtr<()>,
    unlink: Unlink,
    /// Registrations, less those that their watches have ended, modulo 2^n. What the participants
    /// of the table count is not among them.
    registered: AtomicUsize,
    /// Whether the next death calls the waker.
    armed: AtomicUsize,
    /// From an `Arc`; null until a waker is set.
    waker: AtomicPtr<WakerCell>,
    /// After the end: what is still to be counted, less what has been.
    inflight: AtomicUsize,
    live: Live,
}

/// A pointer to a core that is not freed: the collection is there, or a registration that nobody
/// has counted as ended.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
#[derive(Clone, Copy, PartialEq)]
pub struct CoreRef(NonNull<Core>);

// SAFETY: a core consists of atomics, and of what the locks of its stripes protect.
unsafe impl Send for CoreRef {}
// SAFETY: likewise.
unsafe impl Sync for CoreRef {}

impl CoreRef {
    pub(crate) fn new(unlink: Unlink) -> Self {
        let core = Box::new(Core {
            stripes: core::array::from_fn(|_| Stripe::new()),
            entries: AtomicPtr::new(ptr::null_mut()),
            unlink,
            registered: AtomicUsize::new(0),
            armed: AtomicUsize::new(0),
            waker: AtomicPtr::new(ptr::null_mut()),
            inflight: AtomicUsize::new(0),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        CoreRef(unsafe { NonNull::new_unchecked(Box::into_raw(core)) })
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut Core {
        self.0.as_ptr()
    }

    /// # Safety
    /// `core` is what [`as_ptr`](Self::as_ptr) has returned, and is not freed.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(core: *mut Core) -> Self {
        // SAFETY: the caller's promise.
        CoreRef(unsafe { NonNull::new_unchecked(core) })
    }

    #[inline(always)]
    fn get<'a>(self) -> &'a Core {
        // SAFETY: it is not freed before the caller's last access.
        let core = unsafe { self.0.as_ref() };
        core.live.check();
        core
    }

    /// Where deaths find the entries to begin with. The error is what another thread has said.
    pub(crate) fn begin_entries(self, entries: *mut ()) -> Result<(), *mut ()> {
        let place = &self.get().entries;
        // Release: with `unlink`: what is there is initialised. Acquire on failure: likewise.
        place
            .compare_exchange(ptr::null_mut(), entries, Release, Acquire)
            .map(drop)
    }

    /// Where deaths find the entries from now on. Who retires what was there before
    /// [passes](Self::pass) the stripes.
    #[inline]
    pub(crate) fn set_entries(self, entries: *mut ()) {
        // Release: with `unlink`: what is there is initialised.
        self.get().entries.store(entries, Release);
    }

    /// Counts one more registration, before it is made.
    #[inline]
    pub(crate) fn count(self) -> Counted {
        // Relaxed: read at the end, when no other thread is at the collection.
        self.get().registered.fetch_add(1, Relaxed);
        Counted(self)
    }

    /// Counts a registration off that its watch has ended.
    #[inline]
    pub(super) fn count_off(self) {
        // Relaxed: likewise. (The collection is there: its end ends all registrations that are
        // left.)
        self.get().registered.fetch_sub(1, Relaxed);
    }

    /// Locks any free stripe, beginning with this thread's own. `None` if they are closed (C4).
    #[inline]
    fn enter(self) -> Option<Locked> {
        let own = own_stripe();
        match self.get().stripes[own].try_lock() {
            Ok(locked) => Some(locked),
            Err(Busy::Closed) => None,
            Err(Busy::Locked) => self.enter_other(own),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_other(self, own: usize) -> Option<Locked> {
        let stripes = &self.get().stripes;
        let (mut at, mut turn) = (own, 0);
        loop {
            at = (at + 1) % STRIPES;
            match stripes[at].try_lock() {
                Ok(locked) => return Some(locked),
                Err(Busy::Closed) => return None,
                Err(Busy::Locked) if at == own => sync::relax(&mut turn),
                Err(Busy::Locked) => {}
            }
        }
    }

    /// C2: unlinks the entry of a registration that the caller, a death, has ended. Returns whether
    /// it was there, and the cell of the waker if that is to be called.
    ///
    /// # Safety
    /// C1; the core is not used by the caller after this.
    #[inline]
    pub(super) unsafe fn unlink(
        self,
        of: RegistrationId,
        payload: NonNull<u8>,
        hash: u32,
    ) -> (bool, Option<Arc<WakerCell>>) {
        // Dropped last.
        let mut off = Off::new();
        let Some(stripe) = self.enter() else {
            // SAFETY: C4, the caller's promise.
            unsafe { self.finish_inflight() };
            return (false, None);
        };
        let core = self.get();
        // Acquire: with `set_entries`.
        let entries = core.entries.load(Acquire);
        // (None, if the registration is of an entry that was to be the first, and was not
        // inserted.)
        // SAFETY: C3: what is there is not freed before the stripe was passed.
        let dead = (!entries.is_null())
            .then(|| unsafe { (core.unlink)(entries, of, payload.as_ptr().cast(), hash, &mut off) })
            .flatten();
        stripe.count_ended();
        let Some(dead) = dead else {
            return (false, None);
        };
        stripe.put(&dead);
        let waker = core.owed();
        drop(stripe);
        (true, waker)
    }

    /// C4.
    ///
    /// # Safety
    /// Once for each registration that has ended and is to be counted, by who found the stripes
    /// closed.
    #[cold]
    #[inline(never)]
    unsafe fn finish_inflight(self) {
        // Release: our uses of the core happen before its end. Acquire: so do all other threads'.
        if self.get().inflight.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: C4.
            unsafe { self.free() };
        }
    }

    /// C3: waits for the deaths that are at the entries now.
    #[cold]
    pub(crate) fn pass(self) {
        self.get()
            .stripes
            .iter()
            .for_each(|stripe| drop(stripe.lock()));
    }

    /// A stripe in whose list entries wait: this thread's own, if there are some. Every
    /// [`FOREIGN_INTERVAL`]th time the others come first, so no dead entry waits for a certain
    /// thread. For a thread that is alone at the collection: the stripe counts how often its thread
    /// asks.
    #[inline]
    pub(crate) fn due(self) -> Option<usize> {
        let stripe = &self.get().stripes[own_stripe()];
        let polls = stripe.poll();
        if polls % FOREIGN_INTERVAL == 0 {
            return self.foreign_due(polls / FOREIGN_INTERVAL);
        }
        self.own_due(1).or_else(|| self.any_due())
    }

    /// This thread's own stripe, if so many entries wait in its list.
    #[inline]
    pub(crate) fn own_due(self, least: usize) -> Option<usize> {
        let own = own_stripe();
        (self.waiting_at(own) >= least).then_some(own)
    }

    /// Another stripe in whose list entries wait: the first after this thread's `n`-th next one.
    pub(crate) fn foreign_due(self, n: usize) -> Option<usize> {
        let first = own_stripe() + n;
        let at = (first..first + STRIPES).find(|at| self.waiting_at(*at) != 0);
        at.map(|at| at % STRIPES)
    }

    /// How many entries wait in the list of a stripe, and how many deaths have unlinked there,
    /// modulo 2^n.
    pub(crate) fn progress(self, at: usize) -> (usize, usize) {
        (self.waiting_at(at), self.get().stripes[at].unlinked())
    }

    /// Any stripe in whose list entries wait.
    #[inline]
    pub(crate) fn any_due(self) -> Option<usize> {
        let mut stripes = self.get().stripes.iter();
        stripes.position(|stripe| stripe.waiting() != 0)
    }

    /// How many entries wait in the list of a stripe.
    #[inline]
    fn waiting_at(self, at: usize) -> usize {
        self.get().stripes[at % STRIPES].waiting()
    }

    /// How many entries wait in all lists.
    pub(crate) fn waiting(self) -> usize {
        (0..STRIPES).map(|at| self.waiting_at(at)).sum()
    }

    /// How many entries deaths have unlinked, modulo 2^n.
    pub(crate) fn unlinked(self) -> usize {
        let stripes = self.get().stripes.iter();
        stripes.fold(0, |sum: usize, stripe| sum.wrapping_add(stripe.unlinked()))
    }

    /// Takes the newest entries from the list of a stripe, `most` of them. Returns the first and
    /// how many. `below` returns what the link of an entry says.
    pub(crate) fn take(
        self,
        at: usize,
        most: usize,
        below: impl Fn(*mut ()) -> *mut (),
    ) -> (*mut (), usize) {
        self.get().stripes[at % STRIPES].lock().take(most, below)
    }

    /// Shows the entries in the list of a stripe, unless there are more than `most`; returns how
    /// many there are. Nothing may be allocated or freed meanwhile.
    pub(crate) fn each_dead(
        self,
        at: usize,
        most: usize,
        below: impl Fn(*mut ()) -> *mut (),
        look: impl FnMut(*mut ()),
    ) -> usize {
        self.get().stripes[at % STRIPES]
            .lock()
            .each(most, below, look)
    }

    /// The cell of the waker, if one has ever been set.
    #[inline]
    pub(crate) fn waker<'a>(self) -> Option<&'a WakerCell> {
        // Acquire: with `waker_or_new`. SAFETY: it is there until the core is freed.
        unsafe { self.get().waker.load(Acquire).as_ref() }
    }

    pub(crate) fn waker_or_new<'a>(self) -> &'a WakerCell {
        if let Some(cell) = self.waker() {
            return cell;
        }
        let new = Arc::into_raw(WakerCell::new()).cast_mut();
        // Release: the cell is initialised. Acquire on failure: likewise, the winner's.
        let there = (self.get().waker).compare_exchange(ptr::null_mut(), new, Release, Acquire);
        // SAFETY: ours, which no other thread knows; or the winner's, as in `waker`.
        unsafe {
            match there {
                Ok(_) => &*new,
                Err(there) => {
                    drop(Arc::from_raw(new));
                    &*there
                }
            }
        }
    }

    /// A share in the cell of the waker, which is made if there is none.
    pub(crate) fn waker_share(self) -> Arc<WakerCell> {
        self.waker_or_new();
        // SAFETY: there is one.
        unsafe { self.get().share() }
    }

    /// The next death calls the waker.
    pub(crate) fn arm(self) {
        // Release: with `owed_if_armed`: the caller has set the cell, or found it. (A death that
        // comes after the stripes were passed sees it; and one that was before may.)
        self.get().armed.store(1, Release);
    }
}

impl Core {
    /// The cell of the waker, if this death is the first since it was armed. The caller has a
    /// stripe.
    #[inline]
    fn owed(&self) -> Option<Arc<WakerCell>> {
        // Relaxed: C3.
        if self.armed.load(Relaxed) == 0 {
            return None;
        }
        self.owed_if_armed()
    }

    #[cold]
    #[inline(never)]
    fn owed_if_armed(&self) -> Option<Arc<WakerCell>> {
        // Acquire: with `arm`: the cell is there, and initialised.
        if self.armed.swap(0, Acquire) == 0 {
            return None;
        }
        // SAFETY: it is armed after the cell was set.
        Some(unsafe { self.share() })
    }

    /// # Safety
    /// There is a cell, and the caller has acquired that.
    unsafe fn share(&self) -> Arc<WakerCell> {
        // Relaxed: the caller's promise; it is set once.
        let cell = self.waker.load(Relaxed);
        // SAFETY: from an `Arc`, of which the core has a share.
        unsafe {
            Arc::increment_strong_count(cell);
            Arc::from_raw(cell)
        }
    }
}

/// A registration that is counted, and not made yet, or not any more. The core is there meanwhile,
/// even if the collection ends.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Counted(CoreRef);

impl Counted {
    /// The core, for the registration.
    #[inline]
    pub(super) fn core(&self) -> CoreRef {
        self.0
    }

    /// The registration is made now: its end counts it off.
    #[inline]
    pub(super) fn keep(self) {
        _ = ManuallyDrop::new(self);
    }

    /// The registration with this core has ended.
    pub(super) fn of_ended(core: CoreRef) -> Self {
        Counted(core)
    }
}

impl Drop for Counted {
    /// Under no lock. Counts it as a death does, for the collection may be gone (C2, C4).
    fn drop(&mut self) {
        match self.0.enter() {
            Some(stripe) => stripe.count_ended(),
            // SAFETY: C4: counted once, here.
            None => unsafe { self.0.finish_inflight() },
        }
    }
}

/// The number of this thread's own stripe. Allocates nothing, and needs no number of the thread.
#[inline]
fn own_stripe() -> usize {
    #[cfg(feature = "std")]
    {
        crate::thread::hint() % STRIPES
    }
    #[cfg(not(feature = "std"))]
    0
}

/// The end of a core whose stripes are closed (C4).
pub(crate) struct Closed(CoreRef);

impl CoreRef {
    /// C4: closes the stripes. Waits for the threads that have one.
    ///
    /// # Safety
    /// Called once, by the end of the collection.
    pub(crate) unsafe fn close(self) -> Closed {
        self.get().stripes.iter().for_each(Stripe::close);
        Closed(self)
    }
}

impl Closed {
    /// Takes the list of a stripe: the newest, and how many there are.
    pub(crate) fn take(&self, at: usize) -> (*mut (), usize) {
        // SAFETY: C4: no death uses it any more.
        unsafe { self.0.get().stripes[at].take_all() }
    }

    /// Leaves the core to those who have still to count a registration. `registered` are those that
    /// the participants count. All watches have ended theirs, or left them to their deaths.
    pub(crate) fn leave(self, registered: usize) {
        let core = self.0.get();
        // SAFETY: C4.
        let ended = |stripe: &Stripe| unsafe { stripe.ended() };
        let all = registered.wrapping_add(core.registered.load(Relaxed));
        let owed = (core.stripes.iter()).fold(all, |owed, stripe| owed.wrapping_sub(ended(stripe)));
        // AcqRel: as in `finish_inflight`.
        if owed == 0 || core.inflight.fetch_add(owed, AcqRel).wrapping_add(owed) == 0 {
            // SAFETY: C4.
            unsafe { self.0.free() };
        }
    }
}

impl CoreRef {
    /// # Safety
    /// C4: no thread uses the core any more.
    unsafe fn free(self) {
        debug_assert!(!sync::in_critical(), "nothing is freed under a lock");
        let core = self.get();
        let cell = core.waker.load(Relaxed);
        if !cell.is_null() {
            // SAFETY: the share of the core. (W5: no code of a user runs.)
            drop(unsafe { Arc::from_raw(cell) });
        }
        core.live.end();
        // SAFETY: the caller's promise.
        unsafe { sync::free(self.0) };
    }
}
