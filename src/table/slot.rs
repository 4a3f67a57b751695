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

    /// Whether the object of a slot announces its death.
    const ANNOUNCES: bool = false;

    /// Whether a slot that fits a key may be a dead object's: it is found by its address, which may be
    /// another's by now.
    const BY_ADDRESS: bool = false;

    /// Whether a slot that fits a key may be another object's, which dies on its own.
    const BY_CONTENT: bool = false;

    /// The hash that the notice of this slot's death will name, if there will be one. The entry is to
    /// stay where that hash leads, whatever the other side says by then.
    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        None
    }

    /// Whether the entry is to go: its object has announced its death (or, if swept, is dead).
    fn is_stale(&self) -> bool;

    /// The entry is about to be dropped: nobody is to be told of this side any more.
    #[inline]
    fn end(&mut self) {}

    /// Whether it is this slot's object whose death is announced.
    #[inline]
    fn is_named_by(&self, _: &NoticeOf<'_, Self>) -> bool {
        false
    }

    /// The slot is unlinked, as the notice has demanded.
    #[inline]
    fn settle(self, notice: NoticeOf<'_, Self>) -> Self::Remains {
        notice.orphaned();
        self.into_remains()
    }

    /// The slot is unlinked, since its entry is dead.
    fn into_remains(self) -> Self::Remains;
}

/// Where the notices of deaths come in.
pub trait Deaths: Sized {
    /// A notice of a death.
    type Notice<'a>: Notice
    where
        Self: 'a;

    /// For an empty table.
    const NONE: Self;

    /// Whether nobody has announced a death. If so, no entry has the address of a younger object.
    fn is_idle(&self) -> bool;

    /// How many entries are announced dead.
    fn announced(&self) -> usize;

    /// The next notice.
    fn next(&mut self) -> Option<Self::Notice<'_>>;
}

/// A notice of a death, which names an entry.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Notice {
    /// The hash of the entry.
    fn hash(&self) -> u64;

    /// The entry has gone: the notice came late.
    fn orphaned(self);
}

pub(crate) type NoticeOf<'a, S> = <<S as Slot>::Deaths as Deaths>::Notice<'a>;

/// Nobody announces anything.
impl Deaths for () {
    type Notice<'a> = Infallible;
    const NONE: () = ();

    #[inline]
    fn is_idle(&self) -> bool {
        true
    }

    #[inline]
    fn announced(&self) -> usize {
        0
    }

    #[inline]
    fn next(&mut self) -> Option<Infallible> {
        None
    }
}

impl Notice for Infallible {
    fn hash(&self) -> u64 {
        match *self {}
    }

    fn orphaned(self) {
        match self {}
    }
}

/// A side of an entry that the collection owns.
pub struct Owned<T>(pub(crate) T);

/// It never dies.
impl<T> Slot for Owned<T> {
    type Deaths = ();
    type Remains = T;

    #[inline]
    fn is_stale(&self) -> bool {
        false
    }

    #[inline]
    fn into_remains(self) -> T {
        self.0
    }
}
