//! Marks for the stretches of a large table that may have an entry: `pop` skips all other
//! stretches. A table that was long once, and is used as a short queue now, has few entries in many
//! buckets: without the marks, each `pop` would visit most of the buckets.

use alloc::vec;
use alloc::vec::Vec;

/// The number of buckets that a mark stands for.
pub(super) const STRETCH: usize = 64;
/// The number of buckets that a word of marks stands for.
const OF_WORD: usize = STRETCH * u64::BITS as usize;

/// Notes that insertions make.
pub(super) struct Hints {
    /// The address at which the buckets end and their tags begin, as of the last insertion: for
    /// [`prefetch`](super::Table::prefetch).
    pub(super) tags: usize,
    /// The stretches that a [`pop`](super::Table::pop) may skip.
    pub(super) marks: Marks,
}

impl Hints {
    pub(super) const NONE: Self = Hints {
        tags: 0,
        marks: Marks::NONE,
    };
}

/// One mark for each stretch, set if the stretch may have an entry. Empty if nothing is known.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    pub(super) const NONE: Self = Marks(Vec::new());

    /// Returns whether anything is known. In most tables, nothing is known.
    #[inline]
    pub(super) fn are_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Notes that an entry is inserted into this bucket.
    #[cold]
    #[inline(never)]
    pub(super) fn set(&mut self, bucket: usize) {
        if let Some(word) = self.0.get_mut(bucket / OF_WORD) {
            *word |= bit_of(bucket);
        }
    }

    /// Notes that the stretch beginning at `bucket` has no entry, in a table of `buckets` buckets.
    pub(super) fn clear(&mut self, bucket: usize, buckets: usize) {
        if self.0.is_empty() {
            self.0 = vec![u64::MAX; buckets.div_ceil(OF_WORD)];
        }
        if let Some(word) = self.0.get_mut(bucket / OF_WORD) {
            *word &= !bit_of(bucket);
        }
    }

    /// Forgets all marks: the entries are about to move.
    pub(super) fn forget(&mut self) {
        *self = Self::NONE;
    }

    /// Returns the first bucket of the next stretch that may have an entry. The search begins with
    /// the stretch at `bucket`. Returns a number past the end if there is no such stretch.
    pub(super) fn next(&self, bucket: usize) -> usize {
        let mut at = bucket / OF_WORD;
        let Some(word) = self.0.get(at) else {
            return bucket;
        };
        let mut word = word & !(bit_of(bucket) - 1);
        while word == 0 {
            at += 1;
            match self.0.get(at) {
                Some(next) => word = *next,
                None => return usize::MAX,
            }
        }
        at * OF_WORD + word.trailing_zeros() as usize * STRETCH
    }
}

/// Returns the bit of a bucket's stretch, in the word of the bucket's marks.
fn bit_of(bucket: usize) -> u64 {
    1 << (bucket / STRETCH % u64::BITS as usize)
}
