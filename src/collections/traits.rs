//! The constructors and trait impls that collections have in the same words. Each body is one call
//! of [`Store`](crate::collections::store::Store), or of one of the collection's own methods.

/// The constructors of a collection by identity.
macro_rules! by_identity {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $name {
            /// Creates an empty collection. Allocates nothing.
            #[must_use]
            #[inline]
            pub const fn new() -> Self {
                Self { store: Store::with_hasher(()) }
            }

            /// Creates an empty collection with room for `capacity` entries.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity(capacity: usize) -> Self {
                Self { store: Store::with_capacity_and_hasher(capacity, ()) }
            }
        }

        impl<$($generics)*> Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

/// The constructors of a collection with a hasher.
macro_rules! by_hash {
    ([$($generics:tt)*] $name:ident<$($parameter:ident),*>) => {
        impl<$($generics)*> $name<$($parameter),*> {
            /// Creates an empty collection. Allocates nothing.
            ///
            /// Not `const`, since each collection has its own seeds: see
            /// [`with_hasher`](Self::with_hasher).
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Creates an empty collection with room for `capacity` entries.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity(capacity: usize) -> Self {
                Self::with_capacity_and_hasher(capacity, Default::default())
            }
        }

        impl<$($generics)*, S> $name<$($parameter),*, S> {
            /// Creates an empty collection that uses the given hasher. Works at compile time, for a
            /// `static`, if the hasher can be made at compile time: see the example at
            /// [`WeakHashMap`](crate::WeakHashMap#in-a-static).
            #[must_use]
            #[inline]
            pub const fn with_hasher(hasher: S) -> Self {
                Self { store: Store::with_hasher(hasher) }
            }

            /// Creates an empty collection with room for `capacity` entries that uses the given
            /// hasher.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
                Self { store: Store::with_capacity_and_hasher(capacity, hasher) }
            }

            /// Returns a reference to the hasher.
            #[must_use]
            #[inline]
            pub fn hasher(&self) -> &S {
                &self.store.hasher
            }
        }

        impl<$($generics)*, S: Default> Default for $name<$($parameter),*, S> {
            fn default() -> Self {
                Self::with_hasher(S::default())
            }
        }
    };
}

/// `Clone`. (No entry is looked up: the hashes are known.)
macro_rules! cloning {
    ([$($generics:tt)*] $name:ty) => {
        /// Creates a collection with the same live entries, and with clones of the keys or values
        /// that the collection owns. Each collection drops its own entries.
        impl<$($generics)*> Clone for $name {
            fn clone(&self) -> Self {
                Self { store: self.store.copy() }
            }
        }
    };
}

/// `PartialEq` and `Eq` of a map.
macro_rules! comparing {
    ([$($generics:tt)*] $name:ty, |$key:ident| $query:expr) => {
        /// Compares the live entries. Keys are compared as in lookups; values are compared by `==`,
        /// handles by their targets.
        impl<$($generics)*> PartialEq for $name where V: PartialEq {
            fn eq(&self, other: &Self) -> bool {
                let has = |$key, value| other.get($query) == Some(value);
                self.store.equals(&other.store, has)
            }
        }

        impl<$($generics)*> Eq for $name where V: Eq {}
    };
}

/// `IntoIterator`, and `Debug`, of a map.
macro_rules! iterating {
    ([$($generics:tt)*] $name:ty, $item:ty, $ref_item:ty) => {
        impl<$($generics)*> IntoIterator for $name {
            type Item = $item;
            type IntoIter = IntoIter<K, V>;

            fn into_iter(self) -> IntoIter<K, V> {
                self.store.into_iter()
            }
        }

        impl<'a, $($generics)*> IntoIterator for &'a $name {
            type Item = $ref_item;
            type IntoIter = Iter<'a, K, V>;

            fn into_iter(self) -> Iter<'a, K, V> {
                self.store.iter()
            }
        }

        impl<$($generics)*> core::fmt::Debug for $name
        where
            K: core::fmt::Debug,
            V: core::fmt::Debug,
        {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_map().entries(self).finish()
            }
        }
    };
}

/// `IntoIterator` of a map whose values can be changed in place.
macro_rules! iterating_mut {
    ([$($generics:tt)*] $name:ty) => {
        impl<'a, $($generics)*> IntoIterator for &'a mut $name {
            type Item = (K, &'a mut V);
            type IntoIter = IterMut<'a, K, V>;

            fn into_iter(self) -> IterMut<'a, K, V> {
                self.store.iter_mut()
            }
        }
    };
}

/// `Extend`, for one kind of item. (Items with references to values have only `Extend`: if they had
/// `FromIterator` too, the items would not determine the type of the values.)
macro_rules! extending {
    ($(#[$doc:meta])* [$($generics:tt)*] $name:ty, where [$($clause:tt)*],
     $item:ty: |$this:ident, $pattern:pat_param| $insert:expr) => {
        $(#[$doc])*
        impl<$($generics)*> Extend<$item> for $name where $($clause)* {
            fn extend<Items: IntoIterator<Item = $item>>(&mut self, items: Items) {
                let $this = self;
                for $pattern in items {
                    $insert;
                }
            }
        }
    };
}

/// `Extend`, `FromIterator` and `From` of an array, for one kind of item. (A collection from an
/// array has the default hasher, as in std: nothing else would determine the hasher.)
macro_rules! collecting {
    ($(#[$doc:meta])* [$($generics:tt)*] $name:ty, from [$($from_generics:tt)*] $from:ty, where [$($clause:tt)*], [$($hasher:tt)*],
     $item:ty: |$this:ident, $pattern:pat_param| $insert:expr) => {
        $crate::collections::traits::extending!($(#[$doc])* [$($generics)*] $name, where [$($clause)* $($hasher)*],
            $item: |$this, $pattern| $insert);

        $(#[$doc])*
        impl<$($generics)*> FromIterator<$item> for $name where Self: Default, $($clause)* $($hasher)* {
            fn from_iter<Items: IntoIterator<Item = $item>>(items: Items) -> Self {
                let mut collected = Self::default();
                collected.extend(items);
                collected
            }
        }

        $(#[$doc])*
        impl<$($from_generics)*, const N: usize> From<[$item; N]> for $from where $($clause)* {
            fn from(items: [$item; N]) -> Self {
                Self::from_iter(items)
            }
        }
    };
}

pub(crate) use {
    by_hash, by_identity, cloning, collecting, comparing, extending, iterating, iterating_mut,
};
