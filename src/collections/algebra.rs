//! Set algebra, shared by all sets. The algebra only asks whether an element is in a set.

use core::iter::Chain;

use super::iter::{Keys, live};
use crate::reference::{Owned, Upgrade};

/// A set: its elements, and a test for an element. Sealed.
pub trait Set: sealed::Sealed + Sized {
    /// The slot of an element.
    type Slot: Upgrade;
    #[doc(hidden)]
    fn has(&self, key: &Element<Self>) -> bool;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// The handle to an element, as a set returns it.
pub(crate) type Element<S> = <<S as Set>::Slot as Upgrade>::Pointer;
pub(crate) type Elements<'a, S> = Keys<'a, <S as Set>::Slot, Owned<()>>;

/// An iterator over the live elements of both sets.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Intersection<'a, S: Set>(pub(super) Elements<'a, S>, pub(super) &'a S);

/// An iterator over the live elements of the first set that are not in the second.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Difference<'a, S: Set>(pub(super) Elements<'a, S>, pub(super) &'a S);

/// An iterator over the live elements of either set.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Union<'a, S: Set>(pub(super) Chain<Elements<'a, S>, Difference<'a, S>>);

/// An iterator over the live elements that are in exactly one of the sets.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct SymmetricDifference<'a, S: Set>(pub(super) Chain<Difference<'a, S>, Difference<'a, S>>);

live! {
    ['a, S: Set] Intersection<'a, S> -> Element<S>: |this| this.0.find(|key| this.1.has(key));
    ['a, S: Set] Difference<'a, S> -> Element<S>: |this| this.0.find(|key| !this.1.has(key));
    ['a, S: Set] Union<'a, S> -> Element<S>: |this| this.0.next();
    ['a, S: Set] SymmetricDifference<'a, S> -> Element<S>: |this| this.0.next();
}

macro_rules! cloned {
    ($($name:ident($($field:tt),*))*) => {$(
        impl<S: Set> Clone for $name<'_, S> {
            fn clone(&self) -> Self {
                $name($(self.$field.clone()),*)
            }
        }
    )*};
}

cloned! { Intersection(0, 1) Difference(0, 1) Union(0) SymmetricDifference(0) }

/// The methods of a set that only check the elements of sets.
macro_rules! algebra {
    () => {
        /// Iterates over the live elements of either set. O(both capacities).
        pub fn union<'a>(
            &'a self,
            other: &'a Self,
        ) -> $crate::collections::algebra::Union<'a, Self> {
            $crate::collections::algebra::Union(self.iter().chain(other.difference(self)))
        }

        /// Iterates over the live elements of both sets. O(capacity).
        pub fn intersection<'a>(
            &'a self,
            other: &'a Self,
        ) -> $crate::collections::algebra::Intersection<'a, Self> {
            $crate::collections::algebra::Intersection(self.iter(), other)
        }

        /// Iterates over the live elements of this set that are not in `other`. O(capacity).
        pub fn difference<'a>(
            &'a self,
            other: &'a Self,
        ) -> $crate::collections::algebra::Difference<'a, Self> {
            $crate::collections::algebra::Difference(self.iter(), other)
        }

        /// Iterates over the live elements that are in exactly one of the sets. O(both capacities).
        pub fn symmetric_difference<'a>(
            &'a self,
            other: &'a Self,
        ) -> $crate::collections::algebra::SymmetricDifference<'a, Self> {
            let both = self.difference(other).chain(other.difference(self));
            $crate::collections::algebra::SymmetricDifference(both)
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

/// An operator of sets: a new set of what the iterator returns.
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
    ($slot:ty, $set:ty $(, $hasher:ident = $default:ty)?) => {
        /// See `iter`.
        pub type Iter<'a, K> = $crate::collections::iter::Keys<'a, $slot, Owned<()>>;
        /// See `iter_weak`.
        pub type IterWeak<'a, K> = $crate::collections::iter::KeysWeak<'a, $slot, Owned<()>>;
        /// An iterator over the live elements of a set, by value.
        pub type IntoIter<K> = $crate::collections::iter::IntoKeys<$slot, Owned<()>>;
        /// See `drain`.
        pub type Drain<'a, K> = $crate::collections::iter::DrainKeys<'a, $slot, Owned<()>>;
        /// See `union`.
        pub type Union<'a, K $(, $hasher = $default)?> = $crate::collections::algebra::Union<'a, $set>;
        /// See `intersection`.
        pub type Intersection<'a, K $(, $hasher = $default)?> = $crate::collections::algebra::Intersection<'a, $set>;
        /// See `difference`.
        pub type Difference<'a, K $(, $hasher = $default)?> = $crate::collections::algebra::Difference<'a, $set>;
        /// See `symmetric_difference`.
        pub type SymmetricDifference<'a, K $(, $hasher = $default)?> =
            $crate::collections::algebra::SymmetricDifference<'a, $set>;
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

/// `PartialEq` and `Eq` of a set.
macro_rules! set_comparing {
    ([$($generics:tt)*] $set:ty) => {
        /// Compares the live elements, as lookups do.
        impl<$($generics)*> PartialEq for $set {
            fn eq(&self, other: &Self) -> bool {
                self.store.equals(&other.store, |key, ()| other.has(&key))
            }
        }

        impl<$($generics)*> Eq for $set {}
    };
}

pub(crate) use {algebra, operator, operators, set_comparing, set_methods, set_names, set_traits};
