//! The memory of blocks and of payloads apart: layouts, allocation, and freeing a block without its
//! type. The picture is in [`header`](super::header).

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::ptr::NonNull;

use super::flavour::{Flavour, Variable};
use super::header::{APART, Block, DEAD, Header, is_apart, round_up};
use crate::sync::Ordering::*;

/// The shift of the alignment in a dead object's `count`; the size is below it.
const ALIGN_AT: u32 = 16;

/// Returns the place where the payload of an inline block begins; the header is right before it.
#[inline(always)]
const fn offset<F: Flavour>(align: usize) -> usize {
    round_up(
        size_of::<Header<F>>(),
        if align > align_of::<Header<F>>() {
            align
        } else {
            align_of::<Header<F>>()
        },
    )
}

/// Returns the layout of an inline block. The payload has at least one word, which gives each
/// zero-sized object an address of its own.
#[inline(always)]
fn inline_layout<F: Flavour>(payload: Layout) -> Layout {
    let align = payload.align().max(align_of::<Header<F>>());
    let size = offset::<F>(payload.align()) + payload.size().max(size_of::<usize>());
    // SAFETY: not apart, so the size is far below `isize::MAX`; either alignment is valid.
    unsafe { Layout::from_size_align_unchecked(size, align) }
}

/// Returns the layout of the block of a payload apart.
#[inline(always)]
fn outer_layout<F: Flavour>() -> Layout {
    // SAFETY: a header is a multiple of its alignment; one word follows.
    unsafe {
        Layout::from_size_align_unchecked(
            size_of::<Header<F>>() + size_of::<usize>(),
            align_of::<Header<F>>(),
        )
    }
}

/// Returns the layout of a payload apart, with the pointer to its block before it, and the
/// payload's offset.
#[inline(always)]
#[track_caller]
fn apart_layout(payload: Layout) -> (Layout, usize) {
    let align = payload.align().max(align_of::<usize>());
    let offset = round_up(size_of::<usize>(), align);
    let layout = offset
        .checked_add(payload.size().max(1))
        .and_then(|size| Layout::from_size_align(size, align).ok());
    match layout {
        Some(layout) => (layout, offset),
        None => panic!("capacity overflow"),
    }
}

/// Allocates this layout, whose size is not zero.
#[inline(always)]
fn memory(layout: Layout) -> NonNull<u8> {
    // SAFETY: the size is not zero.
    match NonNull::new(unsafe { alloc(layout) }) {
        Some(memory) => memory,
        None => handle_alloc_error(layout),
    }
}

/// Allocates memory for a payload, and before it a header that counts `count` strong pointers and
/// is in `state`.
///
/// # Panics
/// If the size exceeds `isize::MAX` bytes.
#[inline]
#[track_caller]
pub(super) fn allocate<F: Flavour>(payload: Layout, count: u32, state: *mut ()) -> NonNull<u8> {
    if is_apart(payload) {
        return allocate_apart::<F>(payload, count, state);
    }
    let layout = inline_layout::<F>(payload);
    let offset = offset::<F>(payload.align());
    // SAFETY: the offset is in bounds and at least the size of the header, and both are multiples
    // of the header's alignment.
    unsafe {
        let payload = memory(layout).add(offset);
        let header = payload.cast::<Header<F>>().sub(1);
        header.write(Header::new(count, 0, state));
        payload
    }
}

#[track_caller]
fn allocate_apart<F: Flavour>(payload: Layout, count: u32, state: *mut ()) -> NonNull<u8> {
    /// Frees the first allocation, if the second fails and the failure unwinds.
    struct Undo(NonNull<u8>, Layout);
    impl Drop for Undo {
        fn drop(&mut self) {
            // SAFETY: allocated with this layout, and no other thread knows the memory.
            unsafe { dealloc(self.0.as_ptr(), self.1) };
        }
    }
    let (layout, offset) = apart_layout(payload);
    let undo = Undo(memory(layout), layout);
    let block = memory(outer_layout::<F>()).cast::<Header<F>>();
    // SAFETY: new memory of these layouts. Before the payload there is room for a pointer.
    unsafe {
        let payload = undo.0.add(offset);
        payload.cast::<NonNull<Header<F>>>().sub(1).write(block);
        block.write(Header::new(count, APART, state));
        let block = Block::<F>::from_ptr(block.as_ptr().cast());
        block.init_payload(payload.as_ptr());
        core::mem::forget(undo);
        payload
    }
}

impl<F: Flavour> Block<F> {
    /// Marks the object as dead: the block can be freed without its type, and the address of a
    /// payload apart is no longer the object's.
    ///
    /// # Safety
    /// B2: called once, by the dying thread; `payload` is the layout of the object's payload.
    #[inline(always)]
    pub(super) unsafe fn set_dead(self, payload: Layout) {
        let block = if is_apart(payload) {
            self.mark_gone();
            outer_layout::<F>()
        } else {
            inline_layout::<F>(payload)
        };
        let layout = block.size() as u32 | block.align().trailing_zeros() << ALIGN_AT;
        // Relaxed: the thread that frees the block has synchronised with the step by which this
        // thread gives up its last share.
        self.header().count.store(DEAD | layout, Relaxed);
    }

    /// Frees the block of a dead object.
    ///
    /// # Safety
    /// B1: the caller's share was the last, and the uses by all other threads happen before.
    #[inline]
    pub(super) unsafe fn free(self) {
        // Relaxed: the caller's promise: the death, which wrote the layout, happens before.
        let code = self.header().count.load(Relaxed);
        debug_assert_ne!(code & DEAD, 0, "freed before its death was over");
        let (size, align) = (
            code & ((1 << ALIGN_AT) - 1),
            1 << ((code >> ALIGN_AT) & 0xf),
        );
        self.header().live.end();
        if cfg!(weakly_loom) {
            // The memory stays, so that a late access meets the ended mark.
            return;
        }
        // SAFETY: `set_dead` has written the layout; the padding, if any, is before the header.
        unsafe {
            let start = self.place().sub(offset::<F>(align));
            dealloc(
                start.as_ptr(),
                Layout::from_size_align_unchecked(size as usize, align),
            );
        }
    }

    /// Frees a payload apart.
    ///
    /// # Safety
    /// The payload is gone, and no thread uses its memory any more.
    #[inline]
    pub(super) unsafe fn free_apart(payload: NonNull<u8>, layout: Layout) {
        #[cfg(weakly_loom)]
        // SAFETY: before the payload is the pointer to its block. Under loom the memory stays.
        unsafe {
            let block = payload.cast::<NonNull<Header<F>>>().sub(1).read();
            block.as_ref().apart.as_ref().unwrap().end();
        }
        let (layout, offset) = apart_layout(layout);
        if !cfg!(weakly_loom) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(payload.sub(offset).as_ptr(), layout) };
        }
    }

    /// Frees a block without weak pointers and entries, and its payload if the payload is apart.
    ///
    /// # Safety
    /// No thread uses block or payload any more; `payload` comes from [`allocate`] with this
    /// layout.
    #[inline(always)]
    pub(super) unsafe fn free_all(self, payload: NonNull<u8>, layout: Layout) {
        self.header().live.end();
        // SAFETY: the caller's promise.
        unsafe {
            if is_apart(layout) {
                Self::free_apart(payload, layout);
                if !cfg!(weakly_loom) {
                    dealloc(self.as_ptr().cast(), outer_layout::<F>());
                }
            } else if !cfg!(weakly_loom) {
                let start = payload.sub(offset::<F>(layout.align()));
                dealloc(start.as_ptr(), inline_layout::<F>(layout));
            }
        }
    }
}
