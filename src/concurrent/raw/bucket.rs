//! A bucket: one cache line of entries, and the buckets chained behind it if there are more.
//!
//! * **B1** The *home* bucket of a hash, and the chain behind it, are changed only by the thread that has locked
//!   the home bucket. The lock is held for a few instructions: no user code runs under it.
//! * **B2** A slot whose tag is zero, or another entry's, may hold anything: readers check the entry. A slot with
//!   an entry has that entry's tag from before the bucket is unlocked until the entry is unlinked.
//! * **B3** A bucket that has moved is never locked again: nothing of its chain changes any more, and later
//!   changes of its entries are in the next array.

use core::ptr;
use std::boxed::Box;

#[cfg(not(weakly_loom))]
use super::seats::SINCE;
use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, relax};

/// Entries of a bucket. With the word of tags and the link they fill a cache line.
pub(super) const SLOTS: usize = if cfg!(weakly_loom) {
    2
} else if cfg!(target_pointer_width = "64") {
    6
} else {
    3
};

/// A thread is changing the chain. The tags are in the low bytes; this bit and `MOVED` are in the highest.
const LOCKED: usize = 1 << (usize::BITS - 1);
/// The chain has moved into the next array.
const MOVED: usize = 1 << (usize::BITS - 2);
const TAGS: usize = (1 << (8 * SLOTS)) - 1;
/// The lowest bit of each tag's byte.
const ONES: usize = (usize::MAX / 255) & TAGS;
const HIGHEST: usize = ONES << 7;

/// The word of a bucket: the tags, a byte of each entry's hash, and for a home bucket its lock.
#[derive(Clone, Copy)]
pub(super) struct Meta(usize);

impl Meta {
    /// A bucket without entries.
    pub(super) const EMPTY: Self = Meta(0);

    #[inline]
    pub(super) fn has_moved(self) -> bool {
        self.0 & MOVED != 0
    }

    /// The slots that may hold an entry of this hash: all that do, and perhaps some more.
    #[inline]
    pub(super) fn candidates(self, hash: u64) -> Candidates {
        // Finds the bytes of `other` that are zero (and, by the borrow, perhaps some above them).
        let other = (self.0 & TAGS) ^ (ONES * tag(hash));
        Candidates(other.wrapping_sub(ONES) & !other & HIGHEST)
    }

    #[inline]
    fn with_tag(self, slot: usize, tag: usize) -> Self {
        let at = 8 * slot;
        Meta(self.0 & !(0xff << at) | tag << at)
    }
}

/// A byte of the hash. The lowest bits choose the bucket. A user's hasher may hash small numbers to themselves;
/// then the highest bits are all zero, hence the multiplication. (The models choose their tags.)
#[inline]
fn tag(hash: u64) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let factor = if cfg!(weakly_loom) { 1 } else { GOLDEN };
    (hash.wrapping_mul(factor) >> 56) as usize
}

/// Slot numbers, lowest first.
pub(super) struct Candidates(usize);

