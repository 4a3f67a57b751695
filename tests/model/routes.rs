//! All the ways to do one thing to a collection.

#![allow(clippy::enum_variant_names)] // they are the names of methods

/// The ways in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    Insert,
    OrInsert,
    OrInsertWith,
    OrInsertWithKey,
    InsertEntry,
    TryInsert,
    GetOrInsert,
    GetOrInsertWith,
    ExtendOwned,
    ExtendBorrowed,
    ByVariant,
    AndModify,
}

impl Insert {
    pub const ALL: [Self; 12] = [
        Insert::Insert,
        Insert::OrInsert,
        Insert::OrInsertWith,
        Insert::OrInsertWithKey,
        Insert::InsertEntry,
        Insert::TryInsert,
        Insert::GetOrInsert,
        Insert::GetOrInsertWith,
        Insert::ExtendOwned,
        Insert::ExtendBorrowed,
        Insert::ByVariant,
        Insert::AndModify,
    ];

    /// Whether a value that is there gives way.
    pub fn replaces(self) -> bool {
        matches!(
            self,
            Insert::Insert
                | Insert::InsertEntry
                | Insert::ExtendOwned
                | Insert::ExtendBorrowed
                | Insert::ByVariant
                | Insert::AndModify
        )
    }
}

/// The ways out, for one key.
#[derive(Clone, Copy, Debug)]
pub enum Remove {
    ByStrong,
    ByWeak,
    ByPlain,
    EntryByAddr,
    Occupied,
    OccupiedEntry,
}

impl Remove {
    pub const ALL: [Self; 6] = [
        Remove::ByStrong,
        Remove::ByWeak,
        Remove::ByPlain,
        Remove::EntryByAddr,
        Remove::Occupied,
        Remove::OccupiedEntry,
    ];
}

/// The ways to look a key up.
#[derive(Clone, Copy, Debug)]
pub enum Find {
    ByStrong,
    ByWeak,
    ByPlain,
    ByAddr,
    KeyValue,
    Index,
}

impl Find {
    pub const ALL: [Self; 6] = [
        Find::ByStrong,
        Find::ByWeak,
        Find::ByPlain,
        Find::ByAddr,
        Find::KeyValue,
        Find::Index,
    ];
}

/// The ways to look at all entries.
#[derive(Clone, Copy, Debug)]
pub enum List {
    Iter,
    IterMut,
    Keys,
    WeakKeys,
}

impl List {
    pub const ALL: [Self; 4] = [List::Iter, List::IterMut, List::Keys, List::WeakKeys];
}

/// The ways to keep some entries only.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    Retain,
    ExtractIf,
    Drain,
    IntoIter,
}

impl Keep {
    pub const ALL: [Self; 4] = [Keep::Retain, Keep::ExtractIf, Keep::Drain, Keep::IntoIter];
}

/// The ways to change a value in place.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    GetMut,
    IterMut,
    ValuesMut,
}

impl Change {
    pub const ALL: [Self; 3] = [Change::GetMut, Change::IterMut, Change::ValuesMut];
}
