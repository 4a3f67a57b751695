//! Hooks: the registrations of an object's second and further entries, and their memory.
//!
//! Invariants:
//!
//! * **H1** A hook is made, and taken back, by the collection that registers with it; between the two it is
//!   linked in the list of a record, or it has been fired: pushed, or about to be, as a notice. Which of
//!   the two is decided under the gate of the record.
//! * **H2** `block`, `hash` and `offset` are written before the hook is linked, and do not change until it
//!   is taken back. `offset` bytes before the hook is its [`Target`].
//! * **H3** While linked, `prev` and `next` are the neighbours in the list, and belong to the holder of the
//!   gate. Once fired, `prev` is null or the depth of the notice, marked, and `next` the notice below.

use alloc::boxed::Box;
use core::mem::offset_of;
use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Link, Local};
use super::header::Block;
use super::notice::NoticeStack;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

/// Where a registration sends its notice.
pub(super) type Target<F> = UnsafeCell<*mut NoticeStack<F>>;

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

/// A pointer to a hook, with the provenance of what it lies in: a [`Chunk`] or a record.
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

    /// The notices of the collection that has registered with this hook.
    ///
    /// # Safety
    /// The caller holds the gate, or owns the hook (H1).
    #[inline]
    pub(super) unsafe fn target(self) -> *mut NoticeStack<F> {
        let offset = self.get().offset as usize;
        // SAFETY: H2, and the provenance that this type promises.
        unsafe {
            let target = self.0.cast::<u8>().sub(offset).cast::<Target<F>>();
            target.as_ref().with(|target| *target)
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

    /// The first hook of a record: it lies in it.
    ///
    /// # Safety
    /// `hook` is a hook in a record, with the provenance of the record.
    pub(super) unsafe fn of_record(hook: NonNull<Hook<F>>) -> Self {
        HookRef(hook)
    }
}

/// Several hooks in one allocation, all with the same target.
#[repr(C, align(8))]
struct Chunk<F: Flavour> {
    target: Target<F>,
    next: Option<NonNull<Chunk<F>>>,
    len: usize,
    /// `len` of them.
    hooks: [Hook<F>; 0],
}

/// The largest chunk: hooks in a page.
const CHUNK: usize = 4096 / size_of::<Hook<Local>>() - 1;

/// The memory of one collection's hooks: chunks that double in size, and a list of hooks taken back. It is
/// given back when the collection has ended and its last notice has come.
pub(super) struct Slab<F: Flavour> {
    chunks: Option<NonNull<Chunk<F>>>,
    free: Option<HookRef<F>>,
    /// Hooks of the newest chunk that were never used.
    fresh: usize,
}

impl<F: Flavour> Slab<F> {
    pub(super) const fn new() -> Self {
        Slab {
            chunks: None,
            free: None,
            fresh: 0,
        }
    }

    /// A hook for this block and hash, if there is one that needs no allocation. O(1).
    #[inline]
    pub(super) fn spare(&mut self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        if let Some(hook) = self.free {
            // SAFETY: H1, what is in the list is ours; it is linked by `next`.
            unsafe {
                hook.0.as_ref().live.begin();
                self.free = HookRef::in_list(hook.get().next.load(Relaxed));
                hook.set(block, hash);
            }
            return Some(hook);
        }
        let chunk = self.chunks.filter(|_| self.fresh > 0)?;
        // SAFETY: `fresh` hooks at the end of the chunk have never been used. The pointer keeps the
        // provenance of the chunk.
        unsafe {
            let index = chunk.as_ref().len - self.fresh;
            self.fresh -= 1;
            let hook = Chunk::hook(chunk, index);
            let offset = hook.addr().get() - chunk.addr().get();
            hook.write(Hook::new(block, offset));
            let hook = HookRef(hook);
            hook.set(block, hash);
            Some(hook)
        }
    }

    /// Makes room for more hooks, of which there are none: a chunk of twice as many as the last.
    ///
    /// # Safety
    /// `target` is the stack that owns this slab.
    pub(super) unsafe fn grow(&mut self, target: *mut NoticeStack<F>) {
        let len = self.chunks.map_or(3, |newest| {
            // SAFETY: a chunk of this list.
            (unsafe { newest.as_ref() }.len * 2 + 1).min(CHUNK)
        });
        self.chunks = Some(Chunk::new(target, self.chunks, len));
        self.fresh = len;
    }

    /// Takes a hook back.
    ///
    /// # Safety
    /// It comes from this slab, it is not linked, and nobody uses it any more.
    #[inline]
    pub(super) unsafe fn give_back(&mut self, hook: HookRef<F>) {
        let next = self.free.map_or(ptr::null_mut(), |free| free.0.as_ptr());
        // Relaxed: ours alone.
        hook.get().next.store(next.cast(), Relaxed);
        hook.get().prev.store(ptr::null_mut(), Relaxed);
        hook.retire();
        self.free = Some(hook);
    }

    /// Frees the chunks.
    ///
    /// # Safety
    /// No hook of this slab is used any more.
    pub(super) unsafe fn free(&mut self) {
        self.free = None;
        while let Some(chunk) = self.chunks {
            // SAFETY: it was allocated with this layout; hooks have no destructor.
            unsafe {
                let layout = Chunk::<F>::layout(chunk.as_ref().len);
                self.chunks = chunk.as_ref().next;
                if !cfg!(weakly_loom) {
                    alloc::alloc::dealloc(chunk.as_ptr().cast(), layout);
                }
            }
        }
    }
}

impl<F: Flavour> Chunk<F> {
    fn layout(len: usize) -> core::alloc::Layout {
        let size = size_of::<Self>() + len * size_of::<Hook<F>>();
        // SAFETY: a few pages at most.
        unsafe { core::alloc::Layout::from_size_align_unchecked(size, align_of::<Self>()) }
    }

    fn new(target: *mut NoticeStack<F>, next: Option<NonNull<Self>>, len: usize) -> NonNull<Self> {
        let layout = Self::layout(len);
        // SAFETY: the size is not zero.
        let Some(chunk) = NonNull::new(unsafe { alloc::alloc::alloc(layout) }.cast::<Self>())
        else {
            alloc::alloc::handle_alloc_error(layout)
        };
        // SAFETY: fresh memory of this layout.
        unsafe {
            chunk.write(Chunk {
                target: UnsafeCell::new(target),
                next,
                len,
                hooks: [],
            });
        }
        chunk
    }

    /// # Safety
    /// `index` is below the chunk's length.
    unsafe fn hook(chunk: NonNull<Self>, index: usize) -> NonNull<Hook<F>> {
        // SAFETY: the caller's promise.
        unsafe {
            chunk
                .byte_add(offset_of!(Self, hooks))
                .cast::<Hook<F>>()
                .add(index)
        }
    }
}

/// A hook of its own, for collections that threads share: they make and free hooks on any thread.
#[repr(C, align(8))]
pub(super) struct LoneHook<F: Flavour> {
    target: Target<F>,
    hook: Hook<F>,
}

impl<F: Flavour> LoneHook<F> {
    pub(super) fn boxed(target: *mut NoticeStack<F>, block: Block<F>, hash: u32) -> HookRef<F> {
        let offset = offset_of!(Self, hook) - offset_of!(Self, target);
        let lone = Box::into_raw(Box::new(LoneHook {
            target: UnsafeCell::new(target),
            hook: Hook::new(block, offset),
        }));
        // SAFETY: a box is not null; a pointer made from the box's keeps its provenance.
        unsafe {
            let hook = HookRef(NonNull::new_unchecked(&raw mut (*lone).hook));
            hook.set(block, hash);
            hook
        }
    }

    /// # Safety
    /// The hook comes from `boxed`, is not linked, and nobody uses it any more.
    pub(super) unsafe fn free(hook: HookRef<F>) {
        hook.retire();
        // SAFETY: the caller's promise.
        unsafe {
            let lone = hook.0.byte_sub(offset_of!(Self, hook)).cast::<Self>();
            sync::free(lone);
        }
    }
}
