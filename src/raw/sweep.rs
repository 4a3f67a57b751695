//! A sweep that goes round a table for ever, a few entries at a time; and a sweep over all entries
//! of one hash.
//!
//! The sweep goes from bucket to bucket, and within a long chain from page to page. So it visits a
//! bounded number of entries at a time, whatever the number of entries and of equal hashes. While
//! entries move into another array, the sweep follows them there. When the array doubles, the sweep
//! goes on from its position: a round may then be half as long again for an entry visited in the
//! first half of the old array.

use core::ops::ControlFlow::{Break, Continue};
use core::ptr;
use std::vec::Vec;

use super::array::Array;
use super::bucket::{Bucket, SLOTS};
use super::dead::untie;
use super::entry::Entry;
use super::table::{Located, Writer};
use crate::sync::AtomicUsize;
use crate::sync::Ordering::*;
use crate::sync::{const_fn, prefetch};

/// The number of buckets of a chain in one page. A bucket with only a few extra entries is still
/// one page.
const PAGE: usize = 2;
/// The number of pages visited at a time.
const PAGES: usize = 2;

/// The position of a sweep: the number of the next page.
///
/// The position is only a hint, so all accesses are Relaxed: visiting a page twice, or missing a
/// page in one round, does no harm. On separate cache lines, because every change moves the
/// position and no reader reads it.
#[repr(align(128))]
pub(crate) struct SweepPosition(AtomicUsize);

impl SweepPosition {
    const_fn! {
        pub(crate) fn new() -> SweepPosition {
            SweepPosition(AtomicUsize::new(0))
        }
    }
}

impl<N: Entry> Writer<'_, N> {
    /// Visits the entries of the next pages, and advances the sweep.
    ///
    /// The position advances first. So concurrent sweeps visit different pages, and no thread waits
    /// for a thread that is visiting pages or was preempted.
    pub(crate) fn sweep(&self, position: &SweepPosition, mut look: impl FnMut(&N)) {
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
                // SAFETY: R3, R4: the entry was linked when the thread looked, and is not destroyed
                // while the thread is inside.
                look(unsafe { &*node });
            });
            from = array.page_after(from);
        }
    }

    /// Returns how many sweeps pass over all buckets. (Pages of long chains are partly left to
    /// later sweeps.)
    pub(crate) fn sweeps_around(&self) -> usize {
        self.array().map_or(0, |array| array.len().div_ceil(PAGES))
    }

    /// Prefetches the bucket of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(array) = self.array() {
            prefetch(ptr::from_ref(array.home(hash)).cast());
        }
    }

    /// Prefetches the entries of a hash, whose bucket has been loaded by now.
    #[inline]
    pub(crate) fn prefetch_entries(&self, hash: u64) {
        if let Some(array) = self.array() {
            let home = array.home(hash);
            for slot in home.meta().candidates(hash) {
                prefetch(home.slot(slot).cast());
            }
        }
    }

    /// Unlinks the entries with this hash that are `unwanted`, and passes each to `removed`, which
    /// must not panic. `again`: also unwanted entries that replace them meanwhile; then `unwanted`
    /// may be called again when other threads change the table. O(entries of that hash).
    pub(crate) fn remove_all(
        &self,
        hash: u64,
        again: bool,
        mut unwanted: impl FnMut(&N) -> bool,
        removed: impl FnMut(&N),
    ) {
        let slots = |bucket: &Bucket<N>| bucket.meta().candidates(hash);
        let unwanted = |there: &N| there.hash() == hash && unwanted(there);
        self.remove_from(hash, slots, again, unwanted, removed);
    }

    /// Unlinks all entries that are `unwanted`, as [`remove_all`](Self::remove_all) does for one
    /// hash: bucket by bucket. O(capacity).
    pub(crate) fn remove_everywhere(
        &self,
        again: bool,
        mut unwanted: impl FnMut(&N) -> bool,
        mut removed: impl FnMut(&N),
    ) {
        self.each_bucket(|hash| {
            self.remove_from(hash, |_| 0..SLOTS, again, &mut unwanted, &mut removed);
        });
    }

    /// Unlinks the entries that are `unwanted`, as [`remove_all`](Self::remove_all) does, among the
    /// entries in the given slots of the chain of a hash.
    fn remove_from<I: Iterator<Item = usize>>(
        &self,
        hash: u64,
        slots: impl Fn(&Bucket<N>) -> I,
        again: bool,
        mut unwanted: impl FnMut(&N) -> bool,
        mut removed: impl FnMut(&N),
    ) {
        while let Some(array) = self.array_for(hash) {
            let home = array.home(hash);
            let mut seen = home.meta();
            // R2
            let mut places = Vec::new();
            for bucket in home.chain() {
                for slot in slots(bucket) {
                    let node = bucket.slot(slot);
                    if !node.is_null() {
                        places.push(Located::new(home, bucket, slot, node));
                    }
                }
            }
            // `unwanted` may be user code: it is not asked about the entries that it inserts.
            places.retain(|place| unwanted(place.get()));
            self.inside.make_room_to_retire(places.len());
            let mut replaced = false;
            let has_moved = loop {
                if places.is_empty() {
                    break false;
                }
                let Some(mut locked) = home.lock(seen) else {
                    break true;
                };
                let found = places.len();
                places.retain(Located::is_linked);
                // The replacing entry may be unwanted, too, for example the value that replaced a
                // reservation.
                replaced |= places.len() != found;
                // The first entry with an open token, and the entries behind it, wait until the
                // token is closed.
                let (mut clear, mut tied) = (0, None);
                for place in &places {
                    match untie(place.get()) {
                        Ok(()) => locked.clear(place.bucket, place.slot),
                        Err(token) => {
                            tied = Some(token);
                            break;
                        }
                    }
                    clear += 1;
                }
                drop(locked);
                for place in places.drain(..clear) {
                    self.inside.count(place.get().is_counted(), -1);
                    // SAFETY: unlinked by the calling thread, under the lock.
                    unsafe { self.retire(place.node) };
                    removed(place.get());
                }
                let Some(token) = tied else { continue };
                self.inside.close(token);
                seen = home.meta();
            };
            if !(has_moved || replaced && again) {
                return;
            }
        }
    }
}

impl<N: Entry> Array<N> {
    /// Returns the page that follows a page in the order of a sweep: the next page of a long chain,
    /// otherwise the first page of the next bucket.
    ///
    /// A page is a number. Modulo the length of the array, the number is the index of a bucket;
    /// divided by the length, it is the page's place in the chain. After the array has grown the
    /// number may stand for another page, so the round may miss some pages.
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
            // `None` if the number of the page would overflow.
            Break(()) => page.checked_add(self.len()),
            Continue(()) => None,
        };
        next.unwrap_or((index + 1) & (self.len() - 1))
    }

    /// Visits the entries of a page. User code may run meanwhile: no slot is read twice.
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
