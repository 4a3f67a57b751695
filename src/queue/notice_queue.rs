//! The interface between a table and its queue of notices.

use alloc::sync::Arc;
use core::convert::Infallible;

use crate::hash::Cookie;
use crate::ptr::WakerCell;

/// Receives the notices of deaths. The defaults are for a collection that gets no notices.
pub trait NoticeQueue: Sized {
    /// A notice of a death.
    type Notice: Copy;
    /// The position of the newest notice at the time of a [`look`](Self::look).
    type Seen;

    /// The queue of an empty table.
    const NONE: Self;

    /// Returns whether no notice has come.
    fn is_idle(&self) -> bool {
        true
    }

    /// Returns the number of entries with a notice pending.
    fn pending(&self) -> usize {
        0
    }

    /// Returns the number of notices that have come, including late notices.
    fn most(&self) -> usize {
        0
    }

    /// Returns whether there may be late notices.
    fn has_late(&self) -> bool {
        false
    }

    /// Iterates over the notices whose entries are still in the table.
    fn iter(&self) -> impl Iterator<Item = Self::Notice> {
        core::iter::empty()
    }

    /// Marks the notices that have come. Returns the number of marked notices whose entries are
    /// still in the table, and the position of the newest.
    fn look(&self) -> (usize, Self::Seen);

    /// Returns the cookie of the next notice, if there is a notice.
    fn peek(&mut self) -> Option<Cookie> {
        None
    }

    /// Takes out the next notice whose entry is still in the table. Takes at most `left` notices in
    /// all, including late notices, and subtracts their number from `left`.
    fn next(&mut self, _left: &mut usize) -> Option<Self::Notice> {
        None
    }

    /// Returns the cookie with which the entry of a notice was registered.
    fn cookie(notice: &Self::Notice) -> Cookie;

    /// Finishes a notice whose entry is unlinked.
    fn finish(&mut self, notice: Self::Notice);

    /// Frees memory that no registration needs.
    fn shrink_to_fit(&mut self) {}

    /// Returns the cell of the waker, if a waker was ever set.
    fn waker(&self) -> Option<&Arc<WakerCell>> {
        None
    }

    /// Attaches the cell of a waker. Called at most once.
    fn attach(&mut self, _cell: &Arc<WakerCell>) {}

    /// Lets the next notice wake the task, if nothing is pending.
    fn arm(&mut self) {}

    /// Like [`arm`](Self::arm), but also if a single late notice is pending, and nothing else.
    fn settle(&mut self) {}
}

impl NoticeQueue for () {
    type Notice = Infallible;
    type Seen = ();
    const NONE: () = ();

    fn look(&self) -> (usize, ()) {
        (0, ())
    }

    fn cookie(notice: &Infallible) -> Cookie {
        match *notice {}
    }

    fn finish(&mut self, notice: Infallible) {
        match notice {}
    }
}
