//! The dead queue of a map that threads share: the same stack and the same push as for a map of one
//! owner; but any thread may drain, and any thread may end a watch.
//!
//! * **Q1** The stack's owner, for popping, is who has the `turn`: a few instructions, no code of
//!   anybody. Nobody waits for the turn but a purge.
//! * **Q2** `buried` counts a notice only *after* its entry has been unlinked, where `pushed` counts it
//!   before its object's memory is free. So who finds the two equal, *before* looking at the table, will
//!   find no entry of an object whose death happened before that. (That the stack is empty proves
//!   nothing: a notice may be in the hands of a drainer.) `buried` is read first: of each burial that it
//!   counts, the push is then counted too.
//! * **Q3** A watch ends once: by whoever takes its hook out of it. It owns a reference of its own to the
//!   record, since a reader may still look at an entry whose notice, and hook, have gone.
//! * **Q4** A queue is freed when its map is dropped and no watch is registered (D2). An entry that was
//!   leaked, by a panic in the middle of an insert, leaves its watch registered, and the queue leaked.

#[cfg(all(test, weakly_loom))]
mod models;

use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::{Shared, push};
use crate::ptr::{Atomic, Call, Handle, Hook, HookRef, Side, Watcher, WeakHandle, upgrade};
use crate::sync::{self, AtomicPtr, AtomicUsize, Ordering::*};

/// How many notices one turn takes.
const TURN: usize = 16;

/// The map's end of a queue that any thread may drain.
pub struct SharedQueue {
    shared: NonNull<Shared<Atomic>>,
    /// Whether somebody is popping (Q1).
    turn: AtomicUsize,
    /// Notices whose entries are unlinked (Q2).
    buried: AtomicUsize,
}

// SAFETY: Q1; the counters are atomics; whether a map may be shared follows from its keys and values.
unsafe impl Send for SharedQueue {}
// SAFETY: likewise.
unsafe impl Sync for SharedQueue {}

/// A watch for a map that is shared between threads. It does not know the type of its object.
pub struct Tie {
    /// Counted (Q3).
    side: NonNull<Side<Atomic>>,
    /// Null once it has ended.
    hook: AtomicPtr<Hook<Atomic>>,
    queue: NonNull<Shared<Atomic>>,
}

// SAFETY: a record, its gate and a queue are made for many threads; the object is not touched.
unsafe impl Send for Tie {}
// SAFETY: likewise; Q3, the hook is taken by one.
unsafe impl Sync for Tie {}

/// A tie that can make a strong handle again.
pub(crate) struct TieTo<T: ?Sized> {
    tie: Tie,
    ptr: NonNull<T>,
    like: PhantomData<WeakHandle<T, Atomic>>,
}

// SAFETY: it can do what a weak handle can.
unsafe impl<T: ?Sized + Send + Sync> Send for TieTo<T> {}
// SAFETY: likewise.
unsafe impl<T: ?Sized + Send + Sync> Sync for TieTo<T> {}

/// The notice of a death, in the hands of a drainer. It must be [buried](Self::bury) when its entry is
/// unlinked; if it is lost, the map can never again be sure that nothing is pending, which costs time
/// and is safe.
pub(crate) struct SharedNotice<'a> {
    hook: HookRef<Atomic>,
    queue: &'a SharedQueue,
}

/// As a notice that is pending. See [`SharedQueue::hold`].
pub(crate) struct Hold<'a>(&'a SharedQueue);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        // Release: as for a burial, what was done meanwhile is done.
        self.0.buried.fetch_add(1, Release);
    }
}

/// Names a hook, and is not to be followed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(unreachable_pub, reason = "1.85 does not see it behind `Tied`")]
pub struct HookId(*const Hook<Atomic>);

