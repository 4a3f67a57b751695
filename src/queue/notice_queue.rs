//! What a table needs of its queue of notices, whatever the queue.

use alloc::sync::Arc;
use core::convert::Infallible;

use crate::hash::HashValue;
use crate::ptr::WakerCell;

/// Receives the notices of deaths.
pub trait NoticeQueue: Sized {
    /// A notice of a death.
    type Notice: Copy;
    /// How far the notices reached at the time of a [`look`](Self::look).
    type Seen;

    /// The queue of an empty table.
    const NONE: Self;

    /// Whether no notice has come.
    fn is_idle(&self) -> bool;

    /// The number of entries with a notice pending.
    fn pending(&self) -> usize;

    /// The number of notices that have come, late ones too.
    fn most(&self) -> usize;

    /// Whether there may be late ones.
    fn has_late(&self) -> bool;

    /// The notices whose entries are still there.
    fn iter(&self) -> impl Iterator<Item = Self::Notice>;

    /// Marks the notices that have come. Returns also how many of them have an entry.
    fn look(&self) -> (usize, Self::Seen);

    /// The hash of the entry of the next notice, if there is one.
    fn peek(&mut self) -> Option<HashValue>;

    /// Takes the next notice out whose entry is still there. Takes no more than are `left`, late
    /// ones too, and counts them off.
    fn next(&mut self, left: &mut usize) -> Option<Self::Notice>;

    /// The hash of the entry of a notice.
    fn hash(notice: &Self::Notice) -> HashValue;

    /// Finishes a notice whose entry is unlinked.
    fn finish(&mut self, notice: Self::Notice);

    /// Frees memory that no registration needs.
    fn shrink_to_fit(&mut self);

    /// The cell of the waker, if one has ever been set.
    fn waker(&self) -> Option<&Arc<WakerCell>>;

    /// Attaches the cell of a waker, once.
    fn attach(&mut self, cell: &Arc<WakerCell>);

    /// If nothing is pending, the next notice wakes.
    fn arm(&mut self);

    /// The same if one late notice is pending, and nothing else.
    fn settle(&mut self);
}

/// The queue of a table that gets no notices.
impl NoticeQueue for () {
    type Notice = Infallible;
    type Seen = ();
    const NONE: () = ();

    #[inline]
    fn is_idle(&self) -> bool {
        true
    }

    #[inline]
    fn pending(&self) -> usize {
        0
    }

    #[inline]
    fn most(&self) -> usize {
        0
    }

    #[inline]
    fn has_late(&self) -> bool {
        false
    }

    fn iter(&self) -> impl Iterator<Item = Infallible> {
        core::iter::empty()
    }

    fn look(&self) -> (usize, ()) {
        (0, ())
    }

    #[inline]
    fn peek(&mut self) -> Option<HashValue> {
        None
    }

    #[inline]
    fn next(&mut self, _: &mut usize) -> Option<Infallible> {
        None
    }

    fn hash(notice: &Infallible) -> HashValue {
        match *notice {}
    }

    fn finish(&mut self, notice: Infallible) {
        match notice {}
    }

    fn shrink_to_fit(&mut self) {}

    #[inline]
    fn waker(&self) -> Option<&Arc<WakerCell>> {
        None
    }

    fn attach(&mut self, _: &Arc<WakerCell>) {}

    #[inline]
    fn arm(&mut self) {}

    #[inline]
    fn settle(&mut self) {}
}
