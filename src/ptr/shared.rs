//! The part of a shared collection that deaths use: a dying thread finds its entry here, and leaves
//! the unlinked entry here.
//!
//! A death takes two locks for each entry, both for a few instructions: the lock of a *stripe* of
//! the collection's core, and the lock of the entry's bucket. (This is lock striping: any free
//! stripe will do, and each thread begins with a stripe of its own.)
//!
//! * **C1** A registration with a core is ended once. The death ends the registration by taking
//!   `state` from `SHARED` to `DEAD` or, if there is a record, by the step of the record's gate
//!   from open to dying. Before the death, the watch of the entry may end the registration, by
//!   taking `SHARED` to `WEAK`, or by taking the registration out of the record while the gate is
//!   open.
//! * **C2** A death that has ended a registration locks a stripe, unlinks the entry, puts the entry
//!   into the list of the stripe, and counts the registration. The unlocking is the death's last
//!   access to the core. Under the lock of the stripe no user code runs, nothing is allocated or
//!   freed, and the death waits for no lock but the lock of the bucket and, after it, the gates of
//!   the entry's other objects, and later the lock of the waker's cell. A thread holding the lock
//!   of a bucket, a gate or a cell waits for no stripe.
//! * **C3** A thread that changes something deaths look at (it unlinks an array, or is about to
//!   set the first waker) makes the change first, and then *passes* the stripes: locks and unlocks
//!   each. The deaths that have not seen the change have ended then, and later deaths see the
//!   change.
//! * **C4** The end of the collection closes the stripes. No death is at the entries then, and none
//!   will be: the entries belong to the end. A death that finds a closed stripe counts itself off
//!   `inflight`. The end adds the registrations that other threads have still to count; the thread
//!   that then brings `inflight` to zero frees the core. So the end waits for a thread that has a
//!   stripe, and, before it closes the stripes, for a thread that is closing a token of an entry.
//! * **C5** A core has eight stripes at first. Once more threads than that use the collection, one
//!   of them adds stripes, up to 64: it publishes them under the lock of the first stripe. A thread
//!   that passes or closes the stripes begins with the first, and then loads the others. If the
//!   passing thread does not find the added stripes, the adding thread publishes the stripes after
//!   the passing thread has unlocked the first stripe. So a death that locks an added stripe sees
//!   the change of the passing thread.
//! * **C6** A thread that arms the waker locks only the stripes that are locked. The thread stores
//!   the flag, and then loads the locks; a death locks its stripe, and then loads the flag. Each of
//!   the two has a barrier in between. So the thread sees that the stripe was locked, or the death
//!   sees the flag. (Without a waker a death needs no barrier: C3.)
//! * **C7** The word `full` has a bit for each stripe. The bit is set if and only if the list of
//!   the stripe is *full*: 16 entries or more wait there. The bit changes under the lock of the
//!   stripe, as the list does, so no change of the bit is lost. The bound of
//!   `raw/reap.rs` needs this.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::arming::Arming;
use super::found::{Attempt, Found, RegistrationId, Unlink};
use super::hook::Off;
use super::stripe::{Busy, FULL, Locked, Stripe};
use super::waker::{WakerCell, Wakes};
use crate::sync::{self, AtomicPtr, AtomicUsize, Live, Ordering::*};

/// The number of stripes at first: deaths that may be at the entries of a collection at a time.
const STRIPES: usize = if cfg!(weakly_loom) { 2 } else { 8 };

/// The number of stripes where many threads use the collection (C5): as many as a word has bits
/// (C7).
const MANY_STRIPES: usize = if cfg!(weakly_loom) {
    4
} else {
    usize::BITS as usize
};

/// The stripes that are added (C5).
type Added = [Stripe; MANY_STRIPES - STRIPES];

