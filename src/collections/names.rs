//! The entries and iterators of maps, by their usual names. These are aliases of the types that are
//! generic over slots.

/// Defines the iterators of a map, by their usual names.
macro_rules! iterator_names {
    ($key:ty, $value:ty) => {
        /// See `iter`.
        pub type Iter<'a, K, V> = $crate::collections::iter::Iter<'a, $key, $value>;
        /// See `iter_weak`.
        pub type IterWeak<'a, K, V> = $crate::collections::iter::IterWeak<'a, $key, $value>;
        /// See `keys`.
        pub type Keys<'a, K, V> = $crate::collections::iter::Keys<'a, $key, $value>;
        /// See `values`.
        pub type Values<'a, K, V> = $crate::collections::iter::Values<'a, $key, $value>;
        /// An iterator over the live entries of a map, by value.
        pub type IntoIter<K, V> = $crate::collections::iter::IntoIter<$key, $value>;
        /// See `into_keys`.
        pub type IntoKeys<K, V> = $crate::collections::iter::IntoKeys<$key, $value>;
        /// See `into_values`.
        pub type IntoValues<K, V> = $crate::collections::iter::IntoValues<$key, $value>;
        /// See `drain`.
        pub type Drain<'a, K, V> = $crate::collections::iter::Drain<'a, $key, $value>;
        /// See `extract_if`.
        pub type ExtractIf<'a, K, V, F> = $crate::collections::iter::ExtractIf<'a, $key, $value, F>;
    };
}

/// Defines the names for a map with weak keys and owned values.
macro_rules! owned_names {
    ($key:ty) => {
        use crate::reference::Owned;

        /// The place of a key.
        pub type Entry<'a, 'k, K, V> = $crate::collections::entry::Entry<'a, &'k K, $key, V>;
        /// The place of a key that has a value.
        pub type OccupiedEntry<'a, 'k, K, V> =
            $crate::collections::entry::OccupiedEntry<'a, &'k K, $key, V>;
        /// The place of a key that has no value.
        pub type VacantEntry<'a, 'k, K, V> =
            $crate::collections::entry::VacantEntry<'a, &'k K, $key, V>;
        /// The error of `try_insert`.
        pub type OccupiedError<'a, 'k, K, V> =
            $crate::collections::entry::OccupiedError<'a, &'k K, $key, V>;
        /// See `iter_mut`.
        pub type IterMut<'a, K, V> = $crate::collections::iter::IterMut<'a, $key, Owned<V>>;
        /// See `values_mut`.
        pub type ValuesMut<'a, K, V> = $crate::collections::iter::ValuesMut<'a, $key, Owned<V>>;
        /// See `drain_dead`.
        pub type DrainDead<'a, K, V> = $crate::collections::iter::DrainDead<'a, $key, Owned<V>>;
        $crate::collections::names::iterator_names!($key, Owned<V>);
    };
}

/// Defines the names for a map with weak values. The arguments are the types of the key as it is
/// passed, and as it is stored.
macro_rules! weak_names {
    ([$($life:lifetime)?] $given:ty, $key:ty) => {
        /// The place of a key.
        pub type Entry<'a, $($life,)? K, V> = $crate::collections::entry::WeakEntry<'a, $given, $key, V>;
        /// The place of a key that has a live value.
        pub type OccupiedEntry<'a, $($life,)? K, V> =
            $crate::collections::entry::WeakOccupiedEntry<'a, $given, $key, V>;
        /// The place of a key that has no live value.
        pub type VacantEntry<'a, $($life,)? K, V> =
            $crate::collections::entry::WeakVacantEntry<'a, $given, $key, V>;
        /// The error of `try_insert`.
        pub type OccupiedError<'a, $($life,)? K, V> =
            $crate::collections::entry::WeakOccupiedError<'a, $given, $key, V>;
        /// See `keys_of`.
        pub type KeysOf<'a, K, V> =
            $crate::collections::iter::KeysOf<'a, $key, <V as $crate::reference::WeakKey>::Watch>;
        $crate::collections::names::iterator_names!($key, <V as $crate::reference::WeakKey>::Watch);
    };
}

pub(crate) use {iterator_names, owned_names, weak_names};
