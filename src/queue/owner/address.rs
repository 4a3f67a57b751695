//! The word that a watch keeps, and by which a notice names it: an address with marks. The invariants, Q1 to Q3, are in
//! [`owner`](super).

use core::ptr::NonNull;

use crate::ptr::{Block, Flavour, HookRef, Notice};

/// The registration is a hook, and not the block.
pub(super) const HOOK: usize = 1;
/// The payload is apart.
pub(super) const APART: usize = 2;
pub(super) const MARKS: usize = HOOK | APART;

/// The address that a watch keeps: of the block or the hook, with the marks.
#[inline(always)]
pub(super) fn mark<F: Flavour>(block: Block<F>, hook: Option<HookRef<F>>) -> NonNull<u8> {
    let (at, mark) = match hook {
        Some(hook) => (hook.as_ptr().cast(), HOOK),
        None => (block.place(), 0),
    };
    let mark = if block.is_apart() { mark | APART } else { mark };
    // SAFETY: not null: block and hook are aligned to eight bytes, and the marks only add to that.
    unsafe { NonNull::new_unchecked(at.as_ptr().map_addr(|addr| addr | mark)) }
}

/// The block, and the hook if the registration is not the block.
///
/// # Safety
/// `at` is from a watch that has not ended, or whose notice is not finished.
#[inline(always)]
pub(super) unsafe fn unmark<F: Flavour>(at: NonNull<u8>) -> (Block<F>, Option<HookRef<F>>) {
    // SAFETY: what `mark` was given; Q3.
    unsafe {
        let unmarked = NonNull::new_unchecked(at.as_ptr().map_addr(|addr| addr & !MARKS));
        if at.addr().get() & HOOK == 0 {
            return (Block::of_place(unmarked), None);
        }
        let hook = HookRef::from_ptr(unmarked.cast());
        (hook.block(), Some(hook))
    }
}

/// The notice of a watch, if its object has died.
///
/// # Safety
/// `at` is from a watch whose notice, if any, is not finished.
pub(super) unsafe fn fired<F: Flavour>(at: NonNull<u8>) -> Option<Notice<F>> {
    // SAFETY: the caller's promise.
    unsafe {
        match unmark(at) {
            (_, Some(hook)) => Some(Notice::Hook(hook)),
            (block, None) => block.notice(),
        }
    }
}