impl SharedQueue {
    pub(crate) fn new() -> Self {
        SharedQueue {
            shared: Shared::boxed(),
            turn: AtomicUsize::new(0),
            buried: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn shared(&self) -> &Shared<Atomic> {
        // SAFETY: Q4, we own it.
        let shared = unsafe { self.shared.as_ref() };
        shared.live.check();
        shared
    }

    /// Notices whose entries may still be there.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        // Acquire: Q2, the release of each burial: the entry is unlinked for us, and its push counted.
        let buried = self.buried.load(Acquire);
        // Relaxed: a death that happens before this call has counted its push.
        self.shared().notices.pushed().wrapping_sub(buried)
    }

    /// Whether an entry that is found after this call cannot be of an object that is dead by now. See Q2.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.pending() == 0
    }

    /// Entries that are announced dead. Exact while nobody changes the map.
    pub(crate) fn announced(&self) -> usize {
        // An orphan may be counted off before it is counted.
        let orphans = self.shared().orphans.load(Relaxed);
        let announced = self.pending().wrapping_sub(orphans);
        if announced > isize::MAX as usize {
            return 0;
        }
        announced
    }

    /// Makes the queue seem busy until this is dropped: who looks at the table asks what he finds.
    pub(crate) fn hold(&self) -> Hold<'_> {
        // Relaxed: who must see this sees it by a burial that comes after it (Q2).
        self.shared().notices.count();
        Hold(self)
    }

    /// Takes some notices out. None if there are none or, unless `patient`, if another thread is at it.
    pub(crate) fn take(&self, patient: bool) -> impl Iterator<Item = SharedNotice<'_>> {
        let mut taken = [None; TURN];
        if self.lock(patient) {
            for place in &mut taken {
                // SAFETY: Q1, it is our turn.
                *place = unsafe { self.shared().notices.pop() };
                if place.is_none() {
                    break;
                }
            }
            // Release: what we have done to the stack is visible to the next.
            self.turn.store(0, Release);
        }
        taken
            .into_iter()
            .flatten()
            .map(|hook| SharedNotice { hook, queue: self })
    }

    fn lock(&self, patient: bool) -> bool {
        let mut turn = 0;
        loop {
            // Acquire: the release of whoever had the turn before.
            match self.turn.compare_exchange(0, 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(_) if patient => sync::relax(&mut turn),
                Err(_) => return false,
            }
        }
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        if self.shared().registered.load(Relaxed) != 0 {
            return;
        }
        for notice in core::iter::from_fn(|| {
            // SAFETY: Q1, nobody else is left.
            unsafe { self.shared().notices.pop() }
        }) {
            // SAFETY: fired, popped, ours; its watch has ended.
            unsafe { notice.retire() };
        }
        // SAFETY: Q4: no watch is registered, so nobody pushes.
        unsafe {
            self.shared().live.end();
            sync::free(self.shared);
        }
    }
}

impl SharedNotice<'_> {
    /// The hash that was given to [`Tie::new`].
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        // SAFETY: not retired before our end.
        unsafe { self.hook.call() }.tag
    }

    /// The hook of the watch that it is about.
    #[inline]
    pub(crate) fn hook(&self) -> HookId {
        HookId(self.hook.as_ptr())
    }

    /// Its entry is unlinked, or was. The hook goes.
    #[inline]
    pub(crate) fn bury(self) {
        // SAFETY: fired, popped, ours; the watch is settled, or knows the hook only by its address.
        unsafe { self.hook.retire() };
        // Release: Q2, for who reads `buried` next: the entry is gone.
        self.queue.buried.fetch_add(1, Release);
    }

    /// It has come late: its entry was not there.
    #[inline]
    pub(crate) fn bury_orphan(self) {
        self.queue.shared().orphans.fetch_sub(1, Relaxed);
        self.bury();
    }
}

