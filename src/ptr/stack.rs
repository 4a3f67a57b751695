//! Notices of deaths on their way to a collection: an intrusive stack of blocks and hooks.
//!
//! Any thread pushes: one compare-exchange, no allocation, no wait. The owner takes the whole stack
//! by one swap and drains it later. No other thread pops, so no address can come back with another
//! meaning under a pusher's compare-exchange: there is no ABA. (R. K. Treiber, "Systems
//! Programming: Coping with Parallelism", 1986.) The notices of one batch come newest first; no
//! order is promised.
//!
//! An earlier version used `SegQueue` of crossbeam: two read-modify-writes to push, two and a full
//! fence to pop, and an allocation for every 31 deaths. At churn with 10^3 live keys it cost a
//! twelfth more.
//!
//! Invariants:
//!
//! * **N1** The owner ends each registration with a stack, or the registration brings one notice.
//!   The owner knows how many registrations have done neither ([`close`](StackRef::close)).
//! * **N2** A pusher's last access to the stack is the compare-exchange that links its notice or,
//!   if the stack is closed, the decrement that counts the notice off `inflight`. The owner adds to
//!   `inflight` the number of notices that were still to come; the thread that then brings
//!   `inflight` to zero frees the stack. So the end of a collection waits for no thread.
//! * **N3** Once pushed, a notice belongs to the owner: a block to be freed, or a slot or a hook
//!   with its reference to the record.
//!
//! This file defines the stack and the memory of the hooks that register with it; `delivery` pushes
//! and takes notices.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::offset_of;
use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Local, Variable};
use super::header::Block;
use super::hook::{Hook, HookRef, RecipientCell};
use super::waker::WakerCell;
use crate::sync::{Live, UnsafeCell};

/// The stack to which the deaths of one collection's objects push their notices.
// Aligned for the tags in pointers to a stack.
#[repr(align(8))]
pub(crate) struct NoticeStack<F: Flavour> {
    /// The newest notice, or a mark.
    pub(super) top: F::Link,
    /// After the owner's end: the number of notices still to come, less the notices that have come.
    pub(super) inflight: F::Word,
    /// For the owner only.
    pub(super) slab: UnsafeCell<Slab<F>>,
    /// The top notice at the last count, or null; see [`pending`](super::pending).
    pub(super) counted: F::Link,
    /// The number of notices from that notice down.
    pub(super) count: F::Word,
    /// The number of notices left in the owner's batch; zero while the number is not known.
    pub(super) batch: F::Word,
    /// Set once, by the owner, before the stack is first armed. A pusher that finds the stack armed
    /// may read the waker (W1).
    pub(super) waker: UnsafeCell<Option<Arc<WakerCell>>>,
    pub(super) live: Live,
}

/// A pointer to a stack that is not freed (N2).
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct StackRef<F: Flavour>(NonNull<NoticeStack<F>>);

