//! The slots of an entry, and how the table learns of their deaths.

use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::reference::Watch;

/// One side of an entry, the key or the value: something that the collection [owns](Owned), or a watch. The
/// defaults are for slots that never die.
pub trait Slot: Sized {
    /// The queue where death notices arrive; one for all the entries of a table.
    type Queue: NoticeQueue;

    /// What the slot leaves when its entry is dead: what the collection owns, or nothing.
    type Remains;

    /// Whether no notices come, so that the table has to poll the slots one by one.
    const SWEPT: bool = false;

    /// Whether a lookup may match another object than the one it was given, which dies on its own.
    const BY_CONTENT: bool = false;

    /// The hash that the death notice of this slot will carry, if there will be one. The entry has to stay
    /// where that hash leads, whatever hash the other slot gives later.
    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        None
    }

    /// Whether the object is dead, notified or not.
    #[inline]
    fn is_expired(&self) -> bool {
        false
    }

    /// Whether a sweep should reclaim the entry: the slot is swept, and its object is dead.
    #[inline]
    fn is_stale(&self) -> bool {
        Self::SWEPT && self.is_expired()
    }

    /// Deregisters: the entry is unlinked, or about to be dropped, and no notice of this slot may come any
    /// more.
    #[inline]
    fn deregister(&mut self, _: &mut Self::Queue) {}

    /// Whether the notice belongs to this slot.
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<Self>) -> bool {
        false
    }

    /// Whether the notice of this slot had arrived when the table called [`look`](NoticeQueue::look).
    #[inline]
    fn is_seen(&self, _: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        false
    }

    /// Turns the slot into what it leaves. It is unlinked, since its entry is dead, and deregistered.
    fn into_remains(self) -> Self::Remains;
}

pub(super) type NoticeOf<S> = <<S as Slot>::Queue as NoticeQueue>::Notice;

/// A slot that the collection owns.
pub struct Owned<T>(pub(crate) T);

/// It never dies.
impl<T> Slot for Owned<T> {
    type Queue = ();
    type Remains = T;

    #[inline]
    fn into_remains(self) -> T {
        self.0
    }
}

/// It leaves nothing.
impl<W: Watch> Slot for W {
    type Queue = W::Queue;
    type Remains = ();

    const SWEPT: bool = W::SWEPT;
    const BY_CONTENT: bool = W::BY_CONTENT;

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        Watch::hash_of_notice(self)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        Watch::is_expired(self)
    }

    #[inline]
    fn deregister(&mut self, queue: &mut Self::Queue) {
        Watch::deregister(self, queue);
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &NoticeOf<Self>) -> bool {
        Watch::is_named_by(self, notice)
    }

    #[inline]
    fn is_seen(&self, seen: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        Watch::is_seen(self, seen)
    }

    #[inline]
    fn into_remains(self) {}
}
