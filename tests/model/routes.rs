//! All the methods that do the same to a collection.

#![allow(clippy::enum_variant_names)] // they are the names of methods

/// An enumeration, and the list of it.
macro_rules! ways {
    ($(#[$doc:meta])* $name:ident[$count:literal] { $($(#[$about:meta])* $way:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $way,)*
        }

        impl $name {
            pub const ALL: [Self; $count] = [$($name::$way),*];
        }
    };
}

ways! {
    /// The ways to insert.
    Insert[14] {
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

/// What a key is looked up by. A key by content is always looked up by something borrowed, or by its hash.
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

ways! {
    /// The ways to visit all entries. A collection that lacks one only iterates.
    List[6] {
        Iter,
        IterMut,
        Keys,
        Values,
        ValuesMut,
        Weak,
    }
}

ways! {
    /// The ways to keep only some entries.
    Keep[6] {
        Retain,
        ExtractIf,
        /// The iterator is dropped at the first removed entry.
        ExtractOne,
        Drain,
        /// The iterator is forgotten at the first removed entry.
        Forget,
        IntoIter,
    }
}

ways! {
    /// The ways to end a collection.
    Take[3] {
        Drop,
        IntoKeys,
        IntoValues,
    }
}

ways! {
    /// The ways to change a value in place.
    Change[3] {
        GetMut,
        IterMut,
        ValuesMut,
    }
}
