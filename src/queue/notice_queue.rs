//! The interface between a table and its queue of notices.

use alloc::sync::Arc;
use core::convert::Infallible;

use crate::hash::Cookie;
use crate::ptr::WakerCell;

/// Receives the notices of deaths. The defaults are for a collection that gets no notices.
pub trait NoticeQueue: Sized {
    /// A notice of a death.
    type Notice: Copy;

    /// The queue of an empty table.
    const NONE: Self;

    /// Returns whether no notice has come.
    fn is_idle(&self) -> bool {
        true
    }

    /// Returns the number of notices that have come, including late notices.
    fn count(&self) -> usize {
        0
    }

    /// Returns whether there may be late notices, whose entries are gone.
    fn has_late(&self) -> bool {
        false
    }

    /// Iterates over the notices that have come, including late notices.
    fn iter(&self) -> impl Iterator<Item = Self::Notice> {
        core::iter::empty()
    }

    /// Returns the cookie of the next notice, if there is a notice.
    fn peek(&mut self) -> Option<Cookie> {
        None
    }

    /// Takes out the next notice.
    fn next(&mut self) -> Option<Self::Notice> {
        None
    }

    /// Returns the only pending notice, if it may be late.
    fn alone(&mut self) -> Option<Self::Notice> {
        None
    }

    /// Returns the cookie with which the entry of a notice was registered.
    fn cookie(notice: &Self::Notice) -> Cookie;

    /// Finishes a notice that was taken out, and whose entry is unlinked.
    fn finish(&mut self, notice: Self::Notice);

    /// Takes note that a notice was late: it has no entry any more.
    fn was_late(&mut self) {}

    /// Frees memory that no registration needs.
    fn shrink_to_fit(&mut self) {}

    /// Returns the bytes of the queue and of the registrations that have memory of their own.
    fn memory_usage(&self) -> usize {
        0
    }

    /// Returns the cell of the waker, if a waker was ever set.
    fn waker(&self) -> Option<&Arc<WakerCell>> {
        None
    }

    /// Attaches the cell of a waker. Called at most once.
    fn attach(&mut self, _cell: &Arc<WakerCell>) {}

    /// Lets the next notice wake the task, if nothing is pending.
    fn arm(&mut self) {}
}

impl NoticeQueue for () {
    type Notice = Infallible;
    const NONE: () = ();

    fn cookie(notice: &Infallible) -> Cookie {
        match *notice {}
    }

    fn finish(&mut self, notice: Infallible) {
        match notice {}
    }
}