impl Iterator for Candidates {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

#[repr(C, align(64))]
pub(super) struct Bucket<N> {
    meta: AtomicUsize,
    slots: [AtomicPtr<N>; SLOTS],
    /// The next bucket of the chain, or null. Once set, it stays.
    next: AtomicPtr<Bucket<N>>,
}

impl<N> Bucket<N> {
    pub(super) fn new() -> Self {
        // What a hit reads is apart from the era of a seat; see there.
        #[cfg(not(weakly_loom))]
        const {
            assert!(SINCE % align_of::<Self>() >= core::mem::offset_of!(Self, next));
        }
        Bucket {
            meta: AtomicUsize::new(0),
            slots: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline]
    pub(super) fn meta(&self) -> Meta {
        // Acquire: with the unlock, before which the entries were stored (B2), or all of them in the next array if
        // it has moved (B3).
        Meta(self.meta.load(Acquire))
    }

    /// The entry in a slot, or null.
    #[inline]
    pub(super) fn slot(&self, slot: usize) -> *mut N {
        // Acquire: with the store of the slot: the entry is initialised. (The tag that was seen may be an earlier
        // entry's.)
        self.slots[slot].load(Acquire)
    }

    #[inline]
    pub(super) fn next(&self) -> Option<&Self> {
        // Acquire: with `add`: the bucket is initialised. SAFETY: it lasts as long as this one: both go with their
        // array.
        unsafe { self.next.load(Acquire).as_ref() }
    }

    /// This bucket and those chained behind it.
    #[inline]
    pub(super) fn chain(&self) -> impl Iterator<Item = &Self> {
        core::iter::successors(Some(self), |bucket| bucket.next())
    }

    /// The entries of this bucket.
    #[inline]
    pub(super) fn entries(&self) -> impl Iterator<Item = *mut N> {
        let slots = (0..SLOTS).map(|slot| self.slot(slot));
        slots.filter(|node| !node.is_null())
    }

    /// Locks the home bucket, unless it has moved. `seen`: what the caller has read of it.
    #[inline]
    pub(super) fn lock(&self, seen: Meta) -> Option<Locked<'_, N>> {
        let mut seen = seen.0;
        let mut turn = 0;
        loop {
            if seen & MOVED != 0 {
                return None;
            }
            let free = seen & !LOCKED;
            // Acquire: with the last unlock: what was done under the lock before. On failure: what has moved into
            // the next array, where the caller goes on. (With Relaxed, an entry was lost in a model.)
            match self
                .meta
                .compare_exchange(free, free | LOCKED, Acquire, Acquire)
            {
                Ok(_) => {
                    return Some(Locked {
                        home: self,
                        meta: Meta(free),
                    });
                }
                Err(now) if now & LOCKED != 0 => {
                    relax(&mut turn);
                    seen = now;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Appends entries to a chain that no other thread can find yet.
    pub(super) fn fill(&self) -> Fill<'_, N> {
        Fill {
            bucket: self,
            slot: 0,
        }
    }
}

impl<N> Drop for Bucket<N> {
    fn drop(&mut self) {
        // Relaxed: no other thread is there. A loop and no recursion, as the chain may be long.
        let mut next = self.next.load(Relaxed);
        while !next.is_null() {
            // SAFETY: made by `Box`, and owned by the bucket that links to it.
            let mut bucket = unsafe { Box::from_raw(next) };
            next =
                core::mem::replace(&mut bucket.next, AtomicPtr::new(ptr::null_mut())).load(Relaxed);
        }
    }
}

/// A home bucket that this thread has locked, until this is dropped.
pub(super) struct Locked<'a, N> {
    home: &'a Bucket<N>,
    /// The word that is stored on unlock.
    meta: Meta,
}

impl<'a, N> Locked<'a, N> {
    pub(super) fn home(&self) -> &'a Bucket<N> {
        self.home
    }

    /// The tags of a bucket of this chain.
    #[inline]
    pub(super) fn tags(&self, bucket: &Bucket<N>) -> Meta {
        if ptr::eq(bucket, self.home) {
            self.meta
        } else {
            bucket.meta()
        }
    }

    /// Sets a slot of this chain.
    #[inline]
    fn set(&mut self, bucket: &Bucket<N>, slot: usize, node: *mut N, tag: usize) {
        // Release: with `slot`: the entry is initialised. (A reader may have seen an equal tag of an earlier
        // entry.)
        bucket.slots[slot].store(node, Release);
        let meta = self.tags(bucket).with_tag(slot, tag);
        if ptr::eq(bucket, self.home) {
            self.meta = meta;
        } else {
            // Relaxed: a reader that sees the tag and not the entry reads before this; one that comes after the
            // unlock sees both.
            bucket.meta.store(meta.0, Relaxed);
        }
    }

    /// Replaces the entry in a slot by one with the same hash.
    #[inline]
    pub(super) fn replace(&self, bucket: &Bucket<N>, slot: usize, node: *mut N) {
        // Release: with `slot`: the entry is initialised.
        bucket.slots[slot].store(node, Release);
    }

    #[inline]
    pub(super) fn clear(&mut self, bucket: &Bucket<N>, slot: usize) {
        self.set(bucket, slot, ptr::null_mut(), 0);
    }

    /// Puts an entry into a free slot, if there is one, otherwise into the spare bucket, which it appends. False
    /// if that is needed and not there.
    #[inline]
    pub(super) fn add(
        &mut self,
        node: *mut N,
        hash: u64,
        spare: &mut Option<Box<Bucket<N>>>,
    ) -> bool {
        let mut bucket = self.home;
        loop {
            if let Some(slot) = (0..SLOTS).find(|slot| bucket.slot(*slot).is_null()) {
                self.set(bucket, slot, node, tag(hash));
                return true;
            }
            match bucket.next() {
                Some(next) => bucket = next,
                None => break,
            }
        }
        let Some(spare) = spare.take() else {
            return false;
        };
        spare.fill().add(node, hash);
        // Release: with `next`: the bucket is initialised.
        bucket.next.store(Box::into_raw(spare), Release);
        true
    }

    /// Unlocks the bucket and marks it as moved: its entries are in the next array now.
    pub(super) fn moved(mut self) {
        self.meta.0 |= MOVED;
    }
}

impl<N> Drop for Locked<'_, N> {
    #[inline]
    fn drop(&mut self) {
        // Release: with `meta` and `lock`: all that was done under the lock.
        self.home.meta.store(self.meta.0, Release);
    }
}

/// The place of the next entry.
pub(super) struct Fill<'a, N> {
    bucket: &'a Bucket<N>,
    slot: usize,
}

impl<N> Fill<'_, N> {
    pub(super) fn add(&mut self, node: *mut N, hash: u64) {
        if self.slot == SLOTS {
            let next = Box::into_raw(Box::new(Bucket::new()));
            // Relaxed, here and below: whatever lets other threads find the chain is a Release.
            self.bucket.next.store(next, Relaxed);
            // SAFETY: made just now; it goes with its array, which is there.
            self.bucket = unsafe { &*next };
            self.slot = 0;
        }
        let Fill { bucket, slot } = *self;
        let meta = Meta(bucket.meta.load(Relaxed)).with_tag(slot, tag(hash));
        bucket.slots[slot].store(node, Relaxed);
        bucket.meta.store(meta.0, Relaxed);
        self.slot += 1;
    }
}
