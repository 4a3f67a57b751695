//! The side table of a watched object, and the hooks of those who watch it.
//!
//! Invariants:
//!
//! * **S1** `refs` counts who may use this record: the object itself while it is not buried, every
//!   weak handle, every hook, every finalizer token. Whoever takes it to zero frees the record.
//! * **S2** `watchers` and the `links` of every hook in its lists are used only by the holder of the
//!   gate ([`LOCKED`]); once the gate is [`CLOSED`], only by the thread that closed it.
//! * **S3** the gate is closed once, by the object's death, after every notice has been pushed. No
//!   hook is linked afterwards.
//! * **S4** the body of a hook is written before the hook is linked (or, for the hook inside a new
//!   record, before the record is published) and does not change until the hook is retired.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Link, Word};
use super::hook::{Body, Call, Chain, Hook, HookRef, Watcher, Watchers};
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// The lists may be entered.
const OPEN: usize = 0;
/// Somebody is in the lists, for pointer surgery (a death also pushes its notices here). No code of
/// a user runs in this state.
const LOCKED: usize = 1;
/// The object is dead and has told everybody. Final.
const CLOSED: usize = 2;

/// A mark on `strong` while a handle asks whether it is the only one; upgraders wait. No count reaches
/// it.
pub(super) const ASKED: usize = 1 << (usize::BITS - 1);

/// Past this many references the process is aborted, as for the handles.
pub(super) const MAX_COUNT: usize = isize::MAX as usize;

/// The record of an object that somebody watches; see the module's chapter.
pub struct Side<F: Flavour> {
    /// One unit for the group of all strong handles and those it has been lent, one for each upgrade
    /// under way. At zero the object is dead (or, in `new_cyclic`, not yet born).
    pub(super) strong: F::Word,
    refs: F::Word,
    gate: F::Word,
    watchers: UnsafeCell<Watchers<F>>,
    /// The hook of the first watcher, so that the usual single watcher costs no second allocation.
    first: Hook<F>,
    live: Live,
}

/// Ends the process, without unwinding: a count is about to wrap around.
#[cold]
pub(super) fn abort() -> ! {
    #[cfg(feature = "std")]
    std::process::abort();
    // A panic while panicking aborts, and needs no std.
    #[cfg(not(feature = "std"))]
    {
        struct Twice;
        impl Drop for Twice {
            fn drop(&mut self) {
                panic!("too many handles");
            }
        }
        let _twice = Twice;
        panic!("too many handles");
    }
}

