//! A notice: a block, a slot of a record, or a hook, linked to the notice below it.

use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Variable};
use super::header::Block;
use super::hook::HookRef;
use super::record::{RecordRef, RecordSlot};
use super::register::Registration;
use super::state;
use crate::sync::Ordering::*;

/// The mark of a hook in a [`Notice`].
const HOOK: usize = 1;
/// The mark of a record in a [`Notice`] of the record's first registration.
const FIRST: usize = 2;
/// The mark of a record in a [`Notice`] of the record's second registration.
const SECOND: usize = 3;
const MARKS: usize = 3;

/// A link of a stack of notices: a notice, or none.
#[derive(Clone, Copy)]
pub(crate) struct NoticeLink<F: Flavour>(*mut (), PhantomData<F>);

/// A notice: a pointer to a block, or a marked pointer to a record or a hook.
#[derive(Clone, Copy)]
pub(crate) struct Notice<F: Flavour>(NonNull<()>, PhantomData<F>);

/// The three kinds of notice.
pub(super) enum Kind<F: Flavour> {
    /// The block of an object whose only registration was with this collection.
    Block(Block<F>),
    /// A registration in a record.
    RecordSlot(RecordRef<F>, RecordSlot),
    /// A hook.
    Hook(HookRef<F>),
}

impl<F: Flavour> NoticeLink<F> {
    pub(crate) const NONE: Self = NoticeLink(ptr::null_mut(), PhantomData);

    /// Returns the link in a word: `word` is null, or the pointer of a [`Notice`] with its mark, as
    /// a push has written it. ([`Notice::kind`] relies on this.)
    #[inline(always)]
    pub(super) fn from_ptr(word: *mut ()) -> Self {
        NoticeLink(word, PhantomData)
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0
    }

    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0.is_null()
    }

    #[inline(always)]
    pub(crate) fn get(self) -> Option<Notice<F>> {
        NonNull::new(self.0).map(|marked| Notice(marked, PhantomData))
    }
}

impl<F: Flavour> Notice<F> {
    #[inline(always)]
    fn new(pointer: *mut (), mark: usize) -> Self {
        let marked = pointer.map_addr(|addr| addr | mark);
        // SAFETY: a block, a record and a hook are not null.
        Notice(unsafe { NonNull::new_unchecked(marked) }, PhantomData)
    }

    #[inline(always)]
    pub(super) fn of_block(block: Block<F>) -> Self {
        let block = block.as_ptr();
        // SAFETY: a header is aligned to eight bytes. (So the code that pushes this notice knows
        // its kind.)
        unsafe { core::hint::assert_unchecked(block.addr() & MARKS == 0) };
        Self::new(block, 0)
    }

    #[inline(always)]
    pub(super) fn of_slot(record: RecordRef<F>, slot: RecordSlot) -> Self {
        Self::new(
            record.as_ptr(),
            match slot {
                RecordSlot::First => FIRST,
                RecordSlot::Second => SECOND,
            },
        )
    }

    #[inline(always)]
    pub(crate) fn of_hook(hook: HookRef<F>) -> Self {
        Self::new(hook.as_ptr().as_ptr(), HOOK)
    }

    #[inline(always)]
    pub(super) fn node(self) -> NoticeLink<F> {
        NoticeLink(self.0.as_ptr(), PhantomData)
    }

    #[inline(always)]
    pub(super) fn kind(self) -> Kind<F> {
        let node = self.0.as_ptr();
        // (The pointer of a block is used as it is: removing a mark would delay every load from the
        // block.)
        let without = |mark| node.map_addr(|addr| addr ^ mark);
        // SAFETY: notices are made of these pointers; the mark is removed.
        unsafe {
            match node.addr() & MARKS {
                0 => Kind::Block(Block::from_ptr(node)),
                HOOK => Kind::Hook(HookRef::from_ptr(NonNull::new_unchecked(without(HOOK)))),
                FIRST => Kind::RecordSlot(RecordRef::from_ptr(without(FIRST)), RecordSlot::First),
                _ => Kind::RecordSlot(RecordRef::from_ptr(without(SECOND)), RecordSlot::Second),
            }
        }
    }

