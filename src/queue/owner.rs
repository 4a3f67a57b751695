//! The notices of a collection with one owner.
//!
//! An [`OwnedWatch`] is the registration of an entry with an object. When the object dies, a notice
//! is pushed. By the cookie in the notice, the owner finds the entry; the address in the notice
//! names the registration. If an entry is removed before the owner has taken the notice, the notice
//! is late: the owner finds no entry that it names. No other registration has the address before
//! the notice is finished, so a late notice never removes a newer entry.
//!
//! Invariants:
//!
//! * **Q1** A watch and its queue have the same owner, and only the owner uses the fields of the
//!   queue. A death, on whatever thread, uses only the stack behind the queue.
//! * **Q2** `registered` counts the registrations that have not ended, and whose notice was not
//!   taken out. The stack is freed when the queue is dropped and the notices of all these
//!   registrations have come.
//! * **Q3** A watch that has not ended has a share in its block (B1 of `ptr/header.rs`): the
//!   share of the registration.

mod address;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use self::address::{APART, HOOK, MARKS, marked_address, unmark};
use super::notice_queue::NoticeQueue;
use crate::hash::Cookie;
use crate::ptr::{
    Atomic, Block, Flavour, Notice, NoticeLink, ObjectRef, Recipient, Registration, StackRef,
    Strong, WakerCell, Weak, with_address,
};

/// The owner's end of a stack of notices. The stack is allocated at the first registration, so an
/// empty collection allocates nothing.
pub struct DeadQueue<F: Flavour> {
    stack: Option<StackRef<F>>,
    /// The remaining notices of the batch that was taken last.
    batch: NoticeLink<F>,
    registered: usize,
    /// The number of late notices, in the queue or still to come.
    late: usize,
}

// SAFETY: Q1; the stack is made for many threads. The keys and values of a *collection* decide
// whether the collection may cross threads, not its queue.
unsafe impl Send for DeadQueue<Atomic> {}
// SAFETY: as above; through a shared reference, only atomics are written.
unsafe impl Sync for DeadQueue<Atomic> {}

/// A notice that was taken out, and must be [finished](DeadQueue::finish).
#[derive(Clone, Copy)]
pub struct DeadNotice<F: Flavour> {
    notice: Notice<F>,
    /// The marked address that the [watch](OwnedWatch) of the entry has, by which the entry is
    /// recognised.
    at: NonNull<u8>,
}

/// The registration of an entry with an object: one word, and the metadata of an unsized type.
pub(crate) struct OwnedWatch<T: ?Sized, F: Flavour> {
    /// None if the registration has ended. Otherwise an address with marks. The address is the
    /// place of an inline payload in the block. If the registration is the second of the record,
    /// the address is the block's header, marked by [`SECOND`](address::SECOND). If the
    /// registration is a hook, the address is the hook, marked by [`HOOK`]. The mark [`APART`] is
    /// added if the payload is apart, so that a lookup need not read the block.
    at: Option<NonNull<T>>,
    /// A watch can be upgraded, like a weak pointer.
    marker: PhantomData<Weak<T, F>>,
}

// SAFETY: a watch can be used like a weak pointer, and can end its registration, which is made for
// any thread.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedWatch<T, Atomic> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedWatch<T, Atomic> {}

// A queue and a watch are consistent between any two calls; a panic can only leave a payload half
// changed.
impl<F: Flavour> UnwindSafe for DeadQueue<F> {}
impl<F: Flavour> RefUnwindSafe for DeadQueue<F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> UnwindSafe for OwnedWatch<T, F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> RefUnwindSafe for OwnedWatch<T, F> {}

impl<F: Flavour> NoticeQueue for DeadQueue<F> {
    type Notice = DeadNotice<F>;

    const NONE: Self = DeadQueue {
        stack: None,
        batch: NoticeLink::NONE,
        registered: 0,
        late: 0,
    };

    /// Returns whether nothing is pending. A death that happens before this call has pushed its
    /// notice.
    #[inline]
    fn is_idle(&self) -> bool {
        self.batch.is_none() && self.stack.is_none_or(StackRef::is_empty)
    }

