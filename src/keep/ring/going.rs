//! What is going: it was taken, and who has taken it is doing something about that, under no lock. Its slot is in the index,
//! empty. It is that thread's, which [ends](Ring::end_going) it, and hears what others have said meanwhile.

use super::{Going, Ring};
use crate::keep::Gone;

impl<X> Ring<X> {
    /// As [`next_to_go`](Self::next_to_go): but what the caller gets is going.
    pub(crate) fn next_going(&mut self) -> Option<Going<X>> {
        let (at, why) = self.due()?;
        let going = self.take_out(at, why)?;
        Some(Going {
            at: Some(at),
            more: self.is_due(),
            ..going
        })
    }

    /// What was going is gone. Returns whether it is so still: false if it was kept again since then, or removed.
    pub(crate) fn end_going<Y>(&mut self, going: &Going<Y>) -> bool {
        let Some(at) = going.at else { return true };
        let is_gone = self.slots[at as usize].gone != Some(Gone::Removed);
        self.vacate(at);
        is_gone
    }

    /// Of what was found.
    pub(super) fn is_going(&self, at: u32) -> bool {
        self.slots[at as usize].kept.is_none()
    }

    /// What is going is kept again, in another slot.
    pub(super) fn give_way(&mut self, at: u32) {
        self.slots[at as usize].gone = Some(Gone::Removed);
        self.hide(at);
    }

    /// Of what is no member: says that it was removed.
    pub(super) fn set_removed(&mut self, addr: usize) {
        if let Some(at) = self.find(addr) {
            let gone = &mut self.slots[at as usize].gone;
            *gone = gone.and(Some(Gone::Removed));
        }
    }

    /// Says so of all that is no member. Returns [when](super::Outcome::New). O(most that were kept at a time).
    pub(crate) fn set_all_removed(&mut self) -> u64 {
        for slot in &mut self.slots {
            slot.gone = slot.gone.and(Some(Gone::Removed));
        }
        self.next_turn()
    }
}
