//! What one side of an entry may be, and how the table learns of its death.

use core::convert::Infallible;

use crate::hash::HashValue;

/// One side of an entry. What has a default is for sides that tell nobody of their death.
pub trait Slot: Sized {
    /// What the table keeps to learn of deaths; one for all the entries of a table.
    type Deaths: Deaths;

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

    /// Whether the entry is to go, of a slot that is swept: its object is dead.
    fn is_stale(&self) -> bool {
        false
    }

    /// The entry is unlinked, or about to be dropped: there is to be no notice of this side any more.
    #[inline]
    fn end(&mut self, _: &mut Self::Deaths) {}

    /// Whether the notice is that of this slot.
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<Self>) -> bool {
        false
    }

    /// Whether the notice of this slot had come when the table [looked](Deaths::look).
    #[inline]
    fn is_seen(&self, _: &<Self::Deaths as Deaths>::Seen) -> bool {
        false
    }

    /// The slot is unlinked, since its entry is dead, and has ended.
    fn into_remains(self) -> Self::Remains;
}

/// Where the notices of deaths come in.
pub trait Deaths: Sized {
    /// A notice of a death.
    type Notice: Copy;
    /// How far the notices reached at some time.
    type Seen;

    /// For an empty table.
    const NONE: Self;

    /// Whether no notice has come.
    fn is_idle(&self) -> bool;

    /// How many entries have a notice.
    fn pending(&self) -> usize;

    /// The notices that have an entry.
    fn iter(&self) -> impl Iterator<Item = Self::Notice>;

    /// Marks what has come; and how many of those have an entry.
    fn look(&self) -> (usize, Self::Seen);

    /// The hash of the entry of the next notice, if that is at hand.
    fn peek(&mut self) -> Option<HashValue>;

    /// The next notice.
    fn next(&mut self) -> Option<Self::Notice>;

    /// The hash of the entry.
    fn hash(notice: &Self::Notice) -> HashValue;

    /// The entry of a notice is unlinked.
    fn finish(&mut self, notice: Self::Notice);
}

pub(crate) type NoticeOf<S> = <<S as Slot>::Deaths as Deaths>::Notice;

/// Nobody announces anything.
impl Deaths for () {
    type Notice = Infallible;
    type Seen = ();
    const NONE: () = ();

    #[inline]
    fn is_idle(&self) -> bool {
        true
    }

    #[inline]
    fn pending(&self) -> usize {
        0
    }

    fn iter(&self) -> impl Iterator<Item = Infallible> {
        core::iter::empty()
    }

    fn look(&self) -> (usize, ()) {
        (0, ())
    }

    #[inline]
    fn peek(&mut self) -> Option<HashValue> {
        None
    }

    #[inline]
    fn next(&mut self) -> Option<Infallible> {
        None
    }

    fn hash(notice: &Infallible) -> HashValue {
        match *notice {}
    }

    fn finish(&mut self, notice: Infallible) {
        match notice {}
    }
}

/// A side of an entry that the collection owns.
pub struct Owned<T>(pub(crate) T);

/// It never dies.
impl<T> Slot for Owned<T> {
    type Deaths = ();
    type Remains = T;

    #[inline]
    fn into_remains(self) -> T {
        self.0
    }
}