    /// O(notices that have come since the last count, or since a notice was last taken out).
    fn count(&self) -> usize {
        let count = |stack: StackRef<F>| stack.count_batch(self.batch) + stack.count();
        self.stack.map_or(0, count)
    }

    #[inline]
    fn has_late(&self) -> bool {
        self.late != 0
    }

    fn iter(&self) -> impl Iterator<Item = DeadNotice<F>> {
        let notices = self.batch.into_iter().chain(self.top());
        notices.map(DeadNotice::new)
    }

    /// Returns the cookie of the next notice. Reads the block of the notice, not the entry.
    #[inline]
    fn peek(&mut self) -> Option<Cookie> {
        self.fetch();
        Some(Cookie::of_short(self.batch.get()?.hash()))
    }

    /// Takes a notice out. One load if there is none.
    #[inline(always)]
    fn next(&mut self) -> Option<DeadNotice<F>> {
        self.fetch();
        let (notice, stack) = (self.batch.get()?, self.stack?);
        self.batch = notice.below();
        stack.leave_batch();
        self.registered -= 1;
        Some(DeadNotice::new(notice))
    }

    #[inline]
    fn alone(&mut self) -> Option<DeadNotice<F>> {
        if self.late == 0 {
            return None;
        }
        self.fetch();
        let alone = self.batch.get().filter(|alone| alone.below().is_none());
        alone.map(DeadNotice::new)
    }

    /// Finishes a notice whose entry has been unlinked: frees the block of the dead object, unless
    /// there are more shares.
    #[inline]
    fn finish(&mut self, notice: DeadNotice<F>) {
        if let Some(stack) = self.stack {
            // SAFETY: N3, Q1: we are the owner, the notice has been taken out, and its entry is
            // unlinked.
            unsafe { stack.finish(notice.notice) };
        }
    }

    fn was_late(&mut self) {
        // (Saturating: a leaked entry is not found, either.)
        self.late = self.late.saturating_sub(1);
    }

    /// Frees memory that no registration needs. O(registrations that have ended).
    fn shrink_to_fit(&mut self) {
        if let Some(stack) = self.stack {
            // SAFETY: Q1: we are the owner.
            unsafe { stack.shrink_hooks() };
        }
    }

    /// O(chunks of hooks).
    fn memory_usage(&self) -> usize {
        // SAFETY: Q1: we are the owner.
        self.stack
            .map_or(0, |stack| unsafe { stack.memory_usage() })
    }

    /// Returns the cell of the waker, if a waker was ever set.
    #[inline(always)]
    fn waker(&self) -> Option<&Arc<WakerCell>> {
        self.stack?.waker()
    }

    /// Attaches the cell of a waker. O(1).
    fn attach(&mut self, cell: &Arc<WakerCell>) {
        let stack = *self.stack.get_or_insert_with(|| StackRef::new());
        // SAFETY: Q1; a table attaches a cell only once.
        unsafe { stack.attach(Arc::clone(cell)) };
        self.arm();
    }

    /// Arms the stack, if the stack has a waker and nothing is pending.
    #[inline]
    fn arm(&mut self) {
        if self.batch.is_none() {
            if let Some(stack) = self.stack {
                // Arming fails if a notice is pending.
                stack.arm();
            }
        }
    }

    #[inline]
    fn cookie(notice: &DeadNotice<F>) -> Cookie {
        Cookie::of_short(notice.notice.hash())
    }
}

impl<F: Flavour> DeadQueue<F> {
    fn top(&self) -> NoticeLink<F> {
        self.stack.map_or(NoticeLink::NONE, StackRef::top)
    }

    /// Takes the next batch, if the present batch is empty and notices have come. Otherwise costs
    /// one load.
    #[inline]
    fn fetch(&mut self) {
        if self.batch.is_none() {
            if let Some(stack) = self.stack.filter(|stack| !stack.is_empty()) {
                self.batch = stack.take();
            }
        }
    }

