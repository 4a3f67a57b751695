//! The memory of a ring. Memory is allocated before a lock is taken, and before the ring changes. A
//! ring shrinks as it empties: when three of four slots are free, the items move to memory for
//! twice as many. So the memory of a ring, and the time of a walk over all its slots, are
//! proportional to the number of items, and a removal costs O(1) amortised.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

use super::super::limit::Limit;
use super::{Ring, Slot, hash};
use crate::list::{EMPTY, Links, NONE, UNLINKED};
use crate::sync::{Memory, missing_in, move_table};

/// A ring of so few slots does not shrink by itself.
const FEW: usize = 16;

/// Memory for a ring, or memory that a ring has used before.
pub(crate) struct RingMemory<X> {
    slots: Vec<Slot<X>>,
    ages: Vec<Links>,
    index: HashTable<u32>,
}

/// The capacities of new memory, in elements. Zero if the present memory is large enough.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct RingSize {
    slots: usize,
    ages: usize,
    index: usize,
}

impl<X> Default for RingMemory<X> {
    fn default() -> Self {
        Self::allocate(RingSize::default())
    }
}

impl<X> Memory for RingMemory<X> {
    type Size = RingSize;

    fn allocate(size: RingSize) -> Self {
        RingMemory {
            slots: Vec::with_capacity(size.slots),
            ages: Vec::with_capacity(size.ages),
            index: HashTable::with_capacity(size.index),
        }
    }
}

impl<X> RingMemory<X> {
    /// Allocates memory that can be done without.
    pub(crate) fn try_allocate(size: RingSize) -> Option<Self> {
        let mut memory = RingMemory::default();
        memory.slots.try_reserve_exact(size.slots).ok()?;
        memory.ages.try_reserve_exact(size.ages).ok()?;
        let hash = |_: &u32| unreachable!("there is nothing to move");
        memory.index.try_reserve(size.index, hash).ok()?;
        Some(memory)
    }

    fn suffices(&self, size: RingSize) -> bool {
        self.slots.capacity() >= size.slots
            && self.ages.capacity() >= size.ages
            && self.index.capacity() >= size.index
    }
}

impl<X> Ring<X> {
    /// Makes room for an object, unless the object has a slot. If memory is missing, returns its
    /// size as the error.
    #[inline]
    pub(crate) fn make_room_for(
        &mut self,
        addr: usize,
        memory: &mut Option<RingMemory<X>>,
    ) -> Result<(), RingSize> {
        match self.has_room() || self.has(addr) {
            true => Ok(()),
            false => self.grow(memory),
        }
    }

