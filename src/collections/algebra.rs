//! Set algebra, and the other methods of all sets. The algebra only checks whether an element is in
//! a set.

/// The methods of a set that only check the elements of sets. The arguments are the lookup of an
/// element.
macro_rules! algebra {
    (|$set:ident, $key:ident| $has:expr) => {
        /// Iterates over the live elements of either set. O(both capacities).
        pub fn union<'a>(
            &'a self,
            other: &'a Self,
        ) -> impl core::iter::FusedIterator<Item = K> + Clone {
            self.iter().chain(other.difference(self))
        }

        /// Iterates over the live elements of both sets. O(capacity).
        pub fn intersection<'a>(
            &'a self,
            $set: &'a Self,
        ) -> impl core::iter::FusedIterator<Item = K> + Clone {
            self.iter().filter(move |$key| $has)
        }

        /// Iterates over the live elements of this set that are not in `other`. O(capacity).
        pub fn difference<'a>(
            &'a self,
            $set: &'a Self,
        ) -> impl core::iter::FusedIterator<Item = K> + Clone {
            self.iter().filter(move |$key| !$has)
        }

        /// Iterates over the live elements that are in exactly one of the sets. O(both capacities).
        pub fn symmetric_difference<'a>(
            &'a self,
            other: &'a Self,
        ) -> impl core::iter::FusedIterator<Item = K> + Clone {
            self.difference(other).chain(other.difference(self))
        }

        /// Returns whether the sets have no live element in common. O(capacity).
        #[must_use]
        pub fn is_disjoint(&self, other: &Self) -> bool {
            self.intersection(other).next().is_none()
        }

        /// Returns whether `other` contains all live elements of this set. O(capacity).
        #[must_use]
        pub fn is_subset(&self, other: &Self) -> bool {
            self.difference(other).next().is_none()
        }

        /// Returns whether this set contains all live elements of `other`. O(capacity of `other`).
        #[must_use]
        pub fn is_superset(&self, other: &Self) -> bool {
            other.is_subset(self)
        }
    };
}

/// An operator of sets: collects the elements of an iterator into a new set.
macro_rules! operator {
    ([$($generics:tt)*] $set:ty, [$($clause:tt)*] $trait:ident::$method:ident, $algebra:ident) => {
        #[doc = concat!("A new set: the ", stringify!($algebra), ".")]
        impl<$($generics)*> core::ops::$trait<&$set> for &$set where $set: Default, $($clause)* {
            type Output = $set;

            fn $method(self, other: &$set) -> $set {
                self.$algebra(other).collect()
            }
        }
    };
}

/// The operators of a set.
macro_rules! operators {
    ($generics:tt $set:ty, $clause:tt) => {
        $crate::collections::algebra::operator!($generics $set, $clause BitOr::bitor, union);
        $crate::collections::algebra::operator!($generics $set, $clause BitAnd::bitand, intersection);
        $crate::collections::algebra::operator!($generics $set, $clause Sub::sub, difference);
        $crate::collections::algebra::operator!($generics $set, $clause BitXor::bitxor, symmetric_difference);
    };
}

/// The methods of a set that need no lookup.
macro_rules! set_methods {
    () => {
        /// Removes a live element, and returns it. Consecutive calls visit each bucket once: O(1)
        /// amortised over emptying the set. A call visits each bucket at most once; later calls
        /// skip stretches of a large set that have no element.
        pub fn pop(&mut self) -> Option<K> {
            self.store.pop().map(|(key, ())| key)
        }

        /// Keeps only the live elements for which `keep` returns true. O(capacity).
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Elements that were not visited yet stay.
        pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
            self.extract_if(|key| !keep(key)).for_each(drop);
        }

        /// Returns an iterator that removes and returns the live elements for which `take` returns
        /// true, one at a time. If the iterator is dropped early, the remaining elements stay.
        /// O(capacity).
        pub fn extract_if(
            &mut self,
            mut take: impl FnMut(&K) -> bool,
        ) -> impl core::iter::FusedIterator<Item = K> {
            self.store
                .extract_if(move |key, ()| take(key))
                .map(|(key, ())| key)
        }

        /// Removes all live elements, and returns them as an iterator. The set is empty and without
        /// memory at once, even if the iterator is forgotten. O(capacity).
        pub fn drain(&mut self) -> Drain<'_, K> {
            $crate::collections::iter::DrainKeys(self.store.drain())
        }

        /// Iterates over all live elements, as strong handles, in arbitrary order. O(capacity).
        pub fn iter(&self) -> Iter<'_, K> {
            self.store.keys()
        }
    };
}

/// The iterators of a set, by their usual names.
macro_rules! set_names {
    ($slot:ty) => {
        /// See `iter`.
        pub type Iter<'a, K> = $crate::collections::iter::Keys<'a, $slot, Owned<()>>;
        /// See `iter_weak`.
        pub type IterWeak<'a, K> = $crate::collections::iter::KeysWeak<'a, $slot, Owned<()>>;
        /// An iterator over the live elements of a set, by value.
        pub type IntoIter<K> = $crate::collections::iter::IntoKeys<$slot, Owned<()>>;
        /// See `drain`.
        pub type Drain<'a, K> = $crate::collections::iter::DrainKeys<'a, $slot, Owned<()>>;
    };
}

/// The iteration and formatting traits of a set.
macro_rules! set_traits {
    ([$($generics:tt)*] $set:ty) => {
        impl<$($generics)*> IntoIterator for $set {
            type Item = K;
            type IntoIter = IntoIter<K>;

            fn into_iter(self) -> IntoIter<K> {
                self.store.into_keys()
            }
        }

        impl<'a, $($generics)*> IntoIterator for &'a $set {
            type Item = K;
            type IntoIter = Iter<'a, K>;

            fn into_iter(self) -> Iter<'a, K> {
                self.iter()
            }
        }

        impl<$($generics)*> fmt::Debug for $set
        where
            K: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.iter()).finish()
            }
        }
    };
}

/// `PartialEq` and `Eq` of a set. `$has` is whether the set `$set` has the element `$key`.
macro_rules! set_comparing {
    ([$($generics:tt)*] $name:ty, |$set:ident, $key:ident| $has:expr) => {
        /// Compares the live elements, as lookups do.
        impl<$($generics)*> PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.store.equals(&other.store, |key, ()| {
                    let ($set, $key) = (other, &key);
                    $has
                })
            }
        }

        impl<$($generics)*> Eq for $name {}
    };
}

pub(crate) use {algebra, operator, operators, set_comparing, set_methods, set_names, set_traits};
