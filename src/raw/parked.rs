//! The memory of entries that a thread keeps for further entries (E2 of [`plain`](super::plain)).

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr;
use std::boxed::Box;

/// The largest number of parked and spare entries of a thread.
const PARKED: usize = if cfg!(weakly_loom) { 2 } else { 8 };
/// The largest size of all parked and spare entries of a thread, in bytes.
const PARKED_BYTES: usize = 1024;

/// D4: only the thread of the participant uses the memory.
pub(super) struct Parked {
    /// First the spare memory, then the parked entries.
    memory: [Cell<*mut ()>; PARKED],
    spare: Cell<usize>,
    len: Cell<usize>,
}

impl Parked {
    pub(super) fn new() -> Self {
        Parked {
            memory: [const { Cell::new(ptr::null_mut()) }; PARKED],
            spare: Cell::new(0),
            len: Cell::new(0),
        }
    }

    /// Returns whether there is room for an entry of this type.
    #[inline(always)]
    pub(super) fn has_room<N>(&self) -> bool {
        self.len.get() < Self::most::<N>()
    }

    /// Returns how many entries of this type a thread keeps at most.
    pub(super) const fn most<N>() -> usize {
        let most = PARKED_BYTES / size_of::<N>();
        if most < PARKED { most } else { PARKED }
    }

    /// Parks an entry, for which there is room.
    #[inline(always)]
    pub(super) fn park<N>(&self, entry: *mut N) {
        let len = self.len.get();
        self.memory[len].set(entry.cast());
        self.len.set(len + 1);
    }

    /// Keeps spare memory, if there is room.
    #[inline(always)]
    pub(super) fn keep<N>(&self, memory: Box<MaybeUninit<N>>) {
        let (spare, len) = (self.spare.get(), self.len.get());
        if self.has_room::<N>() {
            self.memory[len].set(self.memory[spare].get());
            self.memory[spare].set(Box::into_raw(memory).cast());
            self.spare.set(spare + 1);
            self.len.set(len + 1);
        }
    }

    /// Takes all memory, at the end of the table.
    pub(super) fn take_all<N>(&self) -> impl Iterator<Item = *mut N> {
        let memory = self.memory.iter().take(self.len.take());
        memory.map(|memory| memory.get().cast())
    }

    /// Takes spare memory. Parked entries become spare first, if there are enough, and no thread
    /// looks at them.
    #[inline(always)]
    pub(super) fn take<N>(&self, is_unseen: impl FnOnce() -> bool) -> Option<*mut N> {
        let (mut spare, len) = (self.spare.get(), self.len.get());
        if spare == 0 {
            if len == 0 || self.has_room::<N>() || !is_unseen() {
                return None;
            }
            spare = len;
        }
        let at = &self.memory[spare - 1];
        let memory = at.replace(self.memory[len - 1].get());
        self.spare.set(spare - 1);
        self.len.set(len - 1);
        Some(memory.cast())
    }
}