impl<F: Flavour> Side<F> {
    /// A record that nobody knows yet, with references for the object and for one more holder.
    fn prepare(strong: usize) -> NonNull<Self> {
        let side = Box::new(Side {
            strong: F::Word::new(strong),
            refs: F::Word::new(2),
            gate: F::Word::new(OPEN),
            watchers: UnsafeCell::new(Watchers {
                heads: [ptr::null_mut(); 2],
                first_taken: false,
                bystanders: 0,
            }),
            first: Hook::empty(),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        unsafe { NonNull::new_unchecked(Box::into_raw(side)) }
    }

    /// The record of an object that is not born yet: dead to every upgrade, with one reference for
    /// the object and one for the weak handle that is shown to its maker.
    pub(super) fn unborn() -> NonNull<Self> {
        Self::prepare(0)
    }

    /// The record behind `link`, with a reference for the caller, who holds a strong handle to the
    /// object of this link.
    #[inline]
    pub(super) fn referenced(link: &F::Link) -> NonNull<Self> {
        // Acquire: the release of whoever installed the record; its contents are visible.
        if let Some(side) = NonNull::new(link.load(Acquire)) {
            // SAFETY: S1, the object is alive and holds a reference.
            unsafe { side.as_ref() }.add_ref();
            return side;
        }
        let side = Self::prepare(1);
        Self::install(link, side).err().unwrap_or(side)
    }

    /// Links a hook that makes `call` at the death of the object of this link. The caller holds a
    /// strong handle to it; hence the lists are open.
    #[inline]
    pub(crate) fn watch(link: &F::Link, list: Watcher, call: Call<F>) -> HookRef<F> {
        // Acquire: as in `referenced`.
        if let Some(side) = NonNull::new(link.load(Acquire)) {
            // SAFETY: S1, as in `referenced`.
            unsafe { side.as_ref() }.add_ref();
            return Self::enlist(side, list, call);
        }
        // The first watch: the hook enters the record before anybody can see it, so that the one
        // compare-exchange that publishes the record publishes the hook too.
        let side = Self::prepare(1);
        let hook = Self::first(side);
        // SAFETY: nobody else knows the record.
        let watchers = unsafe { &side.as_ref().watchers };
        watchers.with_mut(|watchers| {
            // SAFETY: S2 and S4, likewise.
            unsafe {
                (*watchers).first_taken = true;
                hook.set_body(Body { side, list, call });
                (*watchers).push(hook, list);
            }
        });
        match Self::install(link, side) {
            Ok(()) => hook,
            Err(winner) => Self::enlist(winner, list, call),
        }
    }

    /// Publishes a prepared record. The loser of a race frees it, and gets a reference to the
    /// winner's.
    fn install(link: &F::Link, side: NonNull<Self>) -> Result<(), NonNull<Self>> {
        // Release: whoever loads the pointer sees the record. Acquire on failure: we see the
        // winner's.
        link.compare_exchange(ptr::null_mut(), side.as_ptr(), Release, Acquire)
            .map(drop)
            .map_err(|winner| {
                // SAFETY: ours was never published.
                unsafe { Self::free(side) };
                // SAFETY: an installed link is not null; S1, the object is alive.
                let winner = unsafe { NonNull::new_unchecked(winner) };
                // SAFETY: as above.
                unsafe { winner.as_ref() }.add_ref();
                winner
            })
    }

    /// Links a hook in a published record, and gives it the caller's reference.
    fn enlist(side: NonNull<Self>, list: Watcher, call: Call<F>) -> HookRef<F> {
        // SAFETY: S1, the caller's reference.
        let record = unsafe { side.as_ref() };
        let mut spare: Option<HookRef<F>> = None;
        loop {
            let open = record.lock();
            debug_assert!(open, "a strong handle exists, so the object is not dead");
            let hook = record.watchers.with_mut(|watchers| {
                // SAFETY: S2, we hold the gate.
                let watchers = unsafe { &mut *watchers };
                let hook = if watchers.first_taken {
                    spare.take()?
                } else {
                    watchers.first_taken = true;
                    Self::first(side)
                };
                // SAFETY: the hook is ours and in no list; S2, we hold the gate.
                unsafe {
                    hook.set_body(Body { side, list, call });
                    watchers.push(hook, list);
                }
                Some(hook)
            });
            record.unlock();
            match (hook, spare) {
                (Some(hook), None) => return hook,
                (Some(hook), Some(unused)) => {
                    // SAFETY: never linked.
                    unsafe { Hook::free(unused) };
                    return hook;
                }
                // Not under the gate: the allocator may take its time.
                (None, _) => spare = Some(Hook::boxed()),
            }
        }
    }

    #[inline]
    pub(super) fn first(side: NonNull<Self>) -> HookRef<F> {
        // SAFETY: in bounds of the record.
        HookRef(unsafe { NonNull::new_unchecked(&raw mut (*side.as_ptr()).first) })
    }

    /// Takes the gate. False: it is closed, the object is dead, and every notice has been pushed.
    #[inline]
    fn lock(&self) -> bool {
        self.live.check();
        let mut turn = 0;
        loop {
            // Acquire: the release of whoever left the gate, open or closed.
            match self.gate.compare_exchange(OPEN, LOCKED, Acquire, Acquire) {
                Ok(_) => return true,
                Err(CLOSED) => return false,
                Err(_) => sync::relax(&mut turn),
            }
        }
    }

    #[inline]
    fn unlock(&self) {
        // Release: our surgery is visible to whoever takes the gate next.
        self.gate.store(OPEN, Release);
    }

    /// Whether the object has told everybody that it is dead.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.live.check();
        // Acquire: the release of the close, so that the death happens before what we conclude.
        self.gate.load(Acquire) == CLOSED
    }

    /// Whether no upgrade can succeed: dead, dying or (in `new_cyclic`) not yet born.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.live.check();
        // Relaxed: nothing is read on the strength of it.
        self.strong.load(Relaxed) == 0
    }

