//! The texts of both kinds of entries and of their errors.

/// `Debug` and `Display`. `$handle` is a bound for values that must be handles; an error has the
/// given fields.
macro_rules! texts {
    ([$($handle:ident)?] $($field:ident)*) => {
        impl<G: Given<K> + fmt::Debug, K: Slot, V: $($handle +)? fmt::Debug> fmt::Debug for Entry<'_, G, K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let entry: &dyn fmt::Debug = match self {
                    Entry::Occupied(entry) => entry,
                    Entry::Vacant(entry) => entry,
                };
                f.debug_tuple("Entry").field(entry).finish()
            }
        }

        impl<G: Given<K> + fmt::Debug, K: Slot, V: $($handle +)? fmt::Debug> fmt::Debug
            for OccupiedEntry<'_, G, K, V>
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("OccupiedEntry")
                    .field("key", self.key())
                    .field("value", self.get())
                    .finish()
            }
        }

        impl<G: Given<K> + fmt::Debug, K: Slot, V $(: $handle)?> fmt::Debug for VacantEntry<'_, G, K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple("VacantEntry").field(&self.key).finish()
            }
        }

        impl<G: Given<K> + fmt::Debug, K: Slot, V: $($handle +)? fmt::Debug> fmt::Debug
            for OccupiedError<'_, G, K, V>
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("OccupiedError")
                    $(.field(stringify!($field), &self.$field))*
                    .finish()
            }
        }

        impl<G: Given<K>, K: Slot, V $(: $handle)?> fmt::Display for OccupiedError<'_, G, K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the key already has a value; the new one was not inserted")
            }
        }

        impl<G: Given<K> + fmt::Debug, K: Slot, V: $($handle +)? fmt::Debug> core::error::Error
            for OccupiedError<'_, G, K, V>
        {
        }
    };
}

pub(super) use texts;
