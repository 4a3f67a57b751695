//! Hooks: the registrations of an object's third and further entries. (The first two are with the
//! block and the record.) The memory of the hooks of a collection of one owner is in `stack`.
//!
//! Invariants:
//!
//! * **H1** The collection that registers makes the hook of the registration, and takes the hook
//!   back. In between the hook is either linked in the list of a record or *fired*: pushed as a
//!   notice, or about to be pushed. Under the gate of the record the hook is linked, and taken off
//!   the list. (In a collection that threads share, no hook becomes a notice: the death that takes
//!   the hook off the list frees the hook.) A hook without a recipient is no registration: it marks
//!   a place in the list of a living object, see `reverse`.
//! * **H2** `block`, `hash` and `offset` are written before the hook is linked, and do not change
//!   until it is taken back. The pointer `offset` bytes before the hook is its
//!   [recipient](super::recipient).
//! * **H3** While the hook is linked, `prev` and `next` are its neighbours in the list, and belong
//!   to the thread that has the gate; `prev` of the newest hook is [`HEAD`]. Once the hook is
//!   fired, `prev` is null, and `next` is the notice below.

use alloc::boxed::Box;
use core::mem::offset_of;
use core::ptr::{self, NonNull};

use super::flavour::{Atomic, Flavour, Variable};
use super::header::Block;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// The place of a recipient. `recipient` encodes and decodes the pointer there.
pub(super) type RecipientCell = UnsafeCell<*mut ()>;

/// A node in the list of a record; at the death of the object, its notice.
#[repr(C, align(8))]
pub(crate) struct Hook<F: Flavour> {
    prev: F::Link,
    next: F::Link,
    block: NonNull<()>,
    hash: u32,
    offset: u32,
    live: Live,
}

/// A pointer to a hook, with the provenance of the allocation from the pointer to the recipient on:
/// a chunk of hooks, or a lone hook.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct HookRef<F: Flavour>(NonNull<Hook<F>>);

/// `prev` of the newest hook in a list.
const HEAD: usize = 2;

impl<F: Flavour> Hook<F> {
    /// Makes a hook `offset` bytes after the place of its recipient.
    pub(super) fn new(block: Block<F>, offset: usize) -> Self {
        Hook {
            prev: F::Link::new(ptr::null_mut()),
            next: F::Link::new(ptr::null_mut()),
            // SAFETY: a block is not null.
            block: unsafe { NonNull::new_unchecked(block.as_ptr()) },
            hash: 0,
            // Less than a page: see `CHUNK` in `stack`.
            offset: offset as u32,
            live: Live::new(),
        }
    }
}

impl<F: Flavour> HookRef<F> {
    /// # Safety
    /// `hook` is a hook, with the provenance that this type promises.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(hook: NonNull<()>) -> Self {
        HookRef(hook.cast())
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> NonNull<()> {
        self.0.cast()
    }

    /// Returns the hook. H1: the collection does not take the hook back while this reference is in
    /// use.
    #[inline(always)]
    fn get<'a>(self) -> &'a Hook<F> {
        // SAFETY: H1.
        let hook = unsafe { self.0.as_ref() };
        hook.live.check();
        hook
    }

    /// Returns the block of the object.
    #[inline(always)]
    pub(crate) fn block(self) -> Block<F> {
        // SAFETY: H2.
        unsafe { Block::from_ptr(self.get().block.as_ptr()) }
    }