impl Tie {
    /// Watches an object: its death will send a notice with this hash.
    #[inline]
    pub(crate) fn new<T: ?Sized>(
        strong: &Handle<T, Atomic>,
        hash: u64,
        queue: &SharedQueue,
    ) -> Self {
        let call = Call {
            fire: push::<Atomic>,
            context: queue.shared.as_ptr().cast_const().cast(),
            tag: hash,
        };
        // Relaxed: only who owns the queue asks, when nobody else is left.
        queue.shared().registered.fetch_add(1, Relaxed);
        let hook = Side::watch(&strong.header().side, Watcher::Map, call);
        // SAFETY: the object lives, so its hooks do; and it has a record now.
        let side = unsafe { hook.side() };
        // SAFETY: as above.
        unsafe { side.as_ref() }.add_ref();
        Tie {
            side,
            hook: AtomicPtr::new(hook.as_ptr()),
            queue: queue.shared,
        }
    }

    #[inline]
    fn record(&self) -> &Side<Atomic> {
        // SAFETY: Q3, our reference.
        unsafe { self.side.as_ref() }
    }

    /// Whether the object has announced its death. Its address may be another's by now.
    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        self.record().is_closed()
    }

    /// Whether the object has announced its death; if not, its notice is still to come, and will be
    /// pushed after this. (It may otherwise be under way, or have been worked off already.)
    pub(crate) fn was_announced(&self) -> bool {
        self.record().while_open(|| ()).is_none()
    }

    /// Whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.record().is_expired()
    }

    /// Whether this is the watch with that hook.
    #[inline]
    pub(crate) fn is_named_by(&self, hook: HookId) -> bool {
        // Relaxed: only compared. (A load before the swap of `settle`, but not one that hides much from
        // loom: the other loads are by drainers of other notices, who find another hook or none.)
        ptr::eq(self.hook.load(Relaxed), hook.0)
    }

    /// The watch has ended by its notice, which takes the hook along.
    #[inline]
    pub(crate) fn settle(&self) {
        // Relaxed: Q3, the swap decides; nothing is read through it.
        if !self.hook.swap(ptr::null_mut(), Relaxed).is_null() {
            self.deregister();
        }
    }

    #[inline]
    fn deregister(&self) -> &Shared<Atomic> {
        // SAFETY: Q4, we were registered until here; and the map to which we belong, and with it its
        // queue, is there as long as we are.
        let queue = unsafe { self.queue.as_ref() };
        queue.live.check();
        // Relaxed: as for `registered` above.
        queue.registered.fetch_sub(1, Relaxed);
        queue
    }

    /// Ends the watch, unless it has ended. O(1).
    #[inline]
    pub(crate) fn end(&self) {
        // Relaxed: as in `settle`; the hook was written before the tie was shared.
        let Some(hook) = HookRef::from_ptr(self.hook.swap(ptr::null_mut(), Relaxed)) else {
            return;
        };
        // (Registered until after the unlinking, or no longer: who drops the queue comes after both, Q4.)
        // SAFETY: Q3, it is ours to end: if the gate is open, the hook is in its list, and nobody else
        // uses it. If it is closed, the hook is not touched: its notice has it.
        if !unsafe { Side::unlink(self.side, hook, || true) } {
            self.deregister().orphans.fetch_add(1, Relaxed);
        } else {
            self.deregister();
        }
    }
}

impl Drop for Tie {
    fn drop(&mut self) {
        self.end();
        // SAFETY: Q3, our reference.
        unsafe { Side::release(self.side) };
    }
}

impl<T: ?Sized> TieTo<T> {
    #[inline]
    pub(crate) fn new(strong: &Handle<T, Atomic>, hash: u64, queue: &SharedQueue) -> Self {
        TieTo {
            tie: Tie::new(strong, hash, queue),
            ptr: strong.payload(),
            like: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn tie(&self) -> &Tie {
        &self.tie
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Handle<T, Atomic>> {
        // SAFETY: the record of this object.
        unsafe { upgrade(self.ptr, self.tie.record()) }
    }

    pub(crate) fn downgrade(&self) -> WeakHandle<T, Atomic> {
        self.tie.record().add_ref();
        // SAFETY: the record of this object, with a reference more for the handle.
        unsafe { WeakHandle::from_counted(self.ptr, self.tie.side) }
    }
}