impl<F: Flavour> StackRef<F> {
    pub(crate) fn new() -> Self {
        let stack = Box::new(NoticeStack {
            top: F::Link::new(ptr::null_mut()),
            inflight: F::Word::new(0),
            slab: UnsafeCell::new(Slab::new()),
            counted: F::Link::new(ptr::null_mut()),
            count: F::Word::new(0),
            batch: F::Word::new(0),
            waker: UnsafeCell::new(None),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        StackRef(unsafe { NonNull::new_unchecked(Box::into_raw(stack)) })
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut NoticeStack<F> {
        self.0.as_ptr()
    }

    /// # Safety
    /// `stack` was returned by [`as_ptr`](Self::as_ptr).
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(stack: *mut NoticeStack<F>) -> Self {
        // SAFETY: the caller's promise.
        StackRef(unsafe { NonNull::new_unchecked(stack) })
    }

    #[inline(always)]
    pub(crate) fn get<'a>(self) -> &'a NoticeStack<F> {
        // SAFETY: N2, the stack is not freed before the caller's last access.
        let stack = unsafe { self.0.as_ref() };
        stack.live.check();
        stack
    }

    /// Returns a hook for a further registration with this stack, if there is one without an
    /// allocation.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(super) unsafe fn spare_hook(self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        // SAFETY: the caller is the owner.
        let slab = |slab: *mut Slab<F>| unsafe { (*slab).spare(block, hash) };
        self.get().slab.with_mut(slab)
    }

    /// Returns a hook for a further registration with this stack.
    ///
    /// # Safety
    /// As for [`spare_hook`](Self::spare_hook).
    pub(super) unsafe fn hook(self, block: Block<F>, hash: u32) -> HookRef<F> {
        loop {
            // SAFETY: the caller's promise.
            unsafe {
                if let Some(hook) = self.spare_hook(block, hash) {
                    return hook;
                }
                self.get().slab.with_mut(|slab| (*slab).grow(self.as_ptr()));
            }
        }
    }

    /// Frees the chunks of which no hook is in use. O(hooks taken back, and chunks).
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn shrink_hooks(self) {
        // SAFETY: the caller is the owner.
        self.get().slab.with_mut(|slab| unsafe { (*slab).shrink() });
    }

    /// Returns the bytes of the stack and of its hooks.
    ///
    /// # Safety
    /// The caller is the owner, and changes no hook meanwhile.
    pub(crate) unsafe fn memory_usage(self) -> usize {
        // SAFETY: the caller's promise.
        let hooks = |slab: *const Slab<F>| unsafe { (*slab).memory_usage() };
        size_of::<NoticeStack<F>>() + self.get().slab.with(hooks)
    }

    /// Takes back a hook from [`hook`](Self::hook).
    ///
    /// # Safety
    /// As for `hook`; and no thread uses the hook any more.
    #[inline]
    pub(super) unsafe fn give_back(self, hook: HookRef<F>) {
        // SAFETY: the caller's promise.
        let slab = |slab: *mut Slab<F>| unsafe { (*slab).give_back(hook) };
        self.get().slab.with_mut(slab);
    }
}

/// Several hooks in one allocation, all with the same recipient.
#[repr(C, align(8))]
struct Chunk<F: Flavour> {
    recipient: RecipientCell,
    next: Option<NonNull<Chunk<F>>>,
    len: u32,
    /// The number of hooks at the end that were never used.
    unused: u32,
    /// `len` hooks.
    hooks: [Hook<F>; 0],
}

/// The number of hooks in the largest chunk, which is a page.
const CHUNK: u32 = (4096 / size_of::<Hook<Local>>() - 1) as u32;

/// The memory of one collection's hooks: chunks that double in size, and a list of hooks taken
/// back. Freed when the collection has ended and its last notice has come.
pub(super) struct Slab<F: Flavour> {
    chunks: Option<NonNull<Chunk<F>>>,
    free: Option<HookRef<F>>,
}

impl<F: Flavour> Slab<F> {
    pub(super) const fn new() -> Self {
        Slab {
            chunks: None,
            free: None,
        }
    }

    /// Returns a hook for this block and hash, if there is one without an allocation. O(1).
    #[inline]
    pub(super) fn spare(&mut self, block: Block<F>, hash: u32) -> Option<HookRef<F>> {
        if let Some(hook) = self.free {
            // SAFETY: H1, a hook in the list is ours.
            self.free = unsafe { hook.reuse(block, hash) };
            return Some(hook);
        }
        let chunk = self.chunks?;
        // SAFETY: a chunk of this list; only the owner uses `unused`. That many hooks at the end of
        // the chunk have never been used. The pointer keeps the provenance of the chunk.
        unsafe {
            let unused = &raw mut (*chunk.as_ptr()).unused;
            if *unused == 0 {
                return None;
            }
            let index = chunk.as_ref().len - *unused;
            *unused -= 1;
            let hook = Chunk::hook(chunk, index as usize);
            let offset = hook.addr().get() - chunk.addr().get();
            hook.write(Hook::new(block, offset));
            let hook = HookRef::from_ptr(hook.cast());
            hook.set(block, hash);
            Some(hook)
        }
    }

    /// Allocates a chunk for twice as many hooks as the last chunk; no spare hook is left.
    ///
    /// # Safety
    /// `recipient` is the stack that owns this slab.
    pub(super) unsafe fn grow(&mut self, recipient: *mut NoticeStack<F>) {
        let len = self.chunks.map_or(3, |newest| {
            // SAFETY: a chunk of this list.
            (unsafe { newest.as_ref() }.len * 2 + 1).min(CHUNK)
        });
        self.chunks = Some(Chunk::new(recipient, self.chunks, len));
    }

    /// Takes a hook back.
    ///
    /// # Safety
    /// The hook comes from this slab, is not linked, and no thread uses it any more.
    #[inline]
    pub(super) unsafe fn give_back(&mut self, hook: HookRef<F>) {
        // SAFETY: the caller's promise.
        unsafe { hook.put_back(self.free) };
        self.free = Some(hook);
    }

    /// Frees the chunks of which no hook is in use. O(hooks taken back, and chunks).
    pub(super) fn shrink(&mut self) {
        // Hooks that were taken back count as unused hooks of their chunks, until it is known which
        // chunks stay.
        // SAFETY: H1, hooks in the list are ours, and in chunks of this slab; only the owner uses
        // `unused`.
        unsafe {
            let mut next = self.free;
            while let Some(hook) = next {
                next = hook.next_unused();
                (*Chunk::of(hook).as_ptr()).unused += 1;
            }
            let mut next = self.free.take();
            while let Some(hook) = next {
                next = hook.next_unused();
                let chunk = Chunk::of(hook).as_ptr();
                if (*chunk).unused != (*chunk).len {
                    (*chunk).unused -= 1;
                    hook.set_next_unused(self.free);
                    self.free = Some(hook);
                }
            }
            // The list has no hook of a wholly unused chunk any more.
            self.free_chunks(|chunk| chunk.unused == chunk.len);
        }
    }

    /// Returns the bytes of all chunks.
    fn memory_usage(&self) -> usize {
        let (mut bytes, mut next) = (0, self.chunks);
        while let Some(chunk) = next {
            // SAFETY: a chunk of this list.
            let chunk = unsafe { chunk.as_ref() };
            bytes += Chunk::<F>::layout(chunk.len as usize).size();
            next = chunk.next;
        }
        bytes
    }

    /// Frees all chunks.
    ///
    /// # Safety
    /// No hook of this slab is used any more.
    pub(super) unsafe fn free(&mut self) {
        self.free = None;
        // SAFETY: the caller's promise.
        unsafe { self.free_chunks(|_| true) };
    }

    /// # Safety
    /// No hook of the `unwanted` chunks is used, or in the list, any more.
    unsafe fn free_chunks(&mut self, unwanted: impl Fn(&Chunk<F>) -> bool) {
        let mut link = &mut self.chunks;
        while let Some(chunk) = *link {
            // SAFETY: a chunk of this list, allocated with this layout; hooks have no destructor.
            unsafe {
                if !unwanted(chunk.as_ref()) {
                    link = &mut (*chunk.as_ptr()).next;
                    continue;
                }
                let layout = Chunk::<F>::layout(chunk.as_ref().len as usize);
                *link = chunk.as_ref().next;
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

    fn new(recipient: *mut NoticeStack<F>, next: Option<NonNull<Self>>, len: u32) -> NonNull<Self> {
        let layout = Self::layout(len as usize);
        // SAFETY: the size is not zero.
        let Some(chunk) = NonNull::new(unsafe { alloc::alloc::alloc(layout) }.cast::<Self>())
        else {
            alloc::alloc::handle_alloc_error(layout)
        };
        // SAFETY: new memory of this layout.
        unsafe {
            chunk.write(Chunk {
                recipient: UnsafeCell::new(recipient.cast()),
                next,
                len,
                unused: len,
                hooks: [],
            });
        }
        chunk
    }

    /// Returns the chunk of a hook.
    ///
    /// # Safety
    /// The hook comes from a chunk, which has not been freed.
    unsafe fn of(hook: HookRef<F>) -> NonNull<Self> {
        const { assert!(offset_of!(Self, recipient) == 0) }
        hook.recipient_place().cast()
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
