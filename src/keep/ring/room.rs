//! The memory of a ring. More memory is allocated before a lock is taken, and before the ring
//! changes.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

use super::super::limit::Limit;
use super::{Ring, Slot, hash};
use crate::list::{EMPTY, Links, NONE, UNLINKED};
use crate::sync::{Memory, missing_in, move_table};

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