    #[inline]
    pub(crate) fn add_ref(&self) {
        self.live.check();
        // Relaxed: the caller has access to the record by another reference.
        if self.refs.fetch_add(1, Relaxed) > MAX_COUNT {
            abort();
        }
    }

    /// Gives a reference back, and frees the record with the last.
    ///
    /// # Safety
    /// The caller owns a reference (S1) and gives it up.
    #[inline]
    pub(crate) unsafe fn release(side: NonNull<Self>) {
        // SAFETY: S1.
        let record = unsafe { side.as_ref() };
        record.live.check();
        // The first load spares the last holder a read-modify-write: with one reference, ours, nobody
        // is left to make another. Release: our uses of the record happen before its end. Acquire: so
        // do everybody else's.
        if sync::first_load(false, || record.refs.load(Relaxed) == 1)
            || record.refs.fetch_sub(1, Release) == 1
        {
            record.refs.load(Acquire);
            // SAFETY: S1, nobody is left.
            unsafe { Self::free(side) };
        }
    }

    /// # Safety
    /// Nobody uses the record any more.
    unsafe fn free(side: NonNull<Self>) {
        // SAFETY: the caller's promise; it was made by `prepare`.
        unsafe {
            side.as_ref().live.end();
            sync::free(side);
        }
    }