/// The core of a shared collection. See the module documentation.
#[repr(C)]
pub(crate) struct Core {
    stripes: [Stripe; STRIPES],
    /// More stripes, from a `Box`, or null (C5).
    added: AtomicPtr<Added>,
    /// The place of the entries.
    entries: AtomicPtr<()>,
    unlink: Unlink,
    /// Registrations, less the registrations ended by their watches, modulo 2^n. The registrations
    /// counted by the participants of the table are not among them.
    registered: AtomicUsize,
    arming: Arming,
    /// C7: the stripes whose lists are full, as bits.
    full: AtomicUsize,
    /// After the end: the registrations still to be counted, less the registrations counted since.
    inflight: AtomicUsize,
    live: Live,
}

/// A pointer to a core that is not freed: the collection exists, or a registration that no thread
/// has counted as ended.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
#[derive(Clone, Copy, PartialEq)]
pub struct CoreRef(NonNull<Core>);

// SAFETY: a core consists of atomics, and of cells that the locks of its stripes protect.
unsafe impl Send for CoreRef {}
// SAFETY: as for `Send`.
unsafe impl Sync for CoreRef {}

impl CoreRef {
    pub(crate) fn new(unlink: Unlink) -> Self {
        let core = Box::new(Core {
            stripes: core::array::from_fn(Stripe::new),
            added: AtomicPtr::new(ptr::null_mut()),
            entries: AtomicPtr::new(ptr::null_mut()),
            unlink,
            registered: AtomicUsize::new(0),
            arming: Arming::new(),
            full: AtomicUsize::new(0),
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
    /// `core` was returned by [`as_ptr`](Self::as_ptr), and is not freed.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(core: *mut Core) -> Self {
        // SAFETY: the caller's promise.
        CoreRef(unsafe { NonNull::new_unchecked(core) })
    }

    #[inline(always)]
    fn get<'a>(self) -> &'a Core {
        // SAFETY: the core is not freed before the caller's last access.
        let core = unsafe { self.0.as_ref() };
        core.live.check();
        core
    }

    /// Sets the first place where deaths find the entries. The error is the place set by another
    /// thread.
    pub(crate) fn begin_entries(self, entries: *mut ()) -> Result<(), *mut ()> {
        let place = &self.get().entries;
        // Release: with `unlink`: the entries there are initialised.
        // Acquire on failure: as above, for the other thread's place.
        place
            .compare_exchange(ptr::null_mut(), entries, Release, Acquire)
            .map(drop)
    }

    /// Sets the place where deaths find the entries from now on. A thread that retires the entries'
    /// previous place [passes](Self::pass) the stripes first.
    #[inline]
    pub(crate) fn set_entries(self, entries: *mut ()) {
        // Release: with `unlink`: the entries there are initialised.
        self.get().entries.store(entries, Release);
    }

    /// Counts one more registration, before the registration is made.
    #[inline]
    pub(crate) fn count(self) -> Counted {
        // Relaxed: the number is read at the end, when no other thread is at the collection.
        self.get().registered.fetch_add(1, Relaxed);
        Counted(self)
    }

    /// Counts off a registration that its watch has ended.
    #[inline]
    pub(super) fn count_off(self) {
        // Relaxed: as in `count`. (The collection exists: its end ends all registrations that are
        // left.)
        self.get().registered.fetch_sub(1, Relaxed);
    }

    /// Locks any free stripe, beginning with this thread's own. `None` if the stripes are closed
    /// (C4).
    #[inline]
    fn enter(self) -> Option<Locked> {
        match self.get().own_stripe().1.try_lock() {
            Ok(locked) => Some(locked),
            Err(Busy::Closed) => None,
            Err(Busy::Locked) => self.enter_other(),
        }
    }

    /// Locks any free stripe, as [`enter`](Self::enter) does, beginning behind this thread's own.
    #[cold]
    #[inline(never)]
    fn enter_other(self) -> Option<Locked> {
        let core = self.get();
        let mut turn = 0;
        loop {
            for at in 1..=core.len() {
                match core.stripe(hint() + at).try_lock() {
                    Ok(locked) => return Some(locked),
                    Err(Busy::Closed) => return None,
                    Err(Busy::Locked) => {}
                }
            }
            sync::relax(&mut turn);
        }
    }

    /// Unlinks the entry of a registration that the caller, a death, has ended (C2). First closes
    /// the token of the entry, if there is one. Returns whether the entry was found, and the result
    /// of `owed`, if the waker is to be called. (The thread has the stripe while `owed` looks at
    /// the cell.)
    ///
    /// # Safety
    /// C1; the caller does not use the core after this.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn unlink<W>(
        self,
        of: RegistrationId,
        payload: NonNull<u8>,
        hash: u32,
        wakes: &mut Wakes,
        owed: impl Fn(&Arc<WakerCell>) -> W,
    ) -> (bool, Option<W>) {
        loop {
            // Dropped last.
            let mut off = Off::new();
            // SAFETY: the caller's promise; an attempt that fails does not count the registration.
            match unsafe { self.try_unlink(of, payload, hash, &mut off, &owed) } {
                Attempt::Done(found, waker) => return (found, waker),
                Attempt::Tied(token) => token.close(wakes),
                Attempt::Closed => {
                    // SAFETY: C4, the caller's promise.
                    unsafe { self.finish_inflight() };
                    return (false, None);
                }
            }
        }
    }

    /// As [`unlink`](Self::unlink), unless the entry has an open token.
    ///
    /// # Safety
    /// As for `unlink`. If the entry has an open token, or the collection has ended, the
    /// registration is not counted, and keeps the core.
    #[inline]
    pub(super) unsafe fn try_unlink<W>(
        self,
        of: RegistrationId,
        payload: NonNull<u8>,
        hash: u32,
        off: &mut Off,
        owed: impl FnOnce(&Arc<WakerCell>) -> W,
    ) -> Attempt<W> {
        let Some(stripe) = self.enter() else {
            return Attempt::Closed;
        };
        let core = self.get();
        let has_waker = core.arming.has_waker();
        // Acquire: with `set_entries`.
        let entries = core.entries.load(Acquire);
        // (The pointer is null if the registration is of an entry that was to be the first and was
        // not inserted.)
        let found = match entries.is_null() {
            true => Found::Nothing,
            // SAFETY: C3: the entries there are not freed before the stripe was passed.
            false => unsafe { (core.unlink)(entries, of, payload.as_ptr().cast(), hash, off) },
        };
        let dead = match found {
            Found::Nothing => None,
            Found::Tied(token) => return Attempt::Tied(token),
            Found::Unlinked(dead) => Some(dead),
        };
        stripe.count_ended();
        let Some(dead) = dead else {
            return Attempt::Done(false, None);
        };
        stripe.put(&dead, &core.full);
        let waker = has_waker.then(|| core.arming.owed(owed)).flatten();
        drop(stripe);
        Attempt::Done(true, waker)
    }

    /// Counts off a registration after the end of the collection (C4); the last frees the core.
    ///
    /// # Safety
    /// Called once for each registration that has ended and is to be counted, by the thread that
    /// found the stripes closed.
    #[cold]
    #[inline(never)]
    unsafe fn finish_inflight(self) {
        // SAFETY: the caller's promise.
        if unsafe { self.counts_off_last() } {
            // SAFETY: C4.
            unsafe { self.free() };
        }
    }

    /// Counts a registration off as [`finish_inflight`](Self::finish_inflight) does, but frees
    /// nothing. Returns whether the registration was the last: then the caller frees the core.
    ///
    /// # Safety
    /// As for `finish_inflight`.
    unsafe fn counts_off_last(self) -> bool {
        // Release: our uses of the core happen before its end.
        // Acquire: the uses by all other threads happen before its end, too.
        self.get().inflight.fetch_sub(1, AcqRel) == 1
    }

    /// Waits for the deaths that are at the entries now (C3).
    #[cold]
    pub(crate) fn pass(self) {
        self.get().each_stripe(|stripe| drop(stripe.lock()));
    }

    /// Returns whether a list is full (C7).
    #[inline]
    pub(crate) fn is_any_full(self) -> bool {
        // Relaxed: `take_full` looks again. A list that became full before this call is seen.
        self.get().full.load(Relaxed) != 0
    }

    /// Returns the own stripe of the thread with this number, and how many entries wait there.
    #[inline(always)]
    pub(crate) fn own_due(self, number: usize) -> (usize, usize) {
        let (own, stripe) = self.get().stripe_of(number);
        (own, stripe.waiting())
    }

    /// Takes [`FULL`] entries from a full list, while there is one (C7). Returns as
    /// [`take`](Self::take) does.
    #[cold]
    pub(crate) fn take_full(self, below: impl Fn(*mut ()) -> *mut ()) -> (*mut (), usize) {
        let (core, mut turn) = (self.get(), 0);
        let own = core.own_stripe().0;
        loop {
            // Acquire: with `put`: an added stripe is initialised.
            let full = core.full.load(Acquire);
            if full == 0 {
                return (ptr::null_mut(), 0);
            }
            // The first full list from the own stripe on. If another thread has locked its stripe,
            // the next turn begins one stripe further.
            let from = own + turn as usize;
            let at = from + full.rotate_right(from as u32).trailing_zeros() as usize;
            match core.stripe(at % usize::BITS as usize).try_lock() {
                Ok(stripe) if stripe.is_full() => return stripe.take(FULL, &core.full, below),
                Ok(_) => {}
                Err(_) => sync::relax(&mut turn),
            }
        }
    }

    /// Returns a stripe in whose list entries wait, this thread's own first.
    pub(crate) fn any_due(self) -> Option<usize> {
        let own = self.get().own_stripe().0;
        self.first_due((own..own + self.stripes()).map(|at| at % self.stripes()))
    }

    /// Returns a stripe of other threads in whose list entries wait, the `nth` first.
    pub(crate) fn next_due(self, nth: usize) -> Option<usize> {
        let (own, len) = (self.get().own_stripe().0, self.stripes());
        // (A power of two.)
        let all = (0..len).map(|at| nth.wrapping_add(at) & (len - 1));
        self.first_due(all.filter(|at| *at != own))
    }

    /// Returns the first of these stripes in whose list entries wait.
    fn first_due(self, mut stripes: impl Iterator<Item = usize>) -> Option<usize> {
        stripes.find(|at| self.get().stripe(*at).waiting() != 0)
    }

    /// Notes a look at the list of stripe `at`. Returns whether no entry has come into the list
    /// since the previous look of any thread: then the thread of the stripe may have stopped making
    /// changes, and another thread may take the entries. A hint. False at the first look.
    pub(crate) fn look_if_idle(self, at: usize) -> bool {
        self.get().stripe(at).look_if_idle()
    }

    /// Returns how many entries wait in all lists.
    pub(crate) fn waiting(self) -> usize {
        let mut waiting = 0;
        self.get().each_stripe(|stripe| waiting += stripe.waiting());
        waiting
    }

    /// Returns how many entries deaths have unlinked, modulo 2^n.
    pub(crate) fn unlinked(self) -> usize {
        let mut sum = 0_usize;
        self.get()
            .each_stripe(|stripe| sum = sum.wrapping_add(stripe.unlinked()));
        sum
    }

    /// Takes the newest entries from the list of a stripe, at most `most` of them. Returns the
    /// first entry and their number. `below` returns the entry to which the link of an entry leads.
    #[inline(always)]
    pub(crate) fn take(
        self,
        at: usize,
        most: usize,
        below: impl Fn(*mut ()) -> *mut (),
    ) -> (*mut (), usize) {
        let core = self.get();
        let stripe = core.stripe(at);
        match stripe.waiting() {
            0 => (ptr::null_mut(), 0),
            _ => stripe.lock().take(most, &core.full, below),
        }
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
        self.get().stripe(at).lock().each(most, below, look)
    }

    /// Returns the cell of the waker, if a waker has ever been set.
    #[inline]
    pub(crate) fn waker<'a>(self) -> Option<&'a WakerCell> {
        self.get().arming.waker()
    }

    /// Returns the cell of the waker, which is made if there is none.
    pub(crate) fn waker_or_new<'a>(self) -> &'a WakerCell {
        self.get().arming.waker_or_new(|| self.pass())
    }

    /// Returns a share in the cell of the waker, which is made if there is none.
    pub(crate) fn waker_share(self) -> Arc<WakerCell> {
        self.get().arming.share(|| self.pass())
    }

    /// Arms the core: the next death calls the waker. (A death that is at the entries already may
    /// call it, or not.)
    pub(crate) fn arm(self) {
        self.get().arming.arm();
    }

    /// Arms the core. Returns whether no entries wait. A death whose entry the caller does not see
    /// calls the waker (C6).
    pub(crate) fn arm_and_look(self) -> bool {
        let mut waiting = 0;
        self.get().arming.arm_before_loads();
        self.get().each_stripe(|stripe| {
            if stripe.is_locked() {
                drop(stripe.lock());
            }
            waiting += stripe.waiting();
        });
        waiting == 0
    }
}

impl CoreRef {
    /// Returns the number of stripes.
    #[inline]
    pub(crate) fn stripes(self) -> usize {
        self.get().len()
    }

