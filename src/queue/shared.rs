//! The notices of a collection that threads share: the same stacks and the same push as for one owner; but
//! any thread may drain, and any thread may end a registration.
//!
//! * **S1** There are several *stripes*, each with a stack. A thread registers with the stripe that its number leads
//!   to, and drains that first: what a thread puts in and lets die touches no cache line that other threads do. The
//!   owner of a stack, for taking out, is who has the `turn` of its stripe: a few instructions, no code of anybody.
//!   Nobody waits for the turn but a purge.
//! * **S2** `reclaimed` counts a notice only *after* its entry has been unlinked, where the stack counts it
//!   before its object's payload is freed. So who finds the two equal, *before* looking at the table, will
//!   find no entry, registered with that stripe, of an object whose death happened before that. (That the stack is
//!   empty proves nothing: a notice may be in the hands of a drainer.) `reclaimed` is read first: of each burial that it
//!   counts, the push is then counted too. The queue is idle if all stripes are, one asked after the other: an entry is
//!   registered with one of them.
//! * **S3** A tie's registration ends once: by whoever takes its hook out of it. The tie has a reference of
//!   its own to the record, since a reader may still look at an entry whose notice, and hook, have gone.
//! * **S4** `registered` counts the registrations with a stack that have neither been ended nor brought a notice that
//!   was taken out. As with one owner, the stack is freed when the queue is dropped and these have come.
//! * **S5** A stripe is made by the first who registers with it, or holds it; of several one wins. A queue without
//!   one is idle: whoever has to see something pending has synchronised with a registration, or with a burial
//!   of a notice, and so with who made the stripe.

#[cfg(all(test, weakly_loom))]
mod models;

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use std::boxed::Box;

use crate::hash::HashValue;
use crate::ptr::{Atomic, Block, Node, Notice, RecordRef, StackRef, Strong, Weak};
use crate::sync::{self, AtomicPtr, AtomicUsize, Ordering::*, UnsafeCell, const_fn, first_load};
use crate::thread::ThreadNumber;

/// How many notices one turn takes.
const TURN: usize = 16;
/// Threads whose numbers are equal modulo this have one stripe.
#[cfg(not(weakly_loom))]
const STRIPES: usize = 8;
#[cfg(weakly_loom)]
const STRIPES: usize = 2;
/// Of so many drains of a thread with a stripe of its own, one begins with those of others.
const NTH: usize = 16;

/// The collection's end of the stacks, which any thread may drain.
pub struct SharedQueue {
    /// Null until something is registered, or held (S5).
    stripes: [AtomicPtr<Stripe>; STRIPES],
    /// Notices, here or on their way, whose entry has gone.
    late: AtomicUsize,
}

/// A stack, and what changes with every drain of it. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct Stripe {
    stack: StackRef<Atomic>,
    /// What is left of the batch that was taken last (S1).
    batch: UnsafeCell<Node<Atomic>>,
    /// Whether somebody is taking out (S1).
    turn: AtomicUsize,
    /// Notices whose entries are unlinked (S2).
    reclaimed: AtomicUsize,
    /// How often its threads have looked for something to drain.
    looks: AtomicUsize,
}

// SAFETY: S1; the counters are atomics; whether a collection may be shared follows from its keys and values.
unsafe impl Send for SharedQueue {}
// SAFETY: likewise.
unsafe impl Sync for SharedQueue {}

/// A registration of a collection that is shared between threads. It does not know its queue: who has that
/// [ends](Self::end) it.
///
/// The place of the object's block leads to the block, and that to the record: a look at the entry alone needs
/// neither. (What the place is said to be of is not looked at.)
pub struct SharedWatch<T: ?Sized = ()> {
    /// In a block of which the record counts us (S3).
    place: NonNull<T>,
    /// Null once it has ended.
    hook: AtomicPtr<()>,
}

// SAFETY: a block, a record, its gate and a queue are made for many threads; the object is not touched.
unsafe impl<T: ?Sized> Send for SharedWatch<T> {}
// SAFETY: likewise; S3, the hook is taken by one.
unsafe impl<T: ?Sized> Sync for SharedWatch<T> {}

/// A tie that can make a strong handle again.
pub(crate) struct SharedWatchOf<T: ?Sized> {
    watch: SharedWatch<T>,
    /// It goes where a weak handle may.
    like: PhantomData<Weak<T, Atomic>>,
}

/// The notice of a death, in the hands of a drainer. It must be [buried](Self::complete) when its entry is
/// unlinked; if it is lost, the map can never again be sure that nothing is pending, which costs time
/// and is safe.
pub(crate) struct SharedNotice<'a> {
    notice: Notice<Atomic>,
    stripe: &'a Stripe,
}

