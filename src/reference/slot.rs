//! The slots of an entry, and how a table of one owner learns of the deaths of their objects.

use crate::hash::{Cookie, HashValue};
use crate::queue::NoticeQueue;

/// One side of an entry, the key or the value: a value that the collection [owns](Owned), or a
/// [watch](super::key::Watch). The defaults are for slots that never die. Sealed.
#[diagnostic::on_unimplemented(
    note = "`Watch` is a \"sealed trait\", as `Slot` is: a pointer chooses `Notified<Self>` or `Swept<Self>`"
)]
pub trait Slot: sealed::Sealed + Sized {
    /// The queue where death notices arrive; one for all the entries of a table.
    #[doc(hidden)]
    type Queue: NoticeQueue;

    /// The remains of the slot when its entry is dead: an owned value, or nothing.
    #[doc(hidden)]
    type Remains;

    /// Whether the table has to poll the slots one by one, because no notices come.
    #[doc(hidden)]
    const SWEPT: bool = false;

    /// Whether a lookup may match another object than its argument; the matched object may die
    /// while the argument lives.
    #[doc(hidden)]
    const BY_CONTENT: bool = false;

    /// Returns the cookie with which the slot was registered. The death notice of the slot, if
    /// there will be a notice, carries the cookie.
    #[doc(hidden)]
    #[inline]
    fn cookie(&self) -> Option<Cookie> {
        None
    }

    /// Returns the hash under which the entry is stored, if this slot is its key and knows the
    /// hash. Runs no user code.
    #[doc(hidden)]
    #[inline]
    fn hash(&self) -> Option<HashValue> {
        None
    }

    /// Returns whether the object is dead, notified or not.
    #[doc(hidden)]
    #[inline]
    fn is_expired(&self) -> bool {
        false
    }

    /// Returns whether a sweep should reclaim the entry: the slot is swept, and its object is dead.
    #[doc(hidden)]
    #[inline]
    fn is_stale(&self) -> bool {
        Self::SWEPT && self.is_expired()
    }

    /// Deregisters the slot: the entry is unlinked, or about to be dropped, and no notice of this
    /// slot may come any more.
    #[doc(hidden)]
    #[inline]
    fn deregister(&mut self, _: &mut Self::Queue) {}

    /// Returns whether the notice belongs to this slot.
    #[doc(hidden)]
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<Self>) -> bool {
        false
    }

    /// Turns the slot into its remains. The slot is unlinked, because its entry is dead, and is
    /// deregistered.
    #[doc(hidden)]
    fn into_remains(self) -> Self::Remains;
}

/// A notice of the death of a slot's object.
pub(crate) type NoticeOf<S> = <<S as Slot>::Queue as NoticeQueue>::Notice;

/// A slot that the collection owns.
pub struct Owned<T>(pub(crate) T);

impl<T> sealed::Sealed for Owned<T> {}

/// An owned slot never dies.
impl<T> Slot for Owned<T> {
    type Queue = ();
    type Remains = T;

    #[inline]
    fn into_remains(self) -> T {
        self.0
    }
}

/// No path outside of this crate leads to this trait, so no other crate implements [`Slot`] or
/// [`Watch`](super::key::Watch). A watch gets the queue of its collection: a foreign watch could
/// register objects with the queue that the collection does not know.
pub(super) mod sealed {
    pub trait Sealed {}
}
