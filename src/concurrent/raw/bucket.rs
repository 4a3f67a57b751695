//! A bucket: one cache line of entries, and those that follow it if there are more.
//!
//! * **B1** The *home* bucket of a hash, and the chain behind it, are changed by the thread that has locked
//!   the home bucket. The lock is held for some instructions: no code of users runs under it.
//! * **B2** A slot of which the tag is zero, or another's, may hold anything: readers look at the entry. A
//!   slot with an entry has that entry's tag from before the bucket is unlocked to when the entry is unlinked.
//! * **B3** A bucket that has moved is never locked again: nothing of its chain changes any more, and what
//!   became of its entries is in the next array.

use core::ptr;
use std::boxed::Box;

use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicUsize, relax};

/// Entries of a bucket. With the word of tags and the link they are a cache line.
pub(super) const SLOTS: usize = if cfg!(weakly_loom) {
    2
} else if cfg!(target_pointer_width = "64") {
    6
} else {
    3
};

/// Somebody changes the chain. The tags are in the low bytes; this and `MOVED` are in the highest.
const LOCKED: usize = 1 << (usize::BITS - 1);
/// The chain has moved into the next array.
const MOVED: usize = 1 << (usize::BITS - 2);
const TAGS: usize = (1 << (8 * SLOTS)) - 1;
/// One in each byte of a tag.
const ONES: usize = (usize::MAX / 255) & TAGS;
const HIGHEST: usize = ONES << 7;

/// What a home bucket says in one word: the tags, a byte of each entry's hash, and who may change it.
#[derive(Clone, Copy)]
pub(super) struct Meta(usize);

impl Meta {
    /// Without entries.
    pub(super) const EMPTY: Self = Meta(0);

    #[inline]
    pub(super) fn has_moved(self) -> bool {
        self.0 & MOVED != 0
    }

    /// The slots that may hold an entry of this hash: all that do, and perhaps some more.
    #[inline]
    pub(super) fn candidates(self, hash: u64) -> Candidates {
        // The bytes that are zero in `other` (and, by the borrow, perhaps ones above them).
        let other = (self.0 & TAGS) ^ (ONES * tag(hash));
        Candidates(other.wrapping_sub(ONES) & !other & HIGHEST)
    }

    #[inline]
    fn with_tag(self, slot: usize, tag: usize) -> Self {
        let at = 8 * slot;
        Meta(self.0 & !(0xff << at) | tag << at)
    }
}

/// A byte of the hash. The lowest bits choose the bucket; where users hash small numbers to themselves, the
/// highest say nothing, hence the multiplication. (The models choose their tags.)
#[inline]
fn tag(hash: u64) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let factor = if cfg!(weakly_loom) { 1 } else { GOLDEN };
    (hash.wrapping_mul(factor) >> 56) as usize
}

/// Numbers of slots.
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

#[repr(align(64))]
pub(super) struct Bucket<N> {
    meta: AtomicUsize,
    slots: [AtomicPtr<N>; SLOTS],
    /// The chain goes on here. Once there, it stays.
    next: AtomicPtr<Bucket<N>>,
}

impl<N> Bucket<N> {
    pub(super) fn new() -> Self {
        Bucket {
            meta: AtomicUsize::new(0),
            slots: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline]
    pub(super) fn meta(&self) -> Meta {
        // Acquire: whoever unlocked it has stored the entries before (B2), or all of them in the next array,
        // if it has moved (B3).
        Meta(self.meta.load(Acquire))
    }

    /// What is in a slot, or null.
    #[inline]
    pub(super) fn slot(&self, slot: usize) -> *mut N {
        // Acquire: the entry is made. (Its slot may be an earlier one's, whose tag was seen.)
        self.slots[slot].load(Acquire)
    }

    #[inline]
    pub(super) fn next(&self) -> Option<&Self> {
        // Acquire: the bucket is made.
        // SAFETY: it lasts as long as this one: both go with their array.
        unsafe { self.next.load(Acquire).as_ref() }
    }

    /// This bucket and those that follow.
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

    /// Locks the home bucket, of which `seen` was seen, unless it has moved.
    #[inline]
    pub(super) fn lock(&self, seen: Meta) -> Option<Locked<'_, N>> {
        let mut seen = seen.0;
        let mut turn = 0;
        loop {
            if seen & MOVED != 0 {
                return None;
            }
            let free = seen & !LOCKED;
            // Acquire: what whoever had the lock before has done. On failure: what has moved into the next
            // array, where whoever finds that goes on. (Relaxed, an entry was lost in a model.)
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

    /// Puts entries into a chain that nobody else can find yet, behind what is there.
    pub(super) fn fill(&self) -> Fill<'_, N> {
        Fill {
            bucket: self,
            slot: 0,
        }
    }
}

impl<N> Drop for Bucket<N> {
    fn drop(&mut self) {
        // Relaxed: nobody else is there. One after the other, as there may be many.
        let mut next = self.next.load(Relaxed);
        while !next.is_null() {
            // SAFETY: made by `Box`, and owned by the bucket that leads to it.
            let mut bucket = unsafe { Box::from_raw(next) };
            next =
                core::mem::replace(&mut bucket.next, AtomicPtr::new(ptr::null_mut())).load(Relaxed);
        }
    }
}

/// A home bucket that this thread has locked, until this is dropped.
pub(super) struct Locked<'a, N> {
    home: &'a Bucket<N>,
    /// What it will say then.
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
        // Release: the entry is made. (A reader may have seen an earlier entry's tag, the same.)
        bucket.slots[slot].store(node, Release);
        let meta = self.tags(bucket).with_tag(slot, tag);
        if ptr::eq(bucket, self.home) {
            self.meta = meta;
        } else {
            // Relaxed: who sees the tag and not the entry looks before this; who comes after the lock sees both.
            bucket.meta.store(meta.0, Relaxed);
        }
    }

    /// Puts an entry in the place of that in a slot, which has the same hash.
    #[inline]
    pub(super) fn replace(&self, bucket: &Bucket<N>, slot: usize, node: *mut N) {
        // Release: the entry is made.
        bucket.slots[slot].store(node, Release);
    }

    #[inline]
    pub(super) fn clear(&mut self, bucket: &Bucket<N>, slot: usize) {
        self.set(bucket, slot, ptr::null_mut(), 0);
    }

    /// Puts an entry into a free slot, if there is one, or into a new bucket at the end.
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
        // Release: the bucket is made.
        bucket.next.store(Box::into_raw(spare), Release);
        true
    }

    /// Its entries are in the next array now.
    pub(super) fn moved(mut self) {
        self.meta.0 |= MOVED;
    }
}

impl<N> Drop for Locked<'_, N> {
    #[inline]
    fn drop(&mut self) {
        // Release: all that was done under the lock.
        self.home.meta.store(self.meta.0, Release);
    }
}

/// Where the next entry comes.
pub(super) struct Fill<'a, N> {
    bucket: &'a Bucket<N>,
    slot: usize,
}

impl<N> Fill<'_, N> {
    pub(super) fn add(&mut self, node: *mut N, hash: u64) {
        if self.slot == SLOTS {
            let next = Box::into_raw(Box::new(Bucket::new()));
            // Relaxed, here and below: whoever lets others find the chain says so by a Release.
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