    /// Returns the hash of the entry, in its short form.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        self.get().hash
    }

    /// # Safety
    /// H1: the hook is the caller's, and is not linked.
    #[inline]
    pub(super) unsafe fn set(self, block: Block<F>, hash: u32) {
        // SAFETY: the caller's promise. (Field by field: no reference to the hook exists.)
        unsafe {
            let hook = self.0.as_ptr();
            (*hook).block = NonNull::new_unchecked(block.as_ptr());
            (*hook).hash = hash;
        }
    }

    /// Links the hook at the front of a list. H3: the caller has the gate.
    #[inline]
    pub(super) fn link_to(self, head: &mut Option<HookRef<F>>) {
        // Relaxed, here and below: the gate orders all accesses.
        let next = head.replace(self);
        if let Some(next) = next {
            next.get().prev.store(self.0.as_ptr().cast(), Relaxed);
        }
        let next = next.map_or(ptr::null_mut(), |next| next.0.as_ptr().cast());
        self.get().next.store(next, Relaxed);
        let first = ptr::without_provenance_mut(HEAD);
        self.get().prev.store(first, Relaxed);
    }

    /// Links the hook behind another hook of a list. H3: the caller has the gate.
    pub(super) fn link_behind(self, before: HookRef<F>) {
        // Relaxed, here and below: as in `link_to`.
        let (this, link) = (self.0.as_ptr().cast(), &before.get().next);
        let next = link.load(Relaxed);
        if let Some(next) = Self::in_list(next) {
            next.get().prev.store(this, Relaxed);
        }
        self.get().next.store(next, Relaxed);
        self.get().prev.store(before.0.as_ptr().cast(), Relaxed);
        link.store(this, Relaxed);
    }

    /// Unlinks the hook from its list; the hook then counts as fired. H3: the caller has the gate.
    #[inline]
    pub(super) fn unlink(self, head: &mut Option<HookRef<F>>) {
        let hook = self.get();
        let (prev, next) = (hook.prev.load(Relaxed), hook.next.load(Relaxed));
        if prev.addr() == HEAD {
            *head = Self::in_list(next);
        } else if let Some(prev) = Self::in_list(prev) {
            prev.get().next.store(next, Relaxed);
        }
        if let Some(next) = Self::in_list(next) {
            next.get().prev.store(prev, Relaxed);
        }
        hook.prev.store(ptr::null_mut(), Relaxed);
    }

    /// Returns the hook that a link leads to.
    #[inline]
    pub(super) fn in_list(hook: *mut ()) -> Option<HookRef<F>> {
        NonNull::new(hook).map(|hook| HookRef(hook.cast()))
    }

    /// Returns the next older hook of a list. H3: the caller has the gate, and the hook is linked.
    #[inline]
    pub(super) fn next_in_list(self) -> Option<HookRef<F>> {
        Self::in_list(self.get().next.load(Relaxed))
    }

    /// Returns whether the hook is fired. The caller has the gate, or has found it closed.
    #[inline]
    pub(super) fn is_fired(self) -> bool {
        self.get().prev.load(Relaxed).is_null()
    }

    /// Returns the link to the notice below. H3: the hook is fired.
    #[inline(always)]
    pub(super) fn link<'a>(self) -> &'a F::Link {
        &self.get().next
    }

    /// Stores the waker that the closing of a token has to call, or null (K5 of
    /// [`token`](super::token)). The hook is fired, so `prev` is free for the pointer.
    #[cfg(feature = "std")]
    pub(super) fn set_owed_waker(self, waker: *mut ()) {
        // Relaxed, here and below: the hook is the caller's.
        self.get().prev.store(waker, Relaxed);
    }

    /// Takes the pointer that [`set_owed_waker`](Self::set_owed_waker) has stored.
    #[cfg(feature = "std")]
    pub(super) fn take_owed_waker(self) -> *mut () {
        let waker = self.get().prev.load(Relaxed);
        self.get().prev.store(ptr::null_mut(), Relaxed);
        waker
    }

    /// Marks the hook as unused, until it is [`set`](Self::set) again.
    #[inline(always)]
    pub(super) fn retire(self) {
        self.get().live.end();
    }

    /// Takes the hook back into a list of unused hooks, in front of `next`. Only
    /// [`reuse`](Self::reuse) may follow.
    ///
    /// # Safety
    /// H1: the hook is the caller's and is not linked, and no thread uses the hook any more.
    #[inline(always)]
    pub(super) unsafe fn put_back(self, next: Option<HookRef<F>>) {
        // Relaxed: no other thread uses the hook.
        self.get().prev.store(ptr::null_mut(), Relaxed);
        self.retire();
        // SAFETY: the hook has been put back just now.
        unsafe { self.set_next_unused(next) };
    }

    /// Returns the next of the unused hooks.
    ///
    /// # Safety
    /// H1: the hook is the caller's, and was [put back](Self::put_back) last.
    #[inline(always)]
    pub(super) unsafe fn next_unused(self) -> Option<HookRef<F>> {
        // SAFETY: H1. (The hook is not in use, so the check in `get` would fail.)
        // Relaxed: no other thread uses the hook.
        Self::in_list(unsafe { self.0.as_ref() }.next.load(Relaxed))
    }

    /// Sets the next of the unused hooks to `next`.
    ///
    /// # Safety
    /// As for [`next_unused`](Self::next_unused).
    pub(super) unsafe fn set_next_unused(self, next: Option<HookRef<F>>) {
        let next = next.map_or(ptr::null_mut(), |next| next.0.as_ptr().cast());
        // SAFETY: as in `next_unused`.
        // Relaxed: as in `next_unused`.
        unsafe { self.0.as_ref() }.next.store(next, Relaxed);
    }

    /// Uses the hook again, with another block and hash; returns the next of the unused hooks.
    ///
    /// # Safety
    /// H1: the hook is the caller's, and was [put back](Self::put_back) last.
    #[inline(always)]
    pub(super) unsafe fn reuse(self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        // SAFETY: H1.
        unsafe {
            let next = self.next_unused();
            self.0.as_ref().live.begin();
            self.set(block, hash);
            next
        }
    }

    /// Returns the address of the pointer to the recipient (H2). The hook may be unused.
    #[inline(always)]
    pub(super) fn recipient_place(self) -> NonNull<()> {
        // SAFETY: H2: the offset does not change after the hook was made.
        let offset = unsafe { self.0.as_ref() }.offset as usize;
        // SAFETY: H2, and the provenance that this type promises.
        unsafe { self.0.cast::<u8>().sub(offset).cast() }
    }
}

