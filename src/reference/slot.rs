//! The slots of an entry, and how a table of one owner learns of their deaths.

use crate::hash::HashValue;
use crate::queue::NoticeQueue;

/// One side of an entry, the key or the value: something that the collection [owns](Owned), or a
/// [watch](super::key::Watch). The defaults are for slots that never die. Sealed.
#[diagnostic::on_unimplemented(
    note = "`Watch` is a \"sealed trait\", as `Slot` is: a pointer chooses `Notified<Self>` or `Swept<Self>`"
)]
pub trait Slot: sealed::Sealed + Sized {
    /// The queue where death notices arrive; one for all the entries of a table.
    #[doc(hidden)]
    type Queue: NoticeQueue;

    /// What the slot leaves when its entry is dead: what the collection owns, or nothing.
    #[doc(hidden)]
    type Remains;

    /// Whether no notices come, so that the table has to poll the slots one by one.
    #[doc(hidden)]
    const SWEPT: bool = false;

    /// Whether a lookup may match another object than the one it was given, which dies on its own.
    #[doc(hidden)]
    const BY_CONTENT: bool = false;

    /// The hash that the death notice of this slot will carry, if there will be one. The entry has
    /// to stay where that hash leads, whatever hash the other slot gives later.
    #[doc(hidden)]
    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        None
    }

    /// Whether the object is dead, notified or not.
    #[doc(hidden)]
    #[inline]
    fn is_expired(&self) -> bool {
        false
    }

    /// Whether a sweep should reclaim the entry: the slot is swept, and its object is dead.
    #[doc(hidden)]
    #[inline]
    fn is_stale(&self) -> bool {
        Self::SWEPT && self.is_expired()
    }

    /// Deregisters: the entry is unlinked, or about to be dropped, and no notice of this slot may
    /// come any more.
    #[doc(hidden)]
    #[inline]
    fn deregister(&mut self, _: &mut Self::Queue) {}

    /// Whether the notice belongs to this slot.
    #[doc(hidden)]
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<Self>) -> bool {
        false
    }

    /// Whether the notice of this slot had arrived when the table called
    /// [`look`](NoticeQueue::look).
    #[doc(hidden)]
    #[inline]
    fn is_seen(&self, _: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        false
    }

    /// Turns the slot into what it leaves. It is unlinked, since its entry is dead, and
    /// deregistered.
    #[doc(hidden)]
    fn into_remains(self) -> Self::Remains;
}

/// A notice of the death of a slot's object.
pub(crate) type NoticeOf<S> = <<S as Slot>::Queue as NoticeQueue>::Notice;

/// A slot that the collection owns.
pub struct Owned<T>(pub(crate) T);

impl<T> sealed::Sealed for Owned<T> {}

/// It never dies.
impl<T> Slot for Owned<T> {
    type Queue = ();
    type Remains = T;

    #[inline]
    fn into_remains(self) -> T {
        self.0
    }
}

/// No path outside of this crate leads to it, so nobody else implements [`Slot`], nor
/// [`Watch`](super::key::Watch). A watch is given the queue of its collection: one that another
/// crate wrote could register with it what the collection does not know of.
pub(super) mod sealed {
    pub trait Sealed {}
}