    /// Returns the bytes of the core.
    pub(crate) fn memory_usage(self) -> usize {
        size_of::<Core>() + self.get().added().map_or(0, size_of_val)
    }

    /// Adds stripes where so many threads use the collection that a stripe for each is missing
    /// (C5). Without memory the core stays as it is.
    #[inline]
    pub(crate) fn widen_for(self, threads: usize) {
        // Relaxed: another look follows under the lock.
        if threads > STRIPES && self.get().added.load(Relaxed).is_null() {
            self.widen();
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn widen(self) {
        let mut stripes = Vec::new();
        if stripes.try_reserve_exact(MANY_STRIPES - STRIPES).is_err() {
            return;
        }
        stripes.extend((STRIPES..MANY_STRIPES).map(Stripe::new));
        let Ok(stripes) = <Box<Added>>::try_from(stripes) else {
            return;
        };
        let stripes = Box::into_raw(stripes);
        let first = self.get().stripes[0].lock();
        // Release: with `Core::added`: the stripes are initialised, and the changes of threads that
        // have passed the first stripe without these stripes (C5).
        // Relaxed on failure: no access follows.
        let added = (self.get().added)
            .compare_exchange(ptr::null_mut(), stripes, Release, Relaxed)
            .is_ok();
        drop(first);
        if !added {
            // SAFETY: made above, and no other thread has seen it.
            drop(unsafe { Box::from_raw(stripes) });
        }
    }
}

impl Core {
    /// Returns the added stripes, if there are any.
    #[inline(always)]
    fn added(&self) -> Option<&Added> {
        // Acquire: with `widen`.
        // SAFETY: the stripes exist until the core is freed.
        unsafe { self.added.load(Acquire).as_ref() }
    }

    /// Returns the number of stripes.
    #[inline]
    fn len(&self) -> usize {
        self.added().map_or(STRIPES, |_| MANY_STRIPES)
    }

    /// Returns the calling thread's own stripe, with its number.
    #[inline]
    fn own_stripe(&self) -> (usize, &Stripe) {
        self.stripe_of(hint())
    }

    #[inline]
    fn stripe_of(&self, hint: usize) -> (usize, &Stripe) {
        match self.added() {
            None => (hint % STRIPES, &self.stripes[hint % STRIPES]),
            Some(_) => (hint % MANY_STRIPES, self.stripe(hint)),
        }
    }

    /// Returns a stripe, modulo their number.
    fn stripe(&self, at: usize) -> &Stripe {
        if let Some(added) = self.added() {
            if let Some(at) = (at % MANY_STRIPES).checked_sub(STRIPES) {
                return &added[at];
            }
        }
        &self.stripes[at % STRIPES]
    }

    /// Passes the stripes to `each`, beginning with the first (C5).
    fn each_stripe(&self, mut each: impl FnMut(&Stripe)) {
        self.stripes.iter().for_each(&mut each);
        self.added().into_iter().flatten().for_each(each);
    }
}

/// A registration that is counted, and is not made yet or has already ended. It keeps the core,
/// even if the collection ends.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Counted(CoreRef);

impl Counted {
    /// Returns the core, for the registration.
    #[inline]
    pub(super) fn core(&self) -> CoreRef {
        self.0
    }

    /// Marks the registration as made: the end of the registration counts it off.
    #[inline]
    pub(super) fn keep(self) {
        _ = ManuallyDrop::new(self);
    }

    /// Returns the count of a registration with this core that has ended.
    pub(super) fn of_ended(core: CoreRef) -> Self {
        Counted(core)
    }
}

impl Drop for Counted {
    /// Under no lock. Counts the registration as a death does, for the collection may be gone (C2,
    /// C4).
    fn drop(&mut self) {
        match self.0.enter() {
            Some(stripe) => stripe.count_ended(),
            // SAFETY: C4: counted once, here.
            None => unsafe { self.0.finish_inflight() },
        }
    }
}

/// Cores whose last registration the caller has counted, and which it frees later: by the drop,
/// under no lock. The place of the entries, which no thread uses any more, links them.
#[cfg(feature = "std")]
pub(super) struct LastCores(Option<CoreRef>);

#[cfg(feature = "std")]
impl LastCores {
    pub(super) fn new() -> Self {
        LastCores(None)
    }

    /// Counts a registration off as [`CoreRef::finish_inflight`] does. Frees nothing.
    ///
    /// # Safety
    /// As for `finish_inflight`.
    pub(super) unsafe fn count(&mut self, core: CoreRef) {
        // SAFETY: the caller's promise.
        if unsafe { core.counts_off_last() } {
            let below = self
                .0
                .replace(core)
                .map_or(ptr::null_mut(), CoreRef::as_ptr);
            // Relaxed: C4: no other thread uses the core any more.
            core.get().entries.store(below.cast(), Relaxed);
        }
    }
}

#[cfg(feature = "std")]
impl Drop for LastCores {
    fn drop(&mut self) {
        while let Some(core) = self.0 {
            // Relaxed: as in `count`.
            let below = core.get().entries.load(Relaxed);
            self.0 = NonNull::new(below.cast()).map(CoreRef);
            // SAFETY: C4.
            unsafe { core.free() };
        }
    }
}

/// Returns a number of the calling thread. Allocates nothing.
#[inline]
fn hint() -> usize {
    #[cfg(feature = "std")]
    {
        crate::thread::hint()
    }
    #[cfg(not(feature = "std"))]
    0
}

/// The end of a core whose stripes are closed (C4).
pub(crate) struct Closed(CoreRef);

impl CoreRef {
    /// Closes the stripes (C4). Waits for the threads that have one.
    ///
    /// # Safety
    /// Called once, by the end of the collection.
    pub(crate) unsafe fn close(self) -> Closed {
        self.get().each_stripe(Stripe::close);
        Closed(self)
    }
}

impl Closed {
    /// Takes the list of a stripe. Returns the newest entry and the number of entries.
    pub(crate) fn take(&self, at: usize) -> (*mut (), usize) {
        // SAFETY: C4: no death uses the list any more.
        unsafe { self.0.get().stripe(at).take_all() }
    }

    /// Leaves the core to the threads that have still to count a registration. `registered` is the
    /// number of registrations that the participants count. Every watch has ended its registration,
    /// or has left it to the death of the object.
    pub(crate) fn leave(self, registered: usize) {
        let core = self.0.get();
        // SAFETY: C4: no death has a stripe.
        let ended = |stripe: &Stripe| unsafe { stripe.ended() };
        let mut owed = registered.wrapping_add(core.registered.load(Relaxed));
        core.each_stripe(|stripe| owed = owed.wrapping_sub(ended(stripe)));
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
        // SAFETY: C4, and this is the only call. (W5: no user code runs.)
        unsafe { core.arming.free() };
        let added = core.added.load(Relaxed);
        if !added.is_null() {
            // SAFETY: made by `widen`, and no thread uses it any more.
            drop(unsafe { Box::from_raw(added) });
        }
        core.live.end();
        // SAFETY: the caller's promise.
        unsafe { sync::free(self.0) };
    }
}
