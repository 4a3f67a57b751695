//! Which stretches of a large table have no entry, as far as `pop` has found out: it passes by
//! these. Else each `pop` of a queue that is short, in a table that was long, would pass over most
//! of the buckets.

use alloc::vec;
use alloc::vec::Vec;

/// How many buckets a mark stands for.
pub(super) const STRETCH: usize = 64;
/// How many a word of marks stands for.
const OF_WORD: usize = STRETCH * u64::BITS as usize;

/// A mark for each stretch in which there may be an entry; none at all, where nothing is known.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    pub(super) const NONE: Self = Marks(Vec::new());

    /// Whether anything is known. Of most tables nothing is.
    #[inline]
    pub(super) fn are_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// An entry comes into this bucket.
    #[cold]
    #[inline(never)]
    pub(super) fn set(&mut self, bucket: usize) {
        if let Some(word) = self.0.get_mut(bucket / OF_WORD) {
            *word |= bit_of(bucket);
        }
    }

    /// There is no entry in the stretch that begins here, in a table of so many buckets.
    pub(super) fn clear(&mut self, bucket: usize, buckets: usize) {
        if self.0.is_empty() {
            self.0 = vec![u64::MAX; buckets.div_ceil(OF_WORD)];
        }
        if let Some(word) = self.0.get_mut(bucket / OF_WORD) {
            *word &= !bit_of(bucket);
        }
    }

    /// The entries are about to move.
    pub(super) fn forget(&mut self) {
        *self = Self::NONE;
    }

    /// Where the next stretch begins that may have an entry, from the one on that begins here. Past
    /// the end if there is none.
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

fn bit_of(bucket: usize) -> u64 {
    1 << (bucket / STRETCH % u64::BITS as usize)
}
