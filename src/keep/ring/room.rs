//! The memory of a ring. Memory is allocated before a lock is taken, and before the ring changes. A
//! ring shrinks as it empties: when three of four slots are free, the items move to memory for
//! twice as many. So a walk over all slots, and the memory of the ring, follow the number of items,
//! and a removal costs O(1) amortised.

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
pub(crate) struct Room<X> {
    slots: Vec<Slot<X>>,
    ages: Vec<Links>,
    index: HashTable<u32>,
}

/// The capacities of new memory, in elements. Zero if the present memory is large enough.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct RoomSize {
    slots: usize,
    ages: usize,
    index: usize,
}

impl<X> Default for Room<X> {
    fn default() -> Self {
        Self::allocate(RoomSize::default())
    }
}

impl<X> Memory for Room<X> {
    type Size = RoomSize;

    fn allocate(size: RoomSize) -> Self {
        Room {
            slots: Vec::with_capacity(size.slots),
            ages: Vec::with_capacity(size.ages),
            index: HashTable::with_capacity(size.index),
        }
    }
}

impl<X> Room<X> {
    /// Allocates memory that can be done without.
    pub(crate) fn try_allocate(size: RoomSize) -> Option<Self> {
        let mut room = Room::default();
        room.slots.try_reserve_exact(size.slots).ok()?;
        room.ages.try_reserve_exact(size.ages).ok()?;
        let hash = |_: &u32| unreachable!("there is nothing to move");
        room.index.try_reserve(size.index, hash).ok()?;
        Some(room)
    }

    fn suffices(&self, size: RoomSize) -> bool {
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
        room: &mut Option<Room<X>>,
    ) -> Result<(), RoomSize> {
        // The object of a going slot is kept again in a new slot.
        let has_slot = |at| !self.is_going(at);
        match self.has_room() || self.find(addr).is_some_and(has_slot) {
            true => Ok(()),
            false => self.grow(room),
        }
    }

    /// Returns whether there is room for one more object.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let has_slot = self.free != NONE || self.slots.len() < self.slots.capacity();
        let has_age = !self.has_ages() || self.ages.capacity() >= self.slots.capacity();
        has_slot && has_age && self.index.len() < self.index.capacity()
    }

    /// Returns the size of the memory for one more object.
    fn missing(&self) -> RoomSize {
        let len = self.slots.len();
        let mut size = RoomSize {
            index: missing_in(&self.index),
            ..RoomSize::default()
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
    pub(super) fn grow(&mut self, room: &mut Option<Room<X>>) -> Result<(), RoomSize> {
        let size = self.missing();
        if size == RoomSize::default() {
            return Ok(());
        }
        let room = room
            .as_mut()
            .filter(|room| room.suffices(size))
            .ok_or(size)?;
        if size.slots != 0 {
            room.slots.append(&mut self.slots);
            mem::swap(&mut room.slots, &mut self.slots);
        }
        if size.ages != 0 {
            room.ages.append(&mut self.ages);
            mem::swap(&mut room.ages, &mut self.ages);
        }
        if size.index != 0 {
            let slots = &self.slots;
            move_table(&mut self.index, &mut room.index, |at| {
                hash(slots[*at as usize].addr)
            });
        }
        Ok(())
    }

    /// Returns the size of memory for twice as many items as there are, if three of four slots are
    /// free, and no slot is going.
    #[inline]
    pub(crate) fn sparse(&self) -> Option<RoomSize> {
        let (items, slots) = (self.index.len(), self.slots.capacity());
        let is_sparse = slots > FEW && items < slots / 4 && self.going == 0;
        is_sparse.then(|| self.size_for(2 * items))
    }

    /// Returns the size of memory for the present items, if there is more memory.
    pub(crate) fn fitting(&self) -> Option<RoomSize> {
        let items = self.index.len();
        (items < self.slots.capacity()).then(|| self.size_for(items))
    }

    fn size_for(&self, items: usize) -> RoomSize {
        RoomSize {
            slots: items,
            ages: if self.has_ages() { items } else { 0 },
            index: items,
        }
    }

    /// Moves all items into `room`, unless `room` is too small or not smaller, or slots are going.
    /// Then `room` has the memory that the ring has left. O(items).
    pub(crate) fn move_into(&mut self, room: &mut Room<X>) {
        let is_smaller = room.slots.capacity() < self.slots.capacity();
        let suffices = room.suffices(self.size_for(self.index.len()));
        if self.going != 0 || !is_smaller || !suffices {
            return;
        }
        let [mut queue, mut leaving, mut by_age] = [EMPTY; 3];
        for (from, to) in [(self.queue, &mut queue), (self.leaving, &mut leaving)] {
            let mut next = from.oldest;
            while next != NONE {
                let slot = &mut self.slots[next as usize];
                let at = room.slots.len() as u32;
                next = slot.links.newer;
                // The old slot has the new index from now on.
                slot.links.newer = at;
                let kept = slot.kept.take();
                room.slots.push(Slot { kept, ..*slot });
                to.push(&mut room.slots, at);
                let slots = &room.slots;
                let rehash = |at: &u32| hash(slots[*at as usize].addr);
                (room.index).insert_unique(hash(slots[at as usize].addr), at, rehash);
            }
        }
        let moved = |at: u32| match self.slots.get(at as usize) {
            Some(slot) => slot.links.newer,
            None => NONE,
        };
        if self.has_ages() {
            room.ages.resize(room.slots.len(), UNLINKED);
            let mut next = self.by_age.oldest;
            while next != NONE {
                by_age.push(&mut room.ages, moved(next));
                next = self.ages[next as usize].newer;
            }
        }
        (self.hand, self.latest) = (moved(self.hand), moved(self.latest));
        (self.queue, self.leaving, self.by_age) = (queue, leaving, by_age);
        self.free = NONE;
        mem::swap(&mut self.slots, &mut room.slots);
        mem::swap(&mut self.ages, &mut room.ages);
        mem::swap(&mut self.index, &mut room.index);
    }

    /// Moves the items into memory of the given size, if there is any.
    #[cold]
    pub(crate) fn shrink(&mut self, size: RoomSize) {
        if let Some(mut room) = Room::try_allocate(size) {
            self.move_into(&mut room);
        }
    }

    /// Sets another limit. The members beyond the limit become [victims](Self::next_to_go). If
    /// memory is missing, returns its size as the error, and changes nothing.
    pub(crate) fn set_limit(
        &mut self,
        limit: Limit,
        room: &mut Option<Room<X>>,
    ) -> Result<(), RoomSize> {
        let (had_ages, has_ages) = (self.has_ages(), limit.generations != u32::MAX);
        let mut ages = Vec::new();
        if has_ages && !had_ages {
            let size = RoomSize {
                ages: self.slots.capacity(),
                ..RoomSize::default()
            };
            let room = room
                .as_mut()
                .filter(|room| room.suffices(size))
                .ok_or(size)?;
            ages = mem::take(&mut room.ages);
        }
        self.limit = limit;
        // An object that was refused may fit now.
        self.begin_round();
        if has_ages == had_ages {
            return Ok(());
        }
        self.by_age = EMPTY;
        let freed = mem::replace(&mut self.ages, ages);
        room.get_or_insert_with(Room::default).ages = freed;
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