/// Notices that one turn has taken out. They are linked, and each is read before it is reclaimed.
pub(crate) struct Taken<'a> {
    next: Node<Atomic>,
    left: usize,
    stripe: &'a Stripe,
}

impl<'a> Iterator for Taken<'a> {
    type Item = SharedNotice<'a>;

    #[inline]
    fn next(&mut self) -> Option<SharedNotice<'a>> {
        self.left = self.left.checked_sub(1)?;
        let notice = self.next.get()?;
        self.next = notice.below();
        let stripe = self.stripe;
        Some(SharedNotice { notice, stripe })
    }
}

/// As a notice that is pending. See [`SharedQueue::keep_busy`].
pub(crate) struct Busy<'a>(&'a Stripe);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        // Release: as for a burial, what was done meanwhile is done.
        self.0.reclaimed.fetch_add(1, Release);
    }
}

/// Names a hook, and is not to be followed.
#[allow(unreachable_pub, reason = "1.85 does not see it behind `Watches`")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HookId(*const ());

impl SharedQueue {
    const_fn! {
        pub(crate) fn new() -> SharedQueue {
            SharedQueue {
                #[cfg(not(weakly_loom))]
                stripes: [const { AtomicPtr::new(ptr::null_mut()) }; STRIPES],
                #[cfg(weakly_loom)]
                stripes: [AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut())],
                late: AtomicUsize::new(0),
            }
        }
    }

    /// A stripe, if it is there.
    #[inline]
    fn stripe(&self, at: usize) -> Option<&Stripe> {
        // Acquire: the stripe is made.
        // SAFETY: it lasts as long as the queue.
        unsafe { self.stripes[at].load(Acquire).as_ref() }
    }

    #[inline]
    fn stripes(&self) -> impl Iterator<Item = &Stripe> {
        (0..STRIPES).filter_map(|at| self.stripe(at))
    }

    /// Which stripe is this thread's.
    #[inline]
    fn own() -> usize {
        ThreadNumber::current().get() % STRIPES
    }

    /// This thread's stripe, made if it is not there.
    #[inline]
    fn own_or_new(&self) -> &Stripe {
        let own = Self::own();
        first_load(None, || self.stripe(own)).unwrap_or_else(|| self.begin(own))
    }

    #[cold]
    #[inline(never)]
    fn begin(&self, at: usize) -> &Stripe {
        let new = Box::new(Stripe {
            stack: StackRef::new(true),
            batch: UnsafeCell::new(Node::NONE),
            turn: AtomicUsize::new(0),
            reclaimed: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
        });
        let new = Box::into_raw(new);
        // Release: who loads it finds the stripe made. Acquire on failure: likewise, that of the winner.
        match self.stripes[at].compare_exchange(ptr::null_mut(), new, Release, Acquire) {
            // SAFETY: it lasts as long as the queue.
            Ok(_) => unsafe { &*new },
            // SAFETY: ours is seen by nobody; the winner's lasts as long as the queue.
            Err(there) => unsafe {
                drop(Box::from_raw(new));
                &*there
            },
        }
    }

    /// Notices whose entries may still be there.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.stripes().map(Stripe::pending).sum()
    }

    /// Whether an entry that is found after this call cannot be of an object that is dead by now. See S2.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.stripes().all(|stripe| stripe.pending() == 0)
    }

    /// Entries that are announced dead. Exact while nobody changes the map.
    pub(crate) fn notified(&self) -> usize {
        // An orphan may be counted off before it is counted.
        let announced = self.pending().wrapping_sub(self.late.load(Relaxed));
        if announced > isize::MAX as usize {
            return 0;
        }
        announced
    }

    /// Makes the queue seem busy until this is dropped: who looks at the table asks what he finds.
    pub(crate) fn keep_busy(&self) -> Busy<'_> {
        let stripe = self.own_or_new();
        // Relaxed: who must see this has seen a death that came after it. (Who holds looks at the object after this,
        // under its gate, and has not found it dying; so the push, on whatever stripe, comes after the count.)
        stripe.stack.count();
        Busy(stripe)
    }

    /// A stripe that has notices: this thread's own, if that has some. Each n-th time another's comes first: no death
    /// waits for the thread that has registered the object.
    #[inline]
    pub(crate) fn due(&self) -> Option<&Stripe> {
        let own = Self::own();
        let looks = match self.stripe(own) {
            Some(stripe) => {
                let looks = stripe.look();
                if looks % NTH != 0 && stripe.pending() != 0 {
                    return Some(stripe);
                }
                looks / NTH
            }
            None => 0,
        };
        self.due_from(own + 1 + looks)
    }

    /// The same, with any.
    #[inline(never)]
    pub(crate) fn due_from(&self, first: usize) -> Option<&Stripe> {
        (first..first + STRIPES)
            .filter_map(|at| self.stripe(at % STRIPES))
            .find(|stripe| stripe.pending() != 0)
    }

    /// A notice has come late: its entry was not there.
    #[inline]
    pub(crate) fn is_late(&self, notice: SharedNotice<'_>) {
        self.late.fetch_sub(1, Relaxed);
        notice.complete();
    }
}

