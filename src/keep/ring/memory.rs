//! The memory of a ring. Memory is allocated before a lock is taken, and before the ring changes. A
//! ring shrinks as it empties: when three of four slots are free, the items move to memory for
//! twice as many. So the memory of a ring, and the time of a walk over all its slots, are
//! proportional to the number of items, and a removal costs O(1) amortised.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

use super::{Ring, Slot, hash};
use crate::list::{Ends, NONE};
use crate::sync::{missing_in, move_table};

/// A ring of so few slots does not shrink by itself.
const FEW: usize = 16;

/// Memory for the slots and the index of a ring, or memory that a ring has used before.
type RingMemory<X> = (Vec<Slot<X>>, HashTable<u32>);

/// Allocates memory for so many items, if there is any: a ring can do without.
pub(crate) fn allocate<X>(items: usize) -> Option<RingMemory<X>> {
    let (mut slots, mut index) = RingMemory::default();
    slots.try_reserve_exact(items).ok()?;
    let hash = |_: &u32| unreachable!("there is nothing to move");
    index.try_reserve(items, hash).ok()?;
    Some((slots, index))
}

impl<X> Ring<X> {
    /// Makes room for an object, unless the object has a slot. If memory is missing, returns its
    /// size as the error.
    #[inline]
    pub(crate) fn make_room_for(
        &mut self,
        addr: usize,
        memory: &mut RingMemory<X>,
    ) -> Result<(), (usize, usize)> {
        match self.has_room() || self.has(addr) {
            true => Ok(()),
            false => self.grow(memory),
        }
    }

    /// Returns the bytes of the ring's memory.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<Slot<X>>() * self.slots.capacity() + self.index.allocation_size()
    }

    /// Returns whether there is room for one more object.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let has_slot = self.free != NONE || self.slots.len() < self.slots.capacity();
        has_slot && self.index.len() < self.index.capacity()
    }

    /// Returns the sizes that the slots and the index need for one more object: each is zero if the
    /// present memory is large enough.
    fn missing(&self) -> (usize, usize) {
        let (mut slots, len) = (0, self.slots.len());
        if self.free == NONE && len == self.slots.capacity() {
            // One slot more than the limit allows: a new member arrives before the victim leaves.
            // The ring has still more slots only while no thread takes the leaving items.
            let most = self.limit.entries.saturating_add(1);
            let wanted = (2 * len).max(4);
            slots = if len < most { wanted.min(most) } else { wanted };
        }
        (slots, missing_in(&self.index))
    }

    /// Makes room for one more object in `memory`, and leaves the old memory there. If `memory` is
    /// too small, changes nothing, and returns the sizes that are needed as the error.
    #[cold]
    pub(super) fn grow(&mut self, memory: &mut RingMemory<X>) -> Result<(), (usize, usize)> {
        let (slots, index) = self.missing();
        if memory.0.capacity() < slots || memory.1.capacity() < index {
            return Err((slots, index));
        }
        if slots != 0 {
            memory.0.append(&mut self.slots);
            mem::swap(&mut memory.0, &mut self.slots);
        }
        if index != 0 {
            let slots = &self.slots;
            move_table(&mut self.index, &mut memory.1, |at| {
                hash(slots[*at as usize].addr)
            });
        }
        Ok(())
    }

    /// If three of four slots are free, returns the number of items for which to keep memory: twice
    /// the number of the present items.
    #[inline]
    pub(crate) fn size_if_sparse(&self) -> Option<usize> {
        let (items, slots) = (self.index.len(), self.slots.capacity());
        let is_sparse = slots > FEW && items < slots / 4;
        is_sparse.then_some(2 * items)
    }

    /// Returns the number of the present items, if there is more memory.
    pub(crate) fn fitting(&self) -> Option<usize> {
        let items = self.index.len();
        (items < self.slots.capacity()).then_some(items)
    }

    /// Moves all items into `memory`, unless `memory` is too small or not smaller.
    /// Then `memory` has the memory that the ring has left. O(items).
    pub(crate) fn move_into(&mut self, memory: &mut RingMemory<X>) {
        let (slots, index) = memory;
        let room = slots.capacity().min(index.capacity());
        if slots.capacity() >= self.slots.capacity() || room < self.index.len() {
            return;
        }
        let (mut queue, mut leaving, mut by_age) = (Ends::EMPTY, Ends::EMPTY, Ends::EMPTY);
        for (from, to) in [(self.queue, &mut queue), (self.leaving, &mut leaving)] {
            let mut next = from.oldest;
            while next != NONE {
                let slot = &mut self.slots[next as usize];
                let at = slots.len() as u32;
                next = slot.links.newer;
                // The old slot has the new index from now on.
                slot.links.newer = at;
                let kept = slot.kept.take();
                slots.push(Slot { kept, ..*slot });
                to.push(slots, at);
                let rehash = |at: &u32| hash(slots[*at as usize].addr);
                index.insert_unique(hash(slot.addr), at, rehash);
            }
        }
        let moved = |at: u32| {
            let slot = self.slots.get(at as usize);
            slot.map_or(NONE, |slot| slot.links.newer)
        };
        let mut next = self.by_age.oldest;
        while next != NONE {
            by_age.push(slots, moved(next));
            next = self.slots[next as usize].ages.newer;
        }
        (self.hand, self.latest) = (moved(self.hand), moved(self.latest));
        (self.queue, self.leaving, self.by_age) = (queue, leaving, by_age);
        self.free = NONE;
        mem::swap(&mut self.slots, slots);
        mem::swap(&mut self.index, index);
    }

    /// Moves the items into memory for so many items, if there is any.
    #[cold]
    pub(crate) fn shrink(&mut self, items: usize) {
        if let Some(mut memory) = allocate(items) {
            self.move_into(&mut memory);
        }
    }
}
