//! The slots of an entry, and how the table learns of their death.

use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::reference::Watch;

/// One side of an entry: what the collection [owns](Owned), or watches. What has a default is for what never
/// dies.
pub trait Slot: Sized {
    /// What the table keeps to learn of deaths; one for all the entries of a table.
    type Queue: NoticeQueue;

    /// What it leaves when its entry is dead: what the collection owns, if it does.
    type Remains;

    /// Whether nobody tells the table of deaths, so that it has to ask the slots one by one.
    const SWEPT: bool = false;

    /// Whether a slot that fits a key may be another object's, which dies on its own.
    const BY_CONTENT: bool = false;

    /// The hash that the notice of this slot's death will name, if there will be one. The entry is to
    /// stay where that hash leads, whatever the other side says by then.
    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        None
    }

    /// Whether its object is dead, announced or not.
    #[inline]
    fn is_expired(&self) -> bool {
        false
    }

    /// Whether the entry is to go, of a slot that is swept: its object is dead.
    #[inline]
    fn is_stale(&self) -> bool {
        Self::SWEPT && self.is_expired()
    }

    /// The entry is unlinked, or about to be dropped: there is to be no notice of this side any more.
    #[inline]
    fn end(&mut self, _: &mut Self::Queue) {}

    /// Whether the notice is that of this slot.
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<Self>) -> bool {
        false
    }

    /// Whether the notice of this slot had come when the table [looked](NoticeQueue::look).
    #[inline]
    fn is_seen(&self, _: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        false
    }

    /// The slot is unlinked, since its entry is dead, and has ended.
    fn into_remains(self) -> Self::Remains;
}

pub(super) type NoticeOf<S> = <<S as Slot>::Queue as NoticeQueue>::Notice;

/// A side of an entry that the collection owns.
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
    fn end(&mut self, queue: &mut Self::Queue) {
        Watch::end(self, queue);
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