impl Stripe {
    /// Counts how often its threads look for something to drain.
    #[inline]
    fn look(&self) -> usize {
        // Relaxed: a hint; two threads of one stripe may count as one.
        let looks = self.looks.load(Relaxed).wrapping_add(1);
        self.looks.store(looks, Relaxed);
        looks
    }

    /// Notices whose entries may still be there.
    #[inline]
    fn pending(&self) -> usize {
        let reclaimed = self.reclaimed();
        self.stack.pushed().wrapping_sub(reclaimed)
    }

    #[inline]
    fn reclaimed(&self) -> usize {
        // Acquire: S2, the release of each burial: the entry is unlinked for us, and its push counted.
        self.reclaimed.load(Acquire)
    }

    /// Takes some notices out. None if there are none or, unless `patient`, if another thread is at it.
    #[inline]
    pub(crate) fn take(&self, patient: bool) -> Taken<'_> {
        let mut taken = Taken {
            next: Node::NONE,
            left: 0,
            stripe: self,
        };
        if self.lock(patient) {
            (taken.next, taken.left) = self.cut();
            // Release: what we have done to the batch is visible to the next.
            self.turn.store(0, Release);
        }
        taken
    }

    /// S1: it is the caller's turn. Cuts some notices off the batch: the first, and how many.
    fn cut(&self) -> (Node<Atomic>, usize) {
        // SAFETY: S1.
        let batch = self.batch.with_mut(|batch| unsafe { &mut *batch });
        if batch.is_none() && !self.stack.is_empty() {
            *batch = self.stack.take();
        }
        let first = *batch;
        let mut count = 0;
        while let Some(notice) = batch.get().filter(|_| count < TURN) {
            *batch = notice.below();
            count += 1;
        }
        (first, count)
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

impl Drop for Stripe {
    fn drop(&mut self) {
        loop {
            let taken = self.take(true);
            if taken.left == 0 {
                break;
            }
            for SharedNotice { notice, .. } in taken {
                // Relaxed: nobody else is left.
                self.stack.get().registered.fetch_sub(1, Relaxed);
                // SAFETY: N3: taken out; no entry is left.
                unsafe { self.stack.finish(notice) };
            }
        }
        // SAFETY: S4; all entries are gone.
        unsafe { self.stack.close(self.stack.get().registered.load(Relaxed)) };
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        for stripe in &self.stripes {
            // Relaxed: nobody else is left.
            let stripe = stripe.load(Relaxed);
            if !stripe.is_null() {
                // SAFETY: made by `begin`.
                drop(unsafe { Box::from_raw(stripe) });
            }
        }
    }
}

impl SharedNotice<'_> {
    /// The hash that was given to [`SharedWatch::new`].
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        HashValue::of_short(self.notice.hash())
    }

    /// The hook of the registration that it stands for.
    #[inline]
    pub(crate) fn hook(&self) -> HookId {
        match self.notice {
            Notice::Hook(hook) => HookId(hook.as_ptr().as_ptr()),
            // No registration of a shared collection is one of a block.
            Notice::Block(_) => HookId(ptr::null()),
        }
    }

    /// Its entry is unlinked, or was. The hook goes.
    #[inline]
    pub(crate) fn complete(self) {
        let stack = self.stripe.stack;
        // Relaxed: S4, as in `SharedWatch::new`.
        stack.get().registered.fetch_sub(1, Relaxed);
        // SAFETY: N3: taken out; the tie is settled, or knows the hook only by its address.
        unsafe { stack.finish(self.notice) };
        // Release: S2, for who reads `reclaimed` next: the entry is gone.
        self.stripe.reclaimed.fetch_add(1, Release);
    }
}

impl<T: ?Sized> SharedWatch<T> {
    /// Registers with an object: its death will bring a notice with this hash.
    #[inline]
    pub(crate) fn new(strong: &Strong<T, Atomic>, hash: HashValue, queue: &SharedQueue) -> Self {
        let stack = queue.own_or_new().stack;
        // SAFETY: a strong handle; the stack counts.
        let hook = unsafe { strong.block().register_shared(stack, hash.short()) };
        // Relaxed: only who drops the queue asks, when nobody else is left. (Not before: it may fail.)
        stack.get().registered.fetch_add(1, Relaxed);
        SharedWatch {
            place: strong.place(),
            hook: AtomicPtr::new(hook.as_ptr().as_ptr()),
        }
    }

