//! All the methods that do the same to a collection.

#![allow(clippy::enum_variant_names)] // they are the names of methods

/// The ways to insert.
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
    TryGetOrInsertWith,
    /// The same, without inserting anything.
    Fail,
}

impl Insert {
    pub const ALL: [Self; 14] = [
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
        Insert::TryGetOrInsertWith,
        Insert::Fail,
    ];
}

/// What happens to a live entry when its key is inserted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Stays,
    /// It gets the new value.
    Changes,
    /// It gets the new key: it lives as long as that, where keys are weak.
    Adopts,
    /// Both.
    Moves,
}

/// The ways to remove one key.
#[derive(Clone, Copy, Debug)]
pub enum Remove {
    Value(By),
    Entry(By),
    If(By),
    Occupied,
    OccupiedEntry,
}

impl Remove {
    pub const ALL: [Self; 10] = [
        Remove::Value(By::Strong),
        Remove::Value(By::Weak),
        Remove::Value(By::Plain),
        Remove::Value(By::Addr),
        Remove::Entry(By::Plain),
        Remove::Entry(By::Addr),
        Remove::If(By::Strong),
        Remove::If(By::Plain),
        Remove::Occupied,
        Remove::OccupiedEntry,
    ];
}

/// What a key is looked up by. A key by content is always looked up by something borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Strong,
    Weak,
    Plain,
    Addr,
}

/// The ways to look a key up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    Get(By),
    Contains(By),
    KeyValue(By),
    Index(By),
}

impl Find {
    pub const ALL: [Self; 9] = [
        Find::Get(By::Strong),
        Find::Get(By::Weak),
        Find::Get(By::Plain),
        Find::Get(By::Addr),
        Find::Contains(By::Strong),
        Find::Contains(By::Weak),
        Find::KeyValue(By::Plain),
        Find::KeyValue(By::Addr),
        Find::Index(By::Strong),
    ];

    pub fn by(self) -> By {
        let (Find::Get(by) | Find::Contains(by) | Find::KeyValue(by) | Find::Index(by)) = self;
        by
    }
}

/// The ways to visit all entries. A collection that lacks one only iterates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Iter,
    IterMut,
    Keys,
    Values,
    ValuesMut,
    Weak,
}

impl List {
    pub const ALL: [Self; 6] = [
        List::Iter,
        List::IterMut,
        List::Keys,
        List::Values,
        List::ValuesMut,
        List::Weak,
    ];
}

/// The ways to keep only some entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Retain,
    ExtractIf,
    /// The iterator is dropped at the first removed entry.
    ExtractOne,
    Drain,
    /// The iterator is forgotten at the first removed entry.
    Forget,
    IntoIter,
}

impl Keep {
    pub const ALL: [Self; 6] = [
        Keep::Retain,
        Keep::ExtractIf,
        Keep::ExtractOne,
        Keep::Drain,
        Keep::Forget,
        Keep::IntoIter,
    ];
}

/// The ways to end a collection.
#[derive(Clone, Copy, Debug)]
pub enum Take {
    Drop,
    IntoKeys,
    IntoValues,
}

impl Take {
    pub const ALL: [Self; 3] = [Take::Drop, Take::IntoKeys, Take::IntoValues];
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
