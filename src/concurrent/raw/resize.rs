//! When an array is too short, or too long.

use core::ptr;
use std::boxed::Box;

use super::array::Array;
use super::bucket::Bucket;
use super::entry::Entry;
use super::table::Writer;

impl<N: Entry> Writer<'_, N> {
    /// A chain is full: the array is to grow, or if that is not what it needs, the chain.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, array: &Array<N>, spare: &mut Option<Box<Bucket<N>>>) {
        let first = self.table.array(&self.inside);
        // One array after the other (R3).
        if first.is_some_and(|first| ptr::eq(first, array)) && array.is_full_with(self.table.len())
        {
            array.grow();
        }
        if array.next().is_none() {
            *spare = Some(Box::new(Bucket::new()));
        }
    }

    /// Gives memory back: halves the array as long as it is longer than its entries want it. What others put
    /// in meanwhile may make it longer again. O(capacity).
    pub(in super::super) fn shrink_to_fit(&self) {
        let mut last = ptr::null();
        while let Some(array) = self.table.array(&self.inside) {
            if ptr::eq(array, last) {
                // Another thread has moved the last of it, and is about to unlink it: likewise.
                return;
            }
            last = array;
            // A move that is under way is finished first: one array after the other (R3).
            if array.next().is_none() {
                if array.len() <= Array::<N>::len_for(self.table.len()) {
                    return;
                }
                array.shrink();
            }
            if array.next().is_none() {
                // Another thread is about to make it: nobody waits for that.
                return;
            }
            for hash in 0..array.len() as u64 {
                self.array_for(hash);
            }
        }
    }
}

#[cfg(all(test, weakly_loom))]
impl<N: Entry> Writer<'_, N> {
    pub(super) fn buckets(&self) -> usize {
        self.table.array(&self.inside).map_or(0, Array::len)
    }

    /// Though there may be too many entries.
    pub(super) fn begin_to_shrink(&self) {
        self.table.array(&self.inside).unwrap().shrink();
    }

    pub(super) fn finish_to_move(&self) {
        for hash in 0..self.buckets() as u64 {
            self.array_for(hash);
        }
    }
}