    /// Registers an entry with an object: the death of the object will bring a notice with this
    /// cookie. O(1).
    #[inline]
    pub(crate) fn watch<'a, T: ?Sized + 'a>(
        &mut self,
        object: impl Into<ObjectRef<'a, T, F>>,
        cookie: Cookie,
    ) -> OwnedWatch<T, F> {
        let object = object.into();
        let stack = *self.stack.get_or_insert_with(|| StackRef::new());
        // SAFETY: the caller keeps the object alive; Q1.
        let registration = unsafe {
            object
                .block()
                .register(Recipient::Stack(stack), Some(cookie.short()))
        };
        self.registered += 1;
        let at = marked_address(object.block(), registration);
        OwnedWatch {
            at: Some(with_address(object.place(), at)),
            marker: PhantomData,
        }
    }

    /// Returns the cookies of the entries for an object, each once, in ascending order. O(n log n)
    /// for all n registrations of the object, with whatever collections.
    pub(crate) fn cookies_of<'a, T: ?Sized + 'a>(
        &self,
        object: impl Into<ObjectRef<'a, T, F>>,
    ) -> Vec<Cookie> {
        let with = |stack| object.into().hashes_with(Recipient::Stack(stack));
        let cookies = self.stack.map_or_else(Vec::new, with);
        cookies.into_iter().map(Cookie::of_short).collect()
    }

    /// Ends a registration, unless it has ended. O(1).
    #[inline]
    pub(crate) fn end<T: ?Sized>(&mut self, watch: &mut OwnedWatch<T, F>) {
        let (Some(at), Some(stack)) = (watch.at.take(), self.stack) else {
            return;
        };
        let at = at.cast();
        // SAFETY: Q1, Q3: the watch is registered with this queue, and has the same owner.
        let ended = unsafe {
            match unmark(at) {
                (block, Registration::Block) => block.unregister(stack),
                (block, Registration::Second) => block.unregister_second(),
                (_, Registration::Hook(hook)) => Block::unregister_hook(hook, stack),
            }
        };
        if ended {
            self.registered -= 1;
        } else {
            self.end_late(at);
        }
    }

    /// Notes that the notice of the registration at `at` is late: the object has died before the
    /// registration could end. If the notice has come, and is alone, it is finished, and the stack
    /// armed: an operation that replaces a dead entry leaves one late notice, often alone. If there
    /// are several notices, the next operations finish the late notices like all others.
    #[cold]
    #[inline(never)]
    fn end_late(&mut self, at: NonNull<u8>) {
        self.late += 1;
        if self.alone().is_some_and(|alone| alone.at == at) {
            if let Some(notice) = self.next() {
                self.finish(notice);
                self.was_late();
            }
            self.arm();
        }
    }
}

impl<F: Flavour> Drop for DeadQueue<F> {
    fn drop(&mut self) {
        // W5. The drop of the waker comes at the end, since it may panic.
        let _waker = self.waker().and_then(|cell| cell.replace(None));
        for notice in self.batch {
            self.registered -= 1;
            self.finish(DeadNotice::new(notice));
        }
        if let Some(stack) = self.stack {
            // SAFETY: Q2; the entries are gone, or were leaked with their watches.
            unsafe { stack.close(self.registered) };
        }
    }
}

impl<F: Flavour> DeadNotice<F> {
    #[inline]
    fn new(notice: Notice<F>) -> Self {
        let at = marked_address(notice.block(), notice.registration());
        DeadNotice { notice, at }
    }
}

impl<T: ?Sized, F: Flavour> OwnedWatch<T, F> {
    /// Returns the block, and the kind of the registration.
    #[inline(always)]
    fn parts(&self) -> Option<(Block<F>, Registration<F>)> {
        // SAFETY: Q3.
        self.at.map(|at| unsafe { unmark(at.cast()) })
    }

