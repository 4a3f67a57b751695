//! The entries of a collection, and the queues through which the collection learns about deaths.

use super::entry::{Entry, Remains};
use super::kept::KeptRemains;
use super::reclaim::Reclaim;
use crate::hash::Cookie;
use crate::queue::NoticeQueue;
use crate::reference::Slot;

/// Where a collection stores its entries: each entry at a numbered place. By the cookie with which
/// the slots of an entry were registered, the entry is found again, wherever it has moved.
/// Otherwise the notice of the entry would be mistaken for a late notice, and would free a hook
/// that is still in use.
pub(crate) trait Entries: Sized {
    type Key: Slot;
    type Value: Slot;

    /// No entries, and no memory.
    const NONE: Self;

    /// Returns the number of entries, including dead entries.
    fn len(&self) -> usize;

    /// Returns the number of places.
    fn places(&self) -> usize;

    /// Returns the entry at a place.
    fn get(&self, place: usize) -> Option<&EntryOf<Self>>;

    /// Returns the entry with this cookie for which `is` returns true.
    fn find(&self, cookie: Cookie, is: impl Fn(&EntryOf<Self>) -> bool) -> Option<&EntryOf<Self>>;

    /// Unlinks the entry with this cookie for which `is` returns true.
    fn unlink(
        &mut self,
        cookie: Cookie,
        is: impl Fn(&EntryOf<Self>) -> bool,
    ) -> Option<EntryOf<Self>>;

    /// Unlinks the entry at a place, if there is an entry and `take` returns something for it.
    fn unlink_at<R>(
        &mut self,
        place: usize,
        take: impl FnOnce(&mut EntryOf<Self>) -> Option<R>,
    ) -> Option<(R, EntryOf<Self>)>;

    /// Iterates over all entries, including dead entries.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut EntryOf<Self>>;

    /// Unlinks all entries, and keeps the memory.
    fn drain(&mut self) -> impl Iterator<Item = EntryOf<Self>>;

    /// Prefetches the entry with this cookie. Only a hint.
    fn prefetch(&self, cookie: Cookie);
}

/// An entry as `E` stores it.
pub(crate) type EntryOf<E> = Entry<<E as Entries>::Key, <E as Entries>::Value>;

/// The remains of an entry that `E` has stored.
pub(crate) type RemainsOf<E> = Remains<<E as Entries>::Key, <E as Entries>::Value>;

/// The entries of a collection, with everything that the collection needs to reclaim dead entries.
pub(crate) struct Upkeep<E: Entries> {
    // Before the queues: an entry's watch is dropped before its queue is.
    pub(crate) entries: E,
    pub(crate) keys: <E::Key as Slot>::Queue,
    pub(crate) values: <E::Value as Slot>::Queue,
    /// All remains of dead entries go here, to be kept or dropped.
    pub(crate) kept: KeptRemains<RemainsOf<E>>,
    /// The place at which the next sweep begins.
    pub(crate) sweep_position: usize,
}

impl<E: Entries> Upkeep<E> {
    pub(crate) const fn new() -> Self {
        Upkeep {
            entries: E::NONE,
            keys: NoticeQueue::NONE,
            values: NoticeQueue::NONE,
            kept: KeptRemains::new(),
            sweep_position: 0,
        }
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        self.kept.policy()
    }
}
