//! What a table asks of a queue of notices, whichever it has.

use core::convert::Infallible;

use super::owner::{DeadNotice, DeadQueue, Seen};
use crate::hash::HashValue;
use crate::ptr::Flavour;

/// Where the notices of deaths come in.
pub trait NoticeQueue: Sized {
    /// A notice of a death.
    type Notice: Copy;
    /// How far the notices reached at some time.
    type Seen;

    /// For an empty table.
    const NONE: Self;

    /// Whether no notice has come.
    fn is_idle(&self) -> bool;

    /// How many entries have a notice.
    fn pending(&self) -> usize;

    /// The notices that have an entry.
    fn iter(&self) -> impl Iterator<Item = Self::Notice>;

    /// Marks what has come; and how many of those have an entry.
    fn look(&self) -> (usize, Self::Seen);

    /// The hash of the entry of the next notice, if that is at hand.
    fn peek(&mut self) -> Option<HashValue>;

    /// The next notice.
    fn next(&mut self) -> Option<Self::Notice>;

    /// The hash of the entry.
    fn hash(notice: &Self::Notice) -> HashValue;

    /// The entry of a notice is unlinked.
    fn finish(&mut self, notice: Self::Notice);
}

/// Nobody announces anything.
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
    fn next(&mut self) -> Option<Infallible> {
        None
    }

    fn hash(notice: &Infallible) -> HashValue {
        match *notice {}
    }

    fn finish(&mut self, notice: Infallible) {
        match notice {}
    }
}

impl<F: Flavour> NoticeQueue for DeadQueue<F> {
    type Notice = DeadNotice<F>;
    type Seen = Seen;
    const NONE: Self = DeadQueue::new();

    #[inline]
    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn pending(&self) -> usize {
        self.pending()
    }

    fn iter(&self) -> impl Iterator<Item = DeadNotice<F>> {
        self.iter()
    }

    fn look(&self) -> (usize, Seen) {
        let seen = self.look();
        (seen.total(), seen)
    }

    #[inline]
    fn peek(&mut self) -> Option<HashValue> {
        self.peek()
    }

    #[inline(always)]
    fn next(&mut self) -> Option<DeadNotice<F>> {
        self.next()
    }

    #[inline]
    fn hash(notice: &DeadNotice<F>) -> HashValue {
        notice.hash()
    }

    #[inline]
    fn finish(&mut self, notice: DeadNotice<F>) {
        self.finish(notice);
    }
}