    /// Returns the bytes of the ring's memory.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<Slot<X>>() * self.slots.capacity()
            + size_of::<Links>() * self.ages.capacity()
            + self.index.allocation_size()
    }

    /// Returns whether there is room for one more object.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let has_slot = self.free != NONE || self.slots.len() < self.slots.capacity();
        let has_age = !self.has_ages() || self.ages.capacity() >= self.slots.capacity();
        has_slot && has_age && self.index.len() < self.index.capacity()
    }

    /// Returns the size of the memory for one more object.
    fn missing(&self) -> RingSize {
        let len = self.slots.len();
        let mut size = RingSize {
            index: missing_in(&self.index),
            ..RingSize::default()
        };
        if self.free == NONE && len == self.slots.capacity() {
            // One slot more than the limit allows: a new member arrives before the victim leaves.
            // The ring has still more slots only while no thread takes the leaving items.
            let most = self.limit.entries.saturating_add(1);
            let wanted = (2 * len).max(4);
            size.slots = if len < most { wanted.min(most) } else { wanted };
        }
        let capacity = size.slots.max(self.slots.capacity());
        if self.has_ages() && self.ages.capacity() < capacity {
            size.ages = capacity;
        }
        size
    }

    #[cold]
    pub(super) fn grow(&mut self, memory: &mut Option<RingMemory<X>>) -> Result<(), RingSize> {
        let size = self.missing();
        if size == RingSize::default() {
            return Ok(());
        }
        let memory = memory
            .as_mut()
            .filter(|memory| memory.suffices(size))
            .ok_or(size)?;
        if size.slots != 0 {
            memory.slots.append(&mut self.slots);
            mem::swap(&mut memory.slots, &mut self.slots);
        }
        if size.ages != 0 {
            memory.ages.append(&mut self.ages);
            mem::swap(&mut memory.ages, &mut self.ages);
        }
        if size.index != 0 {
            let slots = &self.slots;
            move_table(&mut self.index, &mut memory.index, |at| {
                hash(slots[*at as usize].addr)
            });
        }
        Ok(())
    }

    /// Returns the size of memory for twice as many items as there are, if three of four slots are
    /// free.
    #[inline]
    pub(crate) fn sparse(&self) -> Option<RingSize> {
        let (items, slots) = (self.index.len(), self.slots.capacity());
        let is_sparse = slots > FEW && items < slots / 4;
        is_sparse.then(|| self.size_for(2 * items))
    }

    /// Returns the size of memory for the present items, if there is more memory.
    pub(crate) fn fitting(&self) -> Option<RingSize> {
        let items = self.index.len();
        (items < self.slots.capacity()).then(|| self.size_for(items))
    }

    fn size_for(&self, items: usize) -> RingSize {
        RingSize {
            slots: items,
            ages: if self.has_ages() { items } else { 0 },
            index: items,
        }
    }

    /// Moves all items into `memory`, unless `memory` is too small or not smaller.
    /// Then `memory` has the memory that the ring has left. O(items).
    pub(crate) fn move_into(&mut self, memory: &mut RingMemory<X>) {
        let is_smaller = memory.slots.capacity() < self.slots.capacity();
        let suffices = memory.suffices(self.size_for(self.index.len()));
        if !is_smaller || !suffices {
            return;
        }
        let [mut queue, mut leaving, mut by_age] = [EMPTY; 3];
        for (from, to) in [(self.queue, &mut queue), (self.leaving, &mut leaving)] {
            let mut next = from.oldest;
            while next != NONE {
                let slot = &mut self.slots[next as usize];
                let at = memory.slots.len() as u32;
                next = slot.links.newer;
                // The old slot has the new index from now on.
                slot.links.newer = at;
                let kept = slot.kept.take();
                memory.slots.push(Slot { kept, ..*slot });
                to.push(&mut memory.slots, at);
                let slots = &memory.slots;
                let rehash = |at: &u32| hash(slots[*at as usize].addr);
                (memory.index).insert_unique(hash(slots[at as usize].addr), at, rehash);
            }
        }
        let moved = |at: u32| match self.slots.get(at as usize) {
            Some(slot) => slot.links.newer,
            None => NONE,
        };
        if self.has_ages() {
            memory.ages.resize(memory.slots.len(), UNLINKED);
            let mut next = self.by_age.oldest;
            while next != NONE {
                by_age.push(&mut memory.ages, moved(next));
                next = self.ages[next as usize].newer;
            }
        }
        (self.hand, self.latest) = (moved(self.hand), moved(self.latest));
        (self.queue, self.leaving, self.by_age) = (queue, leaving, by_age);
        self.free = NONE;
        mem::swap(&mut self.slots, &mut memory.slots);
        mem::swap(&mut self.ages, &mut memory.ages);
        mem::swap(&mut self.index, &mut memory.index);
    }

    /// Moves the items into memory of the given size, if there is any.
    #[cold]
    pub(crate) fn shrink(&mut self, size: RingSize) {
        if let Some(mut memory) = RingMemory::try_allocate(size) {
            self.move_into(&mut memory);
        }
    }

    /// Sets another limit. The members beyond the limit become [victims](Self::next_victim). If the
    /// ring now needs a list by age, and `memory` is too small for the list, returns the size of
    /// the list as the error, and changes nothing. If the ring gives up a list by age, leaves the
    /// memory of the list in `memory`: the caller frees the memory under no lock.
    pub(crate) fn set_limit(
        &mut self,
        limit: Limit,
        memory: &mut Option<RingMemory<X>>,
    ) -> Result<(), RingSize> {
        let (had_ages, has_ages) = (self.has_ages(), limit.generations != u32::MAX);
        let mut ages = Vec::new();
        if has_ages && !had_ages {
            let size = RingSize {
                ages: self.slots.capacity(),
                ..RingSize::default()
            };
            let given = memory
                .as_mut()
                .filter(|memory| memory.suffices(size))
                .ok_or(size)?;
            ages = mem::take(&mut given.ages);
        }
        self.limit = limit;
        // An entry whose object was refused in this round does not report its next hit (S3 of
        // `keep::shared`). The object may fit now, so a new round begins.
        self.begin_round();
        if has_ages == had_ages {
            return Ok(());
        }
        self.by_age = EMPTY;
        // For the caller to free: this thread may hold the lock of the ring.
        let old = mem::replace(&mut self.ages, ages);
        memory.get_or_insert_with(RingMemory::default).ages = old;
        if has_ages {
            self.ages.resize(self.slots.len(), UNLINKED);
            // The order of the last touches is not known: all members get the present generation.
            let mut at = self.queue.oldest;
            while at != NONE {
                self.slots[at as usize].generation = self.generation;
                self.by_age.push(&mut self.ages, at);
                at = self.slots[at as usize].links.newer;
            }
        }
        Ok(())
    }
}
