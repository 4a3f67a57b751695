//! Going slots (Q5): a thread has taken a victim, and works for it under no lock. The slot of the
//! victim stays in the index, empty. That thread [frees](Ring::end_going) the slot, and learns
//! whether another thread has kept or removed the object meanwhile.

use super::{Going, Ring};
use crate::keep::Gone;

impl<X> Ring<X> {
    /// As [`next_to_go`](Self::next_to_go), but the slot of the victim is going.
    pub(crate) fn next_going(&mut self) -> Option<Going<X>> {
        let (at, why) = self.due()?;
        let going = self.take_out(at, why)?;
        Some(Going {
            at: Some(at),
            more: self.is_due(),
            ..going
        })
    }

    /// Frees a going slot. Returns false if a thread has kept the object again meanwhile, or
    /// removed it.
    pub(crate) fn end_going<Y>(&mut self, going: &Going<Y>) -> bool {
        let Some(at) = going.at else { return true };
        let is_gone = self.slots[at as usize].gone != Some(Gone::Removed);
        self.vacate(at);
        is_gone
    }

    /// Whether a slot of the index is going.
    pub(super) fn is_going(&self, at: u32) -> bool {
        self.slots[at as usize].kept.is_none()
    }

    /// A thread keeps the object of a going slot again, in another slot.
    pub(super) fn give_way(&mut self, at: u32) {
        self.slots[at as usize].gone = Some(Gone::Removed);
        self.hide(at);
    }

    /// Notes the removal of an object that is no member.
    pub(super) fn set_removed(&mut self, addr: usize) {
        if let Some(at) = self.find(addr) {
            let gone = &mut self.slots[at as usize].gone;
            *gone = gone.and(Some(Gone::Removed));
        }
    }

    /// Notes the removal of all objects that are no members. Returns the
    /// [turn](super::Outcome::New). O(most members at a time).
    pub(crate) fn set_all_removed(&mut self) -> u64 {
        for slot in &mut self.slots {
            slot.gone = slot.gone.and(Some(Gone::Removed));
        }
        self.next_turn()
    }
}