    /// Returns whether the block must be read to find the payload.
    #[inline(always)]
    fn is_apart_or_hook(&self) -> bool {
        self.at
            .is_some_and(|at| at.addr().get() & (HOOK | APART) != 0)
    }

    #[inline(always)]
    fn block(&self) -> Option<Block<F>> {
        self.parts().map(|(block, _)| block)
    }

    /// Returns the block, and its place with the metadata of the type.
    #[inline(always)]
    fn place(&self) -> Option<(Block<F>, NonNull<T>)> {
        let (at, block) = (self.at?, self.block()?);
        Some((block, with_address(at, block.place())))
    }

    /// Returns the payload, if the payload is in the block and the registration is the block: then
    /// the watch contains its address.
    #[inline(always)]
    fn inline_payload(&self) -> Option<NonNull<T>> {
        self.at.filter(|at| at.addr().get() & MARKS == 0)
    }

    /// Returns the address of the object. A table that grows calls this for every entry, so the
    /// block is read only if the payload is apart or the registration is a hook.
    #[inline]
    pub(crate) fn addr(&self) -> *const () {
        let payload = match self.block() {
            Some(block) if !self.is_apart_or_hook() => Some(block.place()),
            block => block.map(Block::payload),
        };
        payload.map_or(core::ptr::null(), |payload| {
            payload.as_ptr().cast_const().cast()
        })
    }

    /// Returns whether the object is at this address; see [`Block::is_at`].
    #[inline(always)]
    pub(crate) fn is_at(&self, addr: *const ()) -> bool {
        // In most cases the first comparison is enough. (The rest is inlined too: with a call,
        // every lookup would save registers.)
        let at = self.at.map_or(0, |at| at.addr().get());
        at == addr.addr()
            || (at & MARKS != 0 && self.block().is_some_and(|block| block.is_at(addr)))
    }

    /// Returns the cookie that was given to [`DeadQueue::watch`]; none once the registration has
    /// ended.
    #[inline]
    pub(crate) fn cookie(&self) -> Option<Cookie> {
        let (block, registration) = self.parts()?;
        Some(Cookie::of_short(match registration {
            Registration::Block => block.hash(),
            // SAFETY: Q3.
            Registration::Second => unsafe { block.known_record() }.second_hash(),
            Registration::Hook(hook) => hook.hash(),
        }))
    }

    /// Returns whether this is a registration with `object`.
    #[inline]
    pub(crate) fn is_on<'a>(&self, object: impl Into<ObjectRef<'a, T, F>>) -> bool
    where
        T: 'a,
    {
        let block = object.into().block();
        self.block() == Some(block)
    }

    /// Returns whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.block().is_none_or(Block::is_expired)
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Strong<T, F>> {
        let Some(payload) = self.inline_payload() else {
            return self.upgrade_marked();
        };
        // SAFETY: the place of a block, in which the payload is; Q3.
        let block: Block<F> = unsafe { Block::of_place(payload.cast()) };
        // SAFETY: the upgrade has counted the pointer.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_counted(payload) })
    }

    #[inline(never)]
    fn upgrade_marked(&self) -> Option<Strong<T, F>> {
        let (block, place) = self.place()?;
        // SAFETY: the upgrade has counted the pointer.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_place(place, block) })
    }

    /// Returns a weak pointer; none if the object is dead and its block is only a notice.
    pub(crate) fn downgrade(&self) -> Option<Weak<T, F>> {
        let (block, place) = self.place()?;
        // SAFETY: Q3, and `&self` keeps the registration; the weak pointer owns the share that is
        // made here.
        unsafe {
            match self.parts()?.1 {
                Registration::Second | Registration::Hook(_) => block.known_record().add_ref(),
                Registration::Block if block.downgrade_registered() => {}
                Registration::Block => return None,
            }
            Some(Weak::from_counted(place))
        }
    }

    /// Returns whether `notice` belongs to this registration.
    #[inline(always)]
    pub(crate) fn is_named_by(&self, notice: &DeadNotice<F>) -> bool {
        self.at.map(NonNull::cast) == Some(notice.at)
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests;
