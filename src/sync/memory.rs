//! Memory for new elements, allocated before a lock is taken, while nothing has changed yet.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

/// Memory allocated in one call.
pub(crate) trait Memory: Default {
    type Size;

    fn allocate(size: Self::Size) -> Self;
}

impl<T> Memory for Vec<T> {
    type Size = usize;

    fn allocate(size: usize) -> Self {
        Vec::with_capacity(size)
    }
}

/// `None` at first: where there is room, nothing is allocated.
impl<M: Memory> Memory for Option<M> {
    type Size = M::Size;

    fn allocate(size: M::Size) -> Self {
        Some(M::allocate(size))
    }
}

impl<A: Memory, B: Memory> Memory for (A, B) {
    type Size = (A::Size, B::Size);

    fn allocate((a, b): Self::Size) -> Self {
        (A::allocate(a), B::allocate(b))
    }
}

impl<T> Memory for HashTable<T> {
    type Size = usize;

    fn allocate(size: usize) -> Self {
        HashTable::with_capacity(size)
    }
}

/// Returns the capacity that a new table needs for the elements of the old table and one more
/// element, without a further allocation. Returns zero if the old table has room, perhaps only
/// after it moves its elements within its memory: until then removed elements take room.
#[inline]
pub(crate) fn missing_in<T>(table: &HashTable<T>) -> usize {
    match table.len() < table.capacity() {
        true => 0,
        false => missing_in_full(table),
    }
}

/// Returns what [`missing_in`] returns, for a table of which no bucket is free. In such a table,
/// hashbrown moves the elements within the memory if they take at most half of the capacity, since
/// removed elements take the other half; otherwise hashbrown allocates a larger table.
#[cold]
fn missing_in_full<T>(table: &HashTable<T>) -> usize {
    // The capacity without removed elements, computed as in hashbrown.
    let full = match table.num_buckets() {
        few @ 0..=8 => few.saturating_sub(1),
        many => many / 8 * 7,
    };
    let wanted = table.len() + 1;
    match wanted <= full / 2 {
        true => 0,
        false => wanted.max(full + 1),
    }
}

/// Moves the elements of a table into `memory`, which must be large enough.
pub(crate) fn move_table<T>(
    table: &mut HashTable<T>,
    memory: &mut HashTable<T>,
    hash: impl Fn(&T) -> u64,
) {
    for one in table.drain() {
        memory.insert_unique(hash(&one), one, |_| unreachable!("there is room"));
    }
    mem::swap(table, memory);
}

/// Calls the closure until it returns no error. An error is the size of the memory that the closure
/// needs; the memory is allocated between the calls.
pub(crate) fn allocating<M: Memory, R>(mut run: impl FnMut(&mut M) -> Result<R, M::Size>) -> R {
    let mut memory = M::default();
    loop {
        match run(&mut memory) {
            Ok(result) => return result,
            Err(size) => memory = M::allocate(size),
        }
    }
}
