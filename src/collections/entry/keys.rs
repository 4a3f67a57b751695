//! The key of an entry, as both kinds of entries show it.

/// The methods of an entry that is occupied or vacant.
macro_rules! either {
    () => {
        /// Returns the key, as it was passed.
        #[must_use]
        pub fn key(&self) -> &G {
            match self {
                Entry::Occupied(entry) => entry.key(),
                Entry::Vacant(entry) => entry.key(),
            }
        }
    };
}

/// The methods of an occupied entry.
macro_rules! occupied {
    () => {
        /// Returns the key, as it was passed.
        #[must_use]
        pub fn key(&self) -> &G {
            &self.key
        }
    };
}

/// The methods of a vacant entry.
macro_rules! vacant {
    () => {
        super::keys::occupied!();

        /// Returns the key, as it was passed, and drops the entry.
        #[must_use]
        pub fn into_key(self) -> G {
            self.key
        }
    };
}

pub(super) use {either, occupied, vacant};
