//! Where a payload lies in memory: the header is right before it, whatever its alignment.
//!
//! ```text
//!   start                payload - HEADER        payload
//!     v                          v                  v
//!     [ padding, if over-aligned | count | side ] [ T, at least one byte ]
//! ```

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::ptr::NonNull;

use super::flavour::{Flavour, Link, Word};
use crate::sync::Live;

/// The header of a payload: two words.
pub(crate) struct Header<F: Flavour> {
    /// All strong handles, watched or not, and what their group has been lent; see `count`.
    pub(super) count: F::Word,
    /// Null until somebody watches.
    pub(crate) side: F::Link,
    pub(super) live: Live,
}

impl<F: Flavour> Header<F> {
    const SIZE: usize = size_of::<Self>();

    /// The layout of a whole allocation, and where the payload lies in it.
    ///
    /// A payload of no size gets a byte: one past the end of an allocation may be the start of
    /// another's, and identity is the address of the payload.
    #[inline(always)]
    #[track_caller]
    fn layout(payload: Layout) -> (Layout, usize) {
        let align = payload.align().max(align_of::<Self>());
        // Not `next_multiple_of`, which divides where the alignment is not a constant.
        let offset = (Self::SIZE + align - 1) & !(align - 1);
        let layout = offset
            .checked_add(payload.size().max(1))
            .and_then(|size| Layout::from_size_align(size, align).ok());
        match layout {
            Some(layout) => (layout, offset),
            None => panic!("capacity overflow"),
        }
    }

    /// Memory for a payload, with a header before it that counts `count` handles.
    ///
    /// # Panics
    /// If the layout is larger than `isize::MAX` bytes.
    #[inline]
    #[track_caller]
    pub(super) fn allocate(payload: Layout, count: usize) -> NonNull<u8> {
        let (layout, offset) = Self::layout(payload);
        // SAFETY: the size is not zero.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        // SAFETY: `offset` is in bounds, and at least `SIZE`, so the header is too. Both are multiples
        // of the header's alignment.
        unsafe {
            let payload = start.add(offset);
            payload.sub(Self::SIZE).cast::<Self>().write(Header {
                count: F::Word::new(count),
                side: F::Link::null(),
                live: Live::new(),
            });
            payload
        }
    }

    /// The header of a payload.
    ///
    /// # Safety
    /// `payload` comes from [`allocate`](Self::allocate), keeps the provenance of the whole
    /// allocation, and is not deallocated during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn of<'a, T: ?Sized>(payload: NonNull<T>) -> &'a Self {
        // SAFETY: the caller's promise, and the picture above.
        let header = unsafe { payload.cast::<u8>().sub(Self::SIZE).cast::<Self>().as_ref() };
        header.live.check();
        header
    }

    /// Tells the processor that the header will be wanted soon.
    #[inline(always)]
    pub(super) fn prefetch<T: ?Sized>(payload: NonNull<T>) {
        let header = payload.as_ptr().cast::<u8>().wrapping_sub(Self::SIZE);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: whatever the address, nothing is read that the program could see.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(header.cast());
        }
        let _ = header;
    }

    /// Whether the memory could be another's by now: asked by a model that plays the other.
    ///
    /// # Safety
    /// `payload` comes from `allocate`. (Under loom its memory stays.)
    #[cfg(all(test, weakly_loom))]
    pub(crate) unsafe fn has_gone<T>(payload: NonNull<T>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { payload.cast::<u8>().sub(Self::SIZE).cast::<Self>().as_ref() }
            .live
            .has_ended()
    }

    /// Frees the memory.
    ///
    /// # Safety
    /// `payload` comes from `allocate` with this layout, and nobody uses it any more.
    #[inline(always)]
    pub(super) unsafe fn deallocate(payload: NonNull<u8>, layout: Layout) {
        let (layout, offset) = Self::layout(layout);
        // SAFETY: the caller's promise. (Under loom the memory stays, so that a late access meets
        // the ended mark.)
        unsafe {
            Self::of(payload).live.end();
            if cfg!(not(weakly_loom)) {
                dealloc(payload.sub(offset).as_ptr(), layout);
            }
        }
    }
}