    /// Links the notice to the notice below it, before the push.
    #[inline(always)]
    pub(super) fn link_to(self, below: *mut ()) {
        match self.kind() {
            // Release: the entry's owner may find the object dead before the push, and read the
            // block. The death's step to `DEAD` released the death's uses of the block, and this
            // store overwrites the step.
            Kind::Block(block) => block.header().state.store(state::dead(below), Release),
            // Relaxed, also below: the compare-exchange publishes the link, and the gate keeps the
            // owner out until then.
            Kind::RecordSlot(record, slot) => record.slot(slot).store(below, Relaxed),
            Kind::Hook(hook) => hook.link().store(below, Relaxed),
        }
    }

    /// Returns the registration to which the notice belongs.
    #[inline(always)]
    pub(crate) fn registration(self) -> Registration<F> {
        match self.kind() {
            Kind::Block(_) | Kind::RecordSlot(_, RecordSlot::First) => Registration::Block,
            Kind::RecordSlot(_, RecordSlot::Second) => Registration::Second,
            Kind::Hook(hook) => Registration::Hook(hook),
        }
    }

    /// Returns the block of the dead object.
    #[inline(always)]
    pub(crate) fn block(self) -> Block<F> {
        match self.kind() {
            Kind::Block(block) => block,
            Kind::RecordSlot(record, _) => record.block(),
            Kind::Hook(hook) => hook.block(),
        }
    }

    /// Returns the hash of the entry, in its short form.
    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        match self.kind() {
            Kind::Block(block) => block.hash(),
            Kind::RecordSlot(record, slot) => record.hash(slot),
            Kind::Hook(hook) => hook.hash(),
        }
    }

    /// Returns the notice below. The notice has been pushed, and the caller is the owner, or keeps
    /// the owner from draining the stack.
    #[inline(always)]
    pub(crate) fn below(self) -> NoticeLink<F> {
        match self.kind() {
            // Relaxed: the link was written before the push, with which the caller has
            // synchronised.
            Kind::Block(block) => {
                NoticeLink::from_ptr(state::below(block.header().state.load(Relaxed)))
            }
            Kind::RecordSlot(record, slot) => NoticeLink::from_ptr(record.slot(slot).load(Relaxed)),
            Kind::Hook(hook) => NoticeLink::from_ptr(hook.link().load(Relaxed)),
        }
    }

    /// Ends the notice. Returns its hook, if the notice is a hook, whose memory is still to be
    /// freed.
    ///
    /// # Safety
    /// N3: the notice is the caller's, and the entry is gone.
    #[inline]
    pub(super) unsafe fn end(self) -> Option<HookRef<F>> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.kind() {
                Kind::Block(block) => {
                    block.free();
                    None
                }
                Kind::RecordSlot(record, _) => {
                    record.release();
                    None
                }
                Kind::Hook(hook) => {
                    RecordRef::of_hook(hook).release();
                    Some(hook)
                }
            }
        }
    }
}

/// Iterates from the top down.
impl<F: Flavour> IntoIterator for NoticeLink<F> {
    type Item = Notice<F>;
    type IntoIter = Notices<F>;

    fn into_iter(self) -> Notices<F> {
        Notices(self)
    }
}

/// Notices, from the top down. The iterator reads the link of a notice before it yields the notice,
/// since the caller may finish the notice.
pub(crate) struct Notices<F: Flavour>(NoticeLink<F>);

impl<F: Flavour> Iterator for Notices<F> {
    type Item = Notice<F>;

    fn next(&mut self) -> Option<Notice<F>> {
        let notice = self.0.get()?;
        self.0 = notice.below();
        Some(notice)
    }
}
