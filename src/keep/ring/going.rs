//! Going slots (Q5): a thread has taken a victim, and works for the victim without a lock. The slot
//! of the victim is empty, and stays in the index. Finally the thread [frees](Ring::end_going) the
//! slot, and learns whether the object was kept or removed meanwhile.

use super::{Going, Ring};
use crate::keep::Gone;

impl<X> Ring<X> {
    /// Like [`next_to_go`](Self::next_to_go), but leaves the slot of the victim going.
    pub(crate) fn next_going(&mut self) -> Option<Going<X>> {
        let (at, why) = self.due()?;
        let going = self.take_out(at, why)?;
        self.going += 1;
        Some(Going {
            at: Some(at),
            more: self.is_due(),
            ..going
        })
    }

    /// Frees a going slot. Returns false if a thread has kept or removed the object meanwhile.
    pub(crate) fn end_going<Y>(&mut self, going: &Going<Y>) -> bool {
        let Some(at) = going.at else { return true };
        let is_gone = self.slots[at as usize].gone != Some(Gone::Removed);
        self.vacate(at);
        self.going -= 1;
        is_gone
    }

    /// Returns whether a slot of the index is going.
    pub(super) fn is_going(&self, at: u32) -> bool {
        self.slots[at as usize].kept.is_none()
    }

    /// Marks a going slot as removed, and hides it: its object is about to be kept in another slot.
    pub(super) fn give_way(&mut self, at: u32) {
        self.slots[at as usize].gone = Some(Gone::Removed);
        self.hide(at);
    }
}
