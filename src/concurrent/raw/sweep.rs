//! A sweep that goes round a table, a few entries at a time, and never ends.
//!
//! It goes from bucket to bucket, and in a bucket with a long chain from page to page: so it shows a bounded
//! number of entries at a time, however many there are, and however many have the same hash. While entries
//! move into another array it follows them there. An array twice as long is gone round by going on: of an entry
//! that was shown in the first half of the old one, the round may be half as long again.

use core::ops::ControlFlow::{Break, Continue};

use super::array::Array;
use super::entry::Entry;
use super::table::Writer;
use crate::sync::AtomicUsize;
use crate::sync::Ordering::*;
use crate::sync::const_fn;

/// Buckets of a chain that are a page of it: one with some more entries than usual has one page.
const PAGE: usize = 2;
/// Pages that are shown at a time.
const PAGES: usize = 2;

/// How far a sweep has come: the number of the next page.
///
/// It is no more than a hint, so all its accesses are Relaxed: a page that is shown twice, or not in this
/// round, is no harm. On cache lines of its own, for every change moves it, and no reader looks at it.
#[repr(align(128))]
pub(in super::super) struct SweepPosition(AtomicUsize);

impl SweepPosition {
    const_fn! {
        pub(in super::super) fn new() -> SweepPosition {
            SweepPosition(AtomicUsize::new(0))
        }
    }
}

impl<N: Entry> Writer<'_, N> {
    /// Shows the entries of the next pages, and moves the sweep on.
    ///
    /// It moves first: so threads that do this at once are shown different pages, and nobody waits for one
    /// that is being shown some, or has lost its processor.
    pub(in super::super) fn sweep(&self, position: &SweepPosition, mut look: impl FnMut(&N)) {
        let Some(array) = self.array() else { return };
        let mut from = position.0.load(Relaxed);
        loop {
            let to = (0..PAGES).fold(from, |page, _| array.page_after(page));
            match position.0.compare_exchange(from, to, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(now) => from = now,
            }
        }
        for _ in 0..PAGES {
            array.each_of_page(from, &mut |node| {
                // SAFETY: it was linked when we looked, and is not destroyed while we are inside (R3, R4).
                look(unsafe { &*node });
            });
            from = array.page_after(from);
        }
    }
}

impl<N: Entry> Array<N> {
    /// The page that comes after a page, in the order in which a sweep goes round: the next one of a long
    /// chain, or else the first one of the next bucket.
    ///
    /// A page is a number: modulo the length its bucket, and divided by it which page of that chain. After the
    /// array has grown it may be that of another one, so a sweep may miss some pages of that round.
    fn page_after(&self, page: usize) -> usize {
        let index = page & (self.len() - 1);
        let mut rest = PAGE * (page / self.len() + 1);
        let next = self.chain(index, &mut |_, _| {
            if rest == 0 {
                return Break(());
            }
            rest -= 1;
            Continue(())
        });
        let next = match next {
            // (None if there are more pages than numbers for them.)
            Break(()) => page.checked_add(self.len()),
            Continue(()) => None,
        };
        next.unwrap_or((index + 1) & (self.len() - 1))
    }

    /// Shows the entries of a page. Code of users may run meanwhile: no slot is looked at twice.
    fn each_of_page(&self, page: usize, look: &mut impl FnMut(*mut N)) {
        let first = PAGE * (page / self.len());
        let mut at = 0;
        _ = self.chain(page & (self.len() - 1), &mut |bucket, _| {
            if at >= first {
                bucket.entries().for_each(&mut *look);
            }
            at += 1;
            if at == first + PAGE {
                Break(())
            } else {
                Continue(())
            }
        });
    }
}
