//! The address with marks in a watch and in its notice. The invariants, Q1 to Q3, are in
//! [`owner`](super).

use core::ptr::NonNull;

use crate::ptr::{Block, Flavour, HookRef, Registration};

/// The registration is a hook, and the address is that of the hook.
pub(super) const HOOK: usize = 1;
/// The payload is apart.
pub(super) const APART: usize = 2;
/// The registration is the second of the record. The address is the header's, because the payload's
/// address plus four would be an address inside the payload.
pub(super) const SECOND: usize = 4;
pub(super) const MARKS: usize = HOOK | APART | SECOND;

/// Returns the marked address for a watch: the address of the block or of the hook, with the marks.
/// No payload lies at a marked address.
#[inline(always)]
pub(super) fn marked_address<F: Flavour>(
    block: Block<F>,
    registration: Registration<F>,
) -> NonNull<u8> {
    let (at, mark) = match registration {
        Registration::Block => (block.place().as_ptr(), 0),
        Registration::Second => (block.as_ptr().cast(), SECOND),
        Registration::Hook(hook) => (hook.as_ptr().as_ptr().cast(), HOOK),
    };
    let mark = if block.is_apart() { mark | APART } else { mark };
    // SAFETY: not null: block and hook are aligned to eight bytes, and the marks only add to their
    // address.
    unsafe { NonNull::new_unchecked(at.map_addr(|addr| addr | mark)) }
}

/// Returns the block of a watch, and the kind of the registration.
///
/// # Safety
/// `at` is from a watch that has not ended, or whose notice is not finished.
#[inline(always)]
pub(super) unsafe fn unmark<F: Flavour>(at: NonNull<u8>) -> (Block<F>, Registration<F>) {
    // SAFETY: `marked_address` has made this address; Q3.
    unsafe {
        let unmarked = NonNull::new_unchecked(at.as_ptr().map_addr(|addr| addr & !MARKS));
        let marks = at.addr().get();
        if marks & HOOK != 0 {
            let hook = HookRef::from_ptr(unmarked.cast());
            (hook.block(), Registration::Hook(hook))
        } else if marks & SECOND != 0 {
            let block = Block::from_ptr(unmarked.as_ptr().cast());
            (block, Registration::Second)
        } else {
            (Block::of_place(unmarked), Registration::Block)
        }
    }
}
