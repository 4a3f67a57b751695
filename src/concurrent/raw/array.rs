//! An array of buckets, and the move of its entries into one twice or half as long.

use core::ops::ControlFlow::{self, Continue};
use core::ptr;
use std::boxed::Box;

use super::bucket::{Bucket, Locked, Meta, SLOTS};
use super::entry::Entry;
use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, Live, first_load};

/// Buckets of the first array.
pub(super) const MIN_LEN: usize = if cfg!(weakly_loom) { 1 } else { 4 };
/// The average number of entries per bucket above which an array is too short.
const MAX_LOAD: usize = if SLOTS == 6 { 4 } else { SLOTS - 1 };
/// The most buckets that one operation moves, besides its own.
const SHARE: usize = if cfg!(weakly_loom) { 1 } else { 32 };

pub(super) struct Array<N> {
    /// A power of two.
    buckets: Box<[Bucket<N>]>,
    /// The array to which the entries are moving, or null.
    next: AtomicPtr<Array<N>>,
    /// Whether a thread is allocating `next`, or has done so.
    moving: AtomicUsize,
    /// The next group to be moved, modulo the number of groups.
    cursor: AtomicUsize,
    /// How many groups have been moved.
    moved: AtomicUsize,
    live: Live,
}

impl<N> Array<N> {
    pub(super) fn new(len: usize) -> Self {
        debug_assert!(len.is_power_of_two());
        Array {
            buckets: (0..len).map(|_| Bucket::new()).collect(),
            next: AtomicPtr::new(ptr::null_mut()),
            moving: AtomicUsize::new(0),
            cursor: AtomicUsize::new(0),
            moved: AtomicUsize::new(0),
            live: Live::new(),
        }
    }

    /// How many buckets so many entries want.
    pub(super) fn len_for(entries: usize) -> usize {
        let buckets = entries.div_ceil(MAX_LOAD).next_power_of_two();
        buckets.max(MIN_LEN)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.live.check();
        self.buckets.len()
    }

    pub(super) fn is_full_with(&self, entries: usize) -> bool {
        entries > self.len() * MAX_LOAD
    }

    #[inline]
    fn index(&self, hash: u64) -> usize {
        hash as usize & (self.len() - 1)
    }

    /// The home bucket of a hash.
    #[inline]
    pub(super) fn home(&self, hash: u64) -> &Bucket<N> {
        &self.buckets[self.index(hash)]
    }

    pub(super) fn bucket(&self, index: usize) -> &Bucket<N> {
        &self.buckets[index]
    }

    /// The array to which the entries of this one are moving, if they are.
    #[inline]
    pub(super) fn next(&self) -> Option<&Self> {
        // SAFETY: R3: it is retired later than this array, so it lasts as long as any thread looks at this one.
        unsafe { self.next_ptr().as_ref() }
    }

    #[inline]
    pub(super) fn next_ptr(&self) -> *mut Self {
        // Acquire: with `begin_move`: the array is initialised.
        self.next.load(Acquire)
    }

    /// Allocates the array to which the entries are to move, twice or half as long, unless another thread does.
    /// Does not wait for that thread.
    #[cold]
    fn begin_move(&self, len: usize) {
        // Relaxed: it only decides which thread is first. The array is published below.
        if self.moving.swap(1, Relaxed) == 0 {
            let next = Box::into_raw(Box::new(Array::new(len)));
            // Release: with `next_ptr`: the array is initialised.
            self.next.store(next, Release);
        }
    }

    pub(super) fn grow(&self) {
        self.begin_move(2 * self.len());
    }

    pub(super) fn shrink(&self) {
        self.begin_move(self.len() / 2);
    }

    /// How many groups of buckets move together. The buckets of a group share their entries' destination.
    #[inline]
    fn groups(&self, next: &Self) -> usize {
        self.len().min(next.len())
    }

    /// Frees an array that no thread looks at any more. Its entries are not ended.
    ///
    /// # Safety
    /// It comes from `Box::into_raw`, and no thread uses it any more.
    pub(super) unsafe fn destroy(this: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            (*this).live.end();
            crate::sync::free(ptr::NonNull::new_unchecked(this));
        }
    }
}

impl<N: Entry> Array<N> {
    /// Moves the group of a hash's home bucket, and a share of the others. Returns true in the thread that moves
    /// the last.
    #[cold]
    #[inline(never)]
    pub(super) fn help(&self, next: &Self, hash: u64) -> bool {
        // Acquire: with the AcqRel below: a thread that goes on to the next array finds there what others have
        // moved. (A model found that. With Relaxed, an empty bucket could be used that others had filled with
        // entries of tag zero.)
        let groups = self.groups(next);
        if self.moved.load(Acquire) == groups {
            return false;
        }
        let mut moved = usize::from(self.move_group(next, self.index(hash) & (groups - 1)));
        // Relaxed: it only distributes the work. It goes round, so that no thread waits for one that has claimed a
        // share and lost its processor.
        let from = self.cursor.fetch_add(SHARE, Relaxed);
        for at in 0..SHARE.min(groups) {
            let group = from.wrapping_add(at) & (groups - 1);
            moved += usize::from(self.move_group(next, group));
        }
        // AcqRel: with itself: the last thread acquires what all others have put into the next array.
        moved != 0 && self.moved.fetch_add(moved, AcqRel) + moved == groups
    }

