//! A notice: a block, a slot of a record, or a hook, linked to the notice below it. Each notice has
//! a depth, from which a collection computes how many notices are pending.

use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::flavour::{Flavour, Variable};
use super::header::Block;
use super::hook::HookRef;
use super::record::{RecordRef, RecordSlot};
use super::register::Registration;
use super::state::{self, State};
use crate::sync::Ordering::*;

/// The mark of a hook in a [`Notice`].
const HOOK: usize = 1;
/// The mark of a record in a [`Notice`] of the record's first registration.
const FIRST: usize = 2;
/// The mark of a record in a [`Notice`] of the record's second registration.
const SECOND: usize = 3;
const MARKS: usize = 3;

/// A notice or none, as a link names it.
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

    #[inline(always)]
    pub(super) fn from_ptr(node: *mut ()) -> Self {
        NoticeLink(node, PhantomData)
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
        NonNull::new(self.0).map(|node| Notice(node, PhantomData))
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
            // Release: the entry's owner may find the notice before the push, and mark it as late.
            // The death's step to `DEAD` released the death's uses of the block, and this store
            // overwrites the step.
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

    #[inline]
    fn depth(self) -> usize {
        match self.kind() {
            // SAFETY: B4, the block is a notice.
            Kind::Block(block) => unsafe { block.depth() }.load(Relaxed),
            Kind::RecordSlot(record, slot) => record
                .depth(slot)
                .map_or(0, |half| long(half.load(Relaxed))),
            Kind::Hook(hook) => hook.depth(),
        }
    }

    #[inline]
    fn set_depth(self, depth: usize) {
        match self.kind() {
            // SAFETY: B4, the block is a notice.
            Kind::Block(block) => unsafe { block.depth() }.store(depth, Relaxed),
            Kind::RecordSlot(record, slot) => {
                if let Some(half) = record.depth(slot) {
                    half.store(short(depth), Relaxed);
                }
            }
            Kind::Hook(hook) => hook.set_depth(depth),
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

impl<F: Flavour> Block<F> {
    /// Returns the notice of the registration that is the block itself, if the object may have
    /// died.
    ///
    /// # Safety
    /// The registration is the caller's, and its notice, if any, is not finished.
    pub(crate) unsafe fn notice(self) -> Option<Notice<F>> {
        match State::<F>::decode(self.header().state.load(Acquire)) {
            State::Dead => Some(Notice::of_block(self)),
            State::Record(record) => Some(Notice::of_slot(record, RecordSlot::First)),
            _ => None,
        }
    }

    /// Returns the notice of the registration that is the record's second.
    ///
    /// # Safety
    /// As for [`notice`](Self::notice).
    pub(crate) unsafe fn second_notice(self) -> Notice<F> {
        // SAFETY: the caller's promise.
        Notice::of_slot(unsafe { self.known_record() }, RecordSlot::Second)
    }
}

/// A flag beside a depth: the owner has taken the notice out, in a batch; see [`number`].
pub(super) const TAKEN: usize = 1 << (usize::BITS - 3);
/// A flag beside a depth: the entry was removed before its notice came.
pub(super) const LATE: usize = 1 << (usize::BITS - 4);
const FLAGS: usize = TAKEN | LATE;
/// The distance by which the flags are lower in half a word. A depth that does not fit below the
/// flags there is stored as unknown.
const SHORTER: u32 = usize::BITS - u32::BITS;

pub(super) fn long(depth: u32) -> usize {
    let flags = depth as usize & FLAGS >> SHORTER;
    depth as usize ^ flags | flags << SHORTER
}

pub(super) fn short(depth: usize) -> u32 {
    let (flags, known) = (depth & FLAGS, depth & !FLAGS);
    let fits = known < LATE >> SHORTER;
    (flags >> SHORTER) as u32 | if fits { known as u32 } else { 0 }
}

/// Returns how many notices there are from this notice down, in a stack or a batch that is not
/// drained meanwhile. O(notices pushed since the last call): a notice that was counted once is not
/// counted again.
///
/// Threads that read the same collection may count at the same time: each writes depths, and all
/// write the same depths. So each depth is written together with the mark that says whether the
/// notices were `taken` out of the stack, since another thread may be [numbering](number) the
/// notices.
pub(crate) fn depth<F: Flavour>(top: NoticeLink<F>, taken: bool) -> usize {
    let mark = if taken { TAKEN } else { 0 };
    let mut above = 0;
    let mut node = top;
    while let Some(notice) = node.get() {
        let known = notice.known_depth();
        if known != 0 {
            above += known;
            break;
        }
        above += 1;
        node = notice.below();
    }
    match top.get() {
        Some(top) if top.known_depth() == 0 => top.note(above | mark),
        _ => {}
    }
    above
}

/// Returns the same number as [`depth`], and notes in each notice its own depth; with a mark, if
/// the notices were `taken` out of the stack. O(notices).
pub(crate) fn number<F: Flavour>(top: NoticeLink<F>, taken: bool) -> usize {
    let total = depth(top, taken);
    let mark = if taken { TAKEN } else { 0 };
    let mut left = total;
    for notice in top {
        notice.note(left | mark);
        left -= 1;
    }
    total
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

impl<F: Flavour> Notice<F> {
    #[inline]
    fn known_depth(self) -> usize {
        self.depth() & !FLAGS
    }

    /// Notes a depth, or a flag; keeps the flags noted before.
    #[inline]
    fn note(self, known: usize) {
        self.set_depth(known | self.depth() & FLAGS);
    }

    /// Returns whether the notice was [numbered](number), and is not above the `top` of its stack:
    /// the notice came before the caller looked.
    pub(crate) fn is_within(self, top: usize) -> bool {
        let known = self.known_depth();
        self.depth() & TAKEN != 0 || (known != 0 && known <= top)
    }

    /// Marks the notice as late: the entry is gone, and the drain skips the notice. The caller is
    /// the owner of the collection, and has found the registration fired.
    #[inline]
    pub(crate) fn mark_late(self) {
        self.note(LATE);
    }

    #[inline]
    pub(crate) fn is_late(self) -> bool {
        self.depth() & LATE != 0
    }

    /// Passes the known depth on to the next notice, since this notice is taken out of a batch.
    #[inline]
    pub(crate) fn pass_on_depth(self) {
        let known = self.known_depth();
        if known > 1 {
            if let Some(below) = self.below().get() {
                below.set_depth(below.depth() & FLAGS | (known - 1));
            }
        }
    }
}