/// A hook in an allocation of its own, for collections that threads share: any thread makes and
/// frees such hooks.
#[repr(C, align(8))]
pub(super) struct LoneHook<F: Flavour> {
    recipient: RecipientCell,
    hook: Hook<F>,
}

impl<F: Flavour> LoneHook<F> {
    pub(super) fn boxed(recipient: *mut (), block: Block<F>, hash: u32) -> HookRef<F> {
        let offset = offset_of!(Self, hook) - offset_of!(Self, recipient);
        let lone = Box::into_raw(Box::new(LoneHook {
            recipient: UnsafeCell::new(recipient),
            hook: Hook::new(block, offset),
        }));
        // SAFETY: a box is not null; a pointer derived from the box's keeps its provenance.
        unsafe {
            let hook = &raw mut (*lone).hook;
            let hook = HookRef::from_ptr(NonNull::new_unchecked(hook.cast()));
            hook.set(block, hash);
            hook
        }
    }

    /// # Safety
    /// The hook comes from `boxed`, is not linked, and no thread uses it any more.
    pub(super) unsafe fn free(hook: HookRef<F>) {
        hook.retire();
        // SAFETY: the caller's promise.
        unsafe {
            let lone = hook
                .as_ptr()
                .byte_sub(offset_of!(Self, hook))
                .cast::<Self>();
            sync::free(lone);
        }
    }
}

/// Lone hooks that were taken out of their records. The drop of this list frees them: under no
/// lock.
#[allow(unreachable_pub, reason = "1.85 does not see it behind a bound")]
pub struct Off<F: Flavour = Atomic>(Option<HookRef<F>>);

impl<F: Flavour> Off<F> {
    #[inline]
    pub(crate) fn new() -> Self {
        Off(None)
    }

    /// Adds a hook, which the drop of this list frees.
    ///
    /// # Safety
    /// The hook is lone (from [`LoneHook::boxed`]), was taken out of its list, is used by no other
    /// thread, and the caller does not free it.
    #[inline]
    pub(super) unsafe fn add(&mut self, hook: HookRef<F>) {
        // Relaxed: no other thread uses the hook.
        let below = self
            .0
            .map_or(ptr::null_mut(), |hook| hook.as_ptr().as_ptr());
        hook.link().store(below, Relaxed);
        self.0 = Some(hook);
    }

    /// Shows the hooks.
    pub(super) fn each(&self, mut look: impl FnMut(HookRef<F>)) {
        let mut next = self.0;
        while let Some(hook) = next {
            look(hook);
            // Relaxed: as in `add`.
            next = HookRef::in_list(hook.link().load(Relaxed));
        }
    }
}

impl<F: Flavour> Drop for Off<F> {
    #[inline]
    fn drop(&mut self) {
        while let Some(hook) = self.0 {
            self.0 = HookRef::in_list(hook.link().load(Relaxed));
            // SAFETY: the promise of `add`.
            unsafe { LoneHook::free(hook) };
        }
    }
}
