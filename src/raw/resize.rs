//! Growing and shrinking the array.

use core::ptr;

use super::array::Array;
use super::bucket::Spares;
use super::entry::Entry;
use super::table::Writer;

impl<N: Entry> Writer<'_, N> {
    /// Makes room in a full chain: grows an array with too many entries, and allocates a spare
    /// bucket for the chain if there is no next array.
    #[cold]
    #[inline(never)]
    pub(super) fn grow_or_extend(&self, array: &Array<N>, spares: &mut Spares<N>) {
        let first = self.table.array(&self.inside);
        // R3: only the first array grows.
        if first.is_some_and(|first| ptr::eq(first, array))
            && array.is_full_with(self.table.linked())
        {
            array.grow();
        }
        if array.next().is_none() {
            spares.prepare(1);
        }
    }

    /// Frees memory: halves the array while it is longer than its entries need. The array may be
    /// longer again if other threads insert meanwhile. O(capacity).
    pub(crate) fn shrink_to_fit(&self) {
        let mut last = ptr::null();
        while let Some(array) = self.table.array(&self.inside) {
            if ptr::eq(array, last) {
                // Another thread has moved the last group, and is about to unlink the array. Do not
                // wait for the thread.
                return;
            }
            last = array;
            // R3: an unfinished move is finished first.
            if array.next().is_none() {
                if array.len() <= Array::<N>::len_for(self.table.linked()) {
                    return;
                }
                array.shrink();
            }
            if array.next().is_none() {
                // Another thread is about to allocate the next array. Do not wait for the thread.
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

    /// Begins to shrink even if there are too many entries.
    pub(super) fn begin_to_shrink(&self) {
        self.table.array(&self.inside).unwrap().shrink();
    }

    pub(super) fn finish_to_move(&self) {
        for hash in 0..self.buckets() as u64 {
            self.array_for(hash);
        }
    }
}