    /// Moves a bucket, or two that become one, unless that has been done. When this returns, they have moved.
    fn move_group(&self, next: &Self, index: usize) -> bool {
        let bucket = &self.buckets[index];
        let Some(locked) = bucket.lock(first_load(Meta::EMPTY, || bucket.meta())) else {
            return false;
        };
        if next.len() < self.len() {
            self.join(next, index, locked);
        } else {
            self.split(next, index, locked);
        }
        true
    }

    /// Moves two buckets, of which the lower is locked, into one.
    ///
    /// Every mover locks the lower bucket first, and other threads lock only one: so there is no cycle of waits.
    /// The higher is marked as moved before the lower: so a thread that finds the lower moved goes on in the next
    /// array for both (R4).
    fn join(&self, next: &Self, index: usize, low: Locked<'_, N>) {
        let bucket = &self.buckets[index + next.len()];
        let Some(high) = bucket.lock(first_load(Meta::EMPTY, || bucket.meta())) else {
            unreachable!("it has moved, but the lower bucket of its group has not")
        };
        // No other thread finds this bucket before an unlock marks its source as moved. All that belongs here
        // comes from these two.
        let mut to = next.buckets[index].fill();
        let buckets = low.home().chain().chain(high.home().chain());
        for node in buckets.flat_map(Bucket::entries) {
            // SAFETY: it is in the table, and no thread unlinks it: we have both locks.
            to.add(node, unsafe { &*node }.hash());
        }
        high.moved();
        low.moved();
    }

    /// Moves the entries of a locked bucket into two.
    fn split(&self, next: &Self, index: usize, locked: Locked<'_, N>) {
        // No other thread finds these buckets before the unlock marks their source as moved. All that belongs here
        // comes from that.
        let low = &next.buckets[index];
        let high = &next.buckets[index + self.len()];
        let (mut to_low, mut to_high) = (low.fill(), high.fill());
        for node in locked.home().chain().flat_map(Bucket::entries) {
            // SAFETY: it is in the table, and no thread unlinks it: we have its lock.
            let hash = unsafe { &*node }.hash();
            let to = if hash as usize & self.len() == 0 {
                &mut to_low
            } else {
                &mut to_high
            };
            to.add(node, hash);
        }
        locked.moved();
    }

    /// Visits all entries that belong to a bucket, wherever they are by now.
    pub(super) fn each(&self, index: usize, look: &mut impl FnMut(*mut N)) {
        _ = self.chain(index, &mut |bucket, part| {
            for node in bucket.entries() {
                // SAFETY: the caller may look at what is linked.
                if part.has(unsafe { &*node }.hash()) {
                    look(node);
                }
            }
            Continue(())
        });
    }

    /// Visits the buckets in which the entries of a bucket are by now, one after the other, and passes which part
    /// of each that is. (If two buckets have become one, it has the other's entries too.)
    pub(super) fn chain(
        &self,
        index: usize,
        look: &mut impl FnMut(&Bucket<N>, Part) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let len = self.len();
        self.chain_of(Part { index, len }, look)
    }

    /// However often the arrays have grown and shrunk since, a part is found in one bucket of an array that is not
    /// longer than the one by which it was divided. So the work is that of the longest array, and the recursion is
    /// as deep as that array has more bits.
    fn chain_of(
        &self,
        part: Part,
        look: &mut impl FnMut(&Bucket<N>, Part) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut array = self;
        loop {
            let len = array.len();
            if len > part.len {
                let mut parts = (part.index..len).step_by(part.len);
                return parts.try_for_each(|index| array.chain_of(Part { index, len }, look));
            }
            let bucket = array.bucket(part.index & (len - 1));
            if !bucket.meta().has_moved() {
                return bucket.chain().try_for_each(|bucket| look(bucket, part));
            }
            array = array
                .next()
                .expect("a bucket has moved, but there is no next array");
        }
    }
}

/// The entries of one bucket of an array of this length.
#[derive(Clone, Copy)]
pub(super) struct Part {
    index: usize,
    len: usize,
}

impl Part {
    #[inline]
    fn has(self, hash: u64) -> bool {
        hash as usize & (self.len - 1) == self.index
    }
}
