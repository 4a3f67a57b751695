//! Hooks: the registrations of an object's second and further entries. Their memory is in `stack`.
//!
//! Invariants:
//!
//! * **H1** A hook is made, and taken back, by the collection that registers with it; between the two it is
//!   linked in the list of a record, or it has been fired: pushed, or about to be, as a notice. Which of
//!   the two is decided under the gate of the record.
//! * **H2** `block`, `hash` and `offset` are written before the hook is linked, and do not change until it
//!   is taken back. `offset` bytes before the hook is its target: the stack that it registers with.
//! * **H3** While linked, `prev` and `next` are the neighbours in the list, and belong to the holder of the
//!   gate. Once fired, `prev` is null or the depth of the notice, marked, and `next` the notice below.

use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Link};
use super::header::Block;
use crate::sync::{Live, Ordering::*};

/// A place in the list of a record; at the death of the object, the notice of it.
#[repr(C, align(8))]
pub(crate) struct Hook<F: Flavour> {
    prev: F::Link,
    next: F::Link,
    block: NonNull<()>,
    hash: u32,
    offset: u32,
    live: Live,
}

/// A pointer to a hook, with the provenance of what it lies in, from its target on: a chunk of
/// hooks or a record.
pub(crate) struct HookRef<F: Flavour>(NonNull<Hook<F>>);

impl<F: Flavour> Clone for HookRef<F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Flavour> Copy for HookRef<F> {}

impl<F: Flavour> PartialEq for HookRef<F> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The mark of a depth in `prev`.
const DEPTH: usize = 1;

impl<F: Flavour> Hook<F> {
    /// A hook that is `offset` bytes behind its target.
    pub(super) fn new(block: Block<F>, offset: usize) -> Self {
        Hook {
            prev: F::Link::new(ptr::null_mut()),
            next: F::Link::new(ptr::null_mut()),
            // SAFETY: a block is not null.
            block: unsafe { NonNull::new_unchecked(block.as_ptr()) },
            hash: 0,
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

    /// The hook. The caller's collection has not taken it back (H1), nor does another thread while this
    /// reference is in use.
    #[inline(always)]
    fn get<'a>(self) -> &'a Hook<F> {
        // SAFETY: H1.
        let hook = unsafe { self.0.as_ref() };
        hook.live.check();
        hook
    }

    /// The block of the object.
    #[inline(always)]
    pub(crate) fn block(self) -> Block<F> {
        // SAFETY: H2.
        unsafe { Block::from_ptr(self.get().block.as_ptr()) }
    }

    /// The hash of the entry, in its short form; of a hook in a chunk.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        self.get().hash
    }

    /// # Safety
    /// H1: the hook is the caller's, and not linked.
    #[inline]
    pub(super) unsafe fn set(self, block: Block<F>, hash: u32) {
        // SAFETY: the caller's promise. (Field by field: no reference to the hook exists.)
        unsafe {
            let hook = self.0.as_ptr();
            (*hook).block = NonNull::new_unchecked(block.as_ptr());
            (*hook).hash = hash;
        }
    }

    /// Puts the hook, or a list's first, behind `before`. H3: the caller holds the gate.
    #[inline]
    pub(super) fn link_behind(self, before: HookRef<F>) {
        // Relaxed, all of it: the gate orders.
        let next = before.get().next.load(Relaxed);
        self.get().next.store(next, Relaxed);
        self.get().prev.store(before.0.as_ptr().cast(), Relaxed);
        before.get().next.store(self.0.as_ptr().cast(), Relaxed);
        if let Some(next) = Self::in_list(next) {
            next.get().prev.store(self.0.as_ptr().cast(), Relaxed);
        }
    }

    /// Takes the hook out of its list; it then counts as fired. H3: the caller holds the gate.
    #[inline]
    pub(super) fn unlink(self) {
        let hook = self.get();
        let next = Self::in_list(hook.next.load(Relaxed));
        if let Some(prev) = Self::in_list(hook.prev.load(Relaxed)) {
            let next = next.map_or(ptr::null_mut(), |next| next.0.as_ptr().cast());
            prev.get().next.store(next, Relaxed);
        }
        if let Some(next) = next {
            next.get().prev.store(hook.prev.load(Relaxed), Relaxed);
        }
        hook.prev.store(ptr::null_mut(), Relaxed);
    }

    /// The hook behind this one in a list. H3: the caller holds the gate.
    #[inline]
    pub(super) fn behind(self) -> Option<HookRef<F>> {
        Self::in_list(self.get().next.load(Relaxed))
    }

    #[inline]
    fn in_list(hook: *mut ()) -> Option<HookRef<F>> {
        NonNull::new(hook).map(|hook| HookRef(hook.cast()))
    }

    /// Whether the hook, which is not the first of its list, has been fired. The caller holds the gate, or
    /// has found it closed.
    #[inline]
    pub(super) fn is_fired(self) -> bool {
        let prev = self.get().prev.load(Relaxed);
        prev.is_null() || prev.addr() & DEPTH != 0
    }

    /// The link to the notice below: H3, the hook is fired.
    #[inline(always)]
    pub(super) fn link<'a>(self) -> &'a F::Link {
        &self.get().next
    }

    /// The depth of the notice, and what else is noted with it; zero if nothing is.
    #[inline]
    pub(super) fn depth(self) -> usize {
        let prev = self.get().prev.load(Relaxed).addr();
        if prev & DEPTH == 0 { 0 } else { prev >> 1 }
    }

    /// H3: the hook is fired.
    #[inline]
    pub(super) fn set_depth(self, depth: usize) {
        let marked = ptr::without_provenance_mut(depth << 1 | DEPTH);
        self.get().prev.store(marked, Relaxed);
    }

    /// The hook is not used any more, unless it is [`set`](Self::set) again.
    #[inline(always)]
    pub(super) fn retire(self) {
        self.get().live.end();
    }

    /// Takes the hook back: it is in a list of such, in front of `next`. Only [`reuse`](Self::reuse) is left.
    ///
    /// # Safety
    /// H1: the hook is the caller's and not linked, and nobody else uses it any more.
    #[inline(always)]
    pub(super) unsafe fn put_back(self, next: Option<HookRef<F>>) {
        let next = next.map_or(ptr::null_mut(), |next| next.0.as_ptr());
        // Relaxed: ours alone.
        self.get().next.store(next.cast(), Relaxed);
        self.get().prev.store(ptr::null_mut(), Relaxed);
        self.retire();
    }

    /// The hook is used again, with another block and hash; returns the next that was put back.
    ///
    /// # Safety
    /// H1: the hook is the caller's, and was [put back](Self::put_back) last.
    #[inline(always)]
    pub(super) unsafe fn reuse(self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        // SAFETY: H1.
        unsafe {
            self.0.as_ref().live.begin();
            // Relaxed: ours alone.
            let next = Self::in_list(self.get().next.load(Relaxed));
            self.set(block, hash);
            next
        }
    }

    /// Where the target is (H2).
    #[inline(always)]
    pub(super) fn target_place(self) -> NonNull<()> {
        let offset = self.get().offset as usize;
        // SAFETY: H2, and the provenance that this type promises.
        unsafe { self.0.cast::<u8>().sub(offset).cast() }
    }
}