    /// How many weak handles and entries there are. A moment's answer.
    pub(super) fn weak_count(&self) -> usize {
        let refs = self.refs.load(Relaxed);
        // Saturating: the two loads are not one.
        refs.saturating_sub(1 + self.bystanders())
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn set_refs(&self, refs: usize) {
        self.refs.store(refs, Relaxed);
    }

    /// Whether nobody holds on weakly in a way that could bring back a strong handle. Only true for
    /// good if the caller holds the only strong handle and upgraders are kept out.
    pub(super) fn is_unwatched(&self) -> bool {
        // First the references, then those of them that do not matter: the latter can only fall
        // meanwhile (to add one takes a strong handle, and the caller has the only one), and each
        // falls before its reference does. So an equality proves that there was no other reference
        // at the first load; and without one, none can be made. Acquire: the release of a bystander's
        // reference, so that who finds it gone finds it gone from the bystanders too. (The models stay
        // green with Relaxed, as they should: the gate orders the two as well. If the bystander takes it
        // after us, then our load happens before its release, and cannot have seen that.)
        let refs = self.refs.load(Acquire);
        refs == 1 + self.bystanders()
    }

    fn bystanders(&self) -> usize {
        if !self.lock() {
            return 0;
        }
        // SAFETY: S2, we hold the gate.
        let bystanders = self
            .watchers
            .with(|watchers| unsafe { (*watchers).bystanders });
        self.unlock();
        bystanders
    }

    /// One more reference that cannot bring the object back.
    pub(crate) fn add_bystander(&self) {
        self.add_ref();
        if self.lock() {
            // SAFETY: S2, we hold the gate.
            self.watchers
                .with_mut(|watchers| unsafe { (*watchers).bystanders += 1 });
            self.unlock();
        }
    }

    /// Gives back what [`add_bystander`](Self::add_bystander) took.
    ///
    /// # Safety
    /// The caller owns that reference and gives it up.
    pub(crate) unsafe fn release_bystander(side: NonNull<Self>) {
        // SAFETY: S1, the caller's reference.
        let record = unsafe { side.as_ref() };
        if record.lock() {
            // SAFETY: S2, we hold the gate.
            record
                .watchers
                .with_mut(|watchers| unsafe { (*watchers).bystanders -= 1 });
            record.unlock();
        }
        // SAFETY: the caller's promise.
        unsafe { Self::release(side) };
    }

    /// Runs `read` under the gate; `None` if the object is dead.
    pub(crate) fn while_open<R>(&self, read: impl FnOnce() -> R) -> Option<R> {
        self.lock().then(|| {
            let answer = read();
            self.unlock();
            answer
        })
    }

    /// Takes a hook out of its list and retires it, in constant time, if the object is not dead and
    /// `wanted`, asked under the gate, agrees. If the object is dead, the hook is, or was, with its
    /// callee.
    ///
    /// # Safety
    /// The caller has a reference to the record (the hook's own will do). If `wanted` is true, the
    /// hook is in a list of `side`, and nobody uses it after this.
    #[inline]
    pub(crate) unsafe fn unlink(
        side: NonNull<Self>,
        hook: HookRef<F>,
        wanted: impl FnOnce() -> bool,
    ) -> bool {
        // SAFETY: S1, the caller's reference.
        let record = unsafe { side.as_ref() };
        if !record.lock() {
            return false;
        }
        let wanted = wanted();
        if wanted {
            record.watchers.with_mut(|watchers| {
                // SAFETY: S2, we hold the gate; the caller's promise.
                unsafe {
                    (*watchers).remove(hook);
                    if hook == Self::first(side) {
                        (*watchers).first_taken = false;
                    }
                }
            });
        }
        record.unlock();
        if wanted {
            // SAFETY: no longer in a list. (The hook inside the record may be another's already;
            // from here on only its address is used.)
            unsafe { hook.retire_from(side) };
        }
        wanted
    }

    /// The object is dead: tells the maps and closes the gate. What is left is the list of the
    /// finalizers, newest first, which is the caller's from now on.
    ///
    /// # Safety
    /// Called once, by the thread that took `strong` to zero.
    pub(super) unsafe fn close(&self) -> Chain<F> {
        let open = self.lock();
        debug_assert!(open, "an object dies once");
        // SAFETY: S2, we hold the gate.
        let [maps, finalizers] = self.watchers.with_mut(|watchers| unsafe {
            core::mem::replace(&mut (*watchers).heads, [ptr::null_mut(); 2])
        });
        // Under the gate: a map that goes away finds it closed only when its queue has every
        // notice, and may then be freed. (Closing first and pushing later is a use after free.)
        for hook in Chain(maps) {
            // SAFETY: S4; the hook was linked, and nobody else fires it (S3).
            unsafe { hook.fire() };
        }
        // Release: the pushes, and the whole death up to here, are visible to whoever finds the
        // gate closed.
        self.gate.store(CLOSED, Release);
        Chain(finalizers)
    }
}

impl<F: Flavour> HookRef<F> {
    /// Ends a hook that has been fired, and gives back its reference to the record.
    ///
    /// # Safety
    /// The hook has been fired, it is the caller's, and nobody uses it any more.
    #[inline]
    pub(crate) unsafe fn retire(self) {
        // SAFETY: the caller's promise.
        unsafe { self.retire_from(self.side()) };
    }

    /// # Safety
    /// The hook is in no list, is the caller's, and is one of `side`'s.
    #[inline]
    unsafe fn retire_from(self, side: NonNull<Side<F>>) {
        // SAFETY: the caller's promise; the hook's own reference to the record.
        unsafe {
            if self != Side::first(side) {
                Hook::free(self);
            }
            Side::release(side);
        }
    }
}