    /// The same registration, of no type.
    #[inline]
    pub(crate) fn untyped(self) -> SharedWatch {
        let this = ManuallyDrop::new(self);
        // Relaxed: it is ours alone.
        let hook = AtomicPtr::new(this.hook.load(Relaxed));
        let place = this.place.cast();
        SharedWatch { place, hook }
    }

    #[inline]
    fn block(&self) -> Block<Atomic> {
        // SAFETY: the place of a block, in which our reference is a share.
        unsafe { Block::of_place(self.place.cast()) }
    }

    #[inline]
    fn record(&self) -> RecordRef<Atomic> {
        // SAFETY: S3, our reference.
        unsafe { self.block().known_record() }
    }

    /// Whether the object has announced its death. A payload apart may have given its address to another
    /// by then, never before.
    ///
    /// (That it is dead is not enough: its notices may be still to come. Who says that it is gone must not be
    /// contradicted by one who comes later, and finds nothing pending. But what is not dead has not announced it,
    /// and for that a look at the block will do.)
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        self.block().is_dead() && self.record().is_closed()
    }

    /// Whether notices of the object's death have been pushed, perhaps ours; if not, it is still to come, and
    /// will be pushed after this. (It may otherwise have been worked off already.)
    pub(crate) fn was_notified(&self) -> bool {
        // Relaxed: the hook is not looked at; it may have gone.
        self.hook.load(Relaxed).is_null() || self.record().is_dying()
    }

    /// Whether the object's address is that of its block, which the tie keeps: nobody else has it meanwhile.
    #[inline]
    pub(crate) fn pins_address(&self) -> bool {
        !self.block().is_apart()
    }

    /// Whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.block().is_expired()
    }

    /// Whether this is the tie with that hook.
    #[inline]
    pub(crate) fn is_named_by(&self, hook: HookId) -> bool {
        // Relaxed: only compared.
        ptr::eq(self.hook.load(Relaxed), hook.0)
    }

    /// The registration has ended by its notice, which takes the hook along.
    #[inline]
    pub(crate) fn complete(&self) {
        // Relaxed: S3, the swap decides; nothing is read through it. (That the notice is taken out has been
        // counted.)
        self.hook.swap(ptr::null_mut(), Relaxed);
    }

    /// Ends the registration, unless it has ended. The queue is that with which it was made. O(1).
    #[inline]
    pub(crate) fn end(&self, queue: &SharedQueue) {
        // Relaxed: as below; null is final.
        if first_load(false, || self.hook.load(Relaxed).is_null()) {
            return;
        }
        // Relaxed: as in `complete`; the hook was written before the tie was shared.
        let Some(hook) = NonNull::new(self.hook.swap(ptr::null_mut(), Relaxed)) else {
            return;
        };
        // SAFETY: S3, it is ours to end: if the object's death is not being told, the hook is in its list, and
        // nobody else uses it. If it is, the hook is not touched: its notice has it.
        match unsafe { self.record().unregister_shared(hook) } {
            // Relaxed: as in `new`.
            Some(stack) => _ = stack.get().registered.fetch_sub(1, Relaxed),
            None => _ = queue.late.fetch_add(1, Relaxed),
        }
    }
}

impl<T: ?Sized> Drop for SharedWatch<T> {
    fn drop(&mut self) {
        // Else its notice would come without being owed, and the queue would not be exact.
        debug_assert!(
            first_load(true, || self.hook.load(Relaxed).is_null()),
            "it has not been ended"
        );
        // SAFETY: S3, our reference.
        unsafe { self.record().release() };
    }
}

impl<T: ?Sized> SharedWatchOf<T> {
    #[inline]
    pub(crate) fn new(strong: &Strong<T, Atomic>, hash: HashValue, queue: &SharedQueue) -> Self {
        SharedWatchOf {
            watch: SharedWatch::new(strong, hash, queue),
            like: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn watch(&self) -> &SharedWatch<T> {
        &self.watch
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Strong<T, Atomic>> {
        let block = self.watch.block();
        // SAFETY: counted.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_place(self.watch.place, block) })
    }

    pub(crate) fn downgrade(&self) -> Weak<T, Atomic> {
        self.watch.record().add_ref();
        // SAFETY: a share more, for the handle.
        unsafe { Weak::from_counted(self.watch.place) }
    }
}
