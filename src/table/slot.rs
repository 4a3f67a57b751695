//! What one side of an entry may be, and how the table learns of its death.

use hashbrown::HashTable;

/// One side of an entry. What has a default is for sides that tell nobody of their death.
pub trait Slot: Sized {
    /// What the table keeps to learn of deaths; one for all the entries of a table.
    type Deaths;

    /// For an empty table.
    const NO_DEATHS: Self::Deaths;

    /// Whether nobody tells the table of deaths, so that it has to ask the slots one by one.
    const SWEPT: bool;

    /// Whether the entry is to go: its object has announced its death (or, if swept, is dead).
    fn is_stale(&self) -> bool;

    /// The entry is about to be dropped: nobody is to be told of this side any more.
    #[inline]
    fn end(&mut self) {}

    /// Whether nobody has announced a death. If so, no entry has the address of a younger object.
    #[inline]
    fn is_idle(_: &Self::Deaths) -> bool {
        true
    }

    /// How many entries are announced dead.
    #[inline]
    fn announced(_: &Self::Deaths) -> usize {
        0
    }

    /// Unlinks the next entry that is announced dead, and returns the rest of it. `slot` finds this
    /// side of an entry, `split` takes it off.
    #[inline]
    fn unlink_next<E, R>(
        _deaths: &mut Self::Deaths,
        _entries: &mut HashTable<E>,
        _slot: impl Fn(&E) -> &Self,
        _split: impl FnOnce(E) -> (Self, R),
    ) -> Option<R> {
        None
    }
}

/// A side that the table owns: it never dies.
#[derive(Clone)]
pub(crate) struct Owned<T>(pub(crate) T);

impl<T> Slot for Owned<T> {
    type Deaths = ();
    const NO_DEATHS: () = ();
    const SWEPT: bool = false;

    #[inline]
    fn is_stale(&self) -> bool {
        false
    }
}
