//! The set of objects that it does not own.

use alloc::collections::TryReserveError;
use core::fmt;
use core::iter::{Chain, FusedIterator};
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Sub, SubAssign};

use crate::map::{self, WeakMap};
use crate::reference::{Identify, StrongRef};

/// A hash set of weak pointers, told apart by identity: which objects have been seen, are dirty, are
/// subscribed.
///
/// A [`WeakMap`] without values: everything said there holds here. Elements vanish when they die.
///
/// ```
/// use weakly::{Strong, WeakSet};
///
/// let (a, b) = (Strong::new("same"), Strong::new("same"));
/// let mut dirty = WeakSet::new();
/// assert!(dirty.insert(&a));
/// assert!(!dirty.insert(&a));
/// assert!(!dirty.contains(&b));
/// drop(a);
/// assert!(dirty.is_empty());
/// ```
pub struct WeakSet<K: StrongRef> {
    map: WeakMap<K, ()>,
}

impl<K: StrongRef> WeakSet<K> {
    /// An empty set. Allocates nothing before the first insert.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        WeakSet {
            map: WeakMap::new(),
        }
    }

    /// An empty set with room for `capacity` elements.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        WeakSet {
            map: WeakMap::with_capacity(capacity),
        }
    }

    /// How many elements fit without growing. See [`WeakMap::capacity`].
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.map.capacity()
    }

    /// The number of elements. O(1). See [`WeakMap::len`].
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether [`len`](Self::len) is zero. See [`WeakMap::is_empty`].
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The number of live elements, by asking each. O(capacity).
    #[must_use]
    pub fn len_live(&self) -> usize {
        self.map.len_live()
    }

    /// The number of elements that have announced their death and are not yet forgotten. O(1).
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.map.pending_dead()
    }

    /// Forgets all the dead. See [`WeakMap::purge`].
    pub fn purge(&mut self) {
        self.map.purge();
    }

    /// Makes room for `additional` more elements. See [`WeakMap::reserve`].
    ///
    /// # Panics
    /// If the new size is more than an address space holds.
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
    }

    /// Makes room for `additional` more elements. See [`WeakMap::try_reserve`].
    ///
    /// # Errors
    /// If the new size is more than an address space holds, or more than the allocator gives.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.map.try_reserve(additional)
    }

    /// Gives back memory that is not needed. See [`WeakMap::shrink_to_fit`].
    pub fn shrink_to_fit(&mut self) {
        self.map.shrink_to_fit();
    }

    /// Gives back memory, but keeps room for `min_capacity` elements. See [`WeakMap::shrink_to`].
    pub fn shrink_to(&mut self, min_capacity: usize) {
        self.map.shrink_to(min_capacity);
    }

    /// Removes all elements, and keeps the memory.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// Whether the object is an element. O(1). See [`WeakMap::get`].
    #[must_use]
    #[inline]
    pub fn contains<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.map.contains_key(key)
    }

    /// The element, as a strong pointer. O(1). `None` also in its own destructor.
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<K> {
        self.map.get_key_value(key).map(|(key, ())| key)
    }

    /// Adds an object; says whether it is new. O(1) amortised.
    #[inline]
    pub fn insert(&mut self, key: &K) -> bool {
        self.map.insert(key, ()).is_none()
    }

    /// Removes an object; says whether it was there. O(1).
    #[inline]
    pub fn remove<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> bool {
        self.map.remove(key).is_some()
    }

    /// Removes an object, and returns it as a strong pointer. O(1).
    pub fn take<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<K> {
        self.map.remove_entry(key).map(|(key, ())| key)
    }

    /// Removes some live element, and returns it. See [`WeakMap::pop`].
    pub fn pop(&mut self) -> Option<K> {
        self.map.pop().map(|(key, ())| key)
    }

    /// Keeps the live elements for which `keep` is true. See [`WeakMap::retain`].
    ///
    /// # Panics
    /// If `keep` does; what was not visited stays.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }

    /// Takes out the live elements for which `take` is true. See [`WeakMap::extract_if`].
    pub fn extract_if(&mut self, mut take: impl FnMut(&K) -> bool) -> impl FusedIterator<Item = K> {
        self.map
            .extract_if(move |key, ()| take(key))
            .map(|(key, ())| key)
    }

    /// Takes all live elements out. See [`WeakMap::drain`].
    pub fn drain(&mut self) -> Drain<'_, K> {
        Drain(self.map.drain())
    }

    /// All live elements, as strong pointers, in no order. O(capacity).
    pub fn iter(&self) -> Iter<'_, K> {
        Iter(self.map.keys())
    }

    /// All elements as weak handles, without an upgrade. See [`WeakMap::weak_keys`].
    pub fn iter_weak(&self) -> map::WeakKeys<'_, K, ()> {
        self.map.weak_keys()
    }

    /// The live elements of either set. O(both capacities).
    pub fn union<'a>(&'a self, other: &'a Self) -> Union<'a, K> {
        Union(self.iter().chain(other.difference(self)))
    }

    /// The live elements of both sets. O(capacity).
    pub fn intersection<'a>(&'a self, other: &'a Self) -> Intersection<'a, K> {
        Intersection(self.iter(), other)
    }

    /// The live elements of this set that are not in the other. O(capacity).
    pub fn difference<'a>(&'a self, other: &'a Self) -> Difference<'a, K> {
        Difference(self.iter(), other)
    }

    /// The live elements that are in one set only. O(both capacities).
    pub fn symmetric_difference<'a>(&'a self, other: &'a Self) -> SymmetricDifference<'a, K> {
        SymmetricDifference(self.difference(other).chain(other.difference(self)))
    }

    /// Whether the sets have no live element in common. O(capacity).
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }

    /// Whether all live elements are in the other set. O(capacity).
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }

    /// Whether all live elements of the other set are in this. O(capacity of the other).
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }
}

macro_rules! iterators {
    ($($(#[$doc:meta])* $name:ident<$($life:lifetime)?>($inner:ty $(, $other:ty)?) |$this:ident| $next:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name<$($life,)? K: StrongRef>($inner $(, $other)?);

        impl<$($life,)? K: StrongRef> Iterator for $name<$($life,)? K> {
            type Item = K;

            fn next(&mut self) -> Option<K> {
                let $this = self;
                $next
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, self.0.size_hint().1)
            }
        }

        impl<$($life,)? K: StrongRef> FusedIterator for $name<$($life,)? K> {}

        impl<$($life,)? K: StrongRef> fmt::Debug for $name<$($life,)? K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("at_most", &self.size_hint().1)
                    .finish()
            }
        }
    )*};
}

iterators! {
    /// See [`WeakSet::iter`].
    Iter<'a>(map::Keys<'a, K, ()>) |this| this.0.next();
    /// The live elements of a set, by value.
    IntoIter<>(map::IntoKeys<K, ()>) |this| this.0.next();
    /// See [`WeakSet::drain`].
    Drain<'a>(map::Drain<'a, K, ()>) |this| this.0.next().map(|(key, ())| key);
    /// See [`WeakSet::union`].
    Union<'a>(Chain<Iter<'a, K>, Difference<'a, K>>) |this| this.0.next();
    /// See [`WeakSet::intersection`].
    Intersection<'a>(Iter<'a, K>, &'a WeakSet<K>) |this| this.0.find(|key| this.1.contains(key));
    /// See [`WeakSet::difference`].
    Difference<'a>(Iter<'a, K>, &'a WeakSet<K>) |this| this.0.find(|key| !this.1.contains(key));
    /// See [`WeakSet::symmetric_difference`].
    SymmetricDifference<'a>(Chain<Difference<'a, K>, Difference<'a, K>>) |this| this.0.next();
}

macro_rules! cloneable {
    ($($name:ident($first:tt $(, $second:tt)?)),*) => {$(
        impl<K: StrongRef> Clone for $name<'_, K> {
            fn clone(&self) -> Self {
                $name(self.$first.clone() $(, self.$second)?)
            }
        }
    )*};
}

cloneable!(
    Iter(0),
    Union(0),
    Intersection(0, 1),
    Difference(0, 1),
    SymmetricDifference(0)
);

impl<K: StrongRef> IntoIterator for WeakSet<K> {
    type Item = K;
    type IntoIter = IntoIter<K>;

    fn into_iter(self) -> IntoIter<K> {
        IntoIter(self.map.into_keys())
    }
}

impl<'a, K: StrongRef> IntoIterator for &'a WeakSet<K> {
    type Item = K;
    type IntoIter = Iter<'a, K>;

    fn into_iter(self) -> Iter<'a, K> {
        self.iter()
    }
}

impl<K: StrongRef> Default for WeakSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// The same live elements.
impl<K: StrongRef> Clone for WeakSet<K> {
    fn clone(&self) -> Self {
        WeakSet {
            map: self.map.clone(),
        }
    }
}

/// The same live elements, by identity.
impl<K: StrongRef> PartialEq for WeakSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<K: StrongRef> Eq for WeakSet<K> {}

impl<K: StrongRef + fmt::Debug> fmt::Debug for WeakSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: StrongRef> Extend<K> for WeakSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.map.extend(keys.into_iter().map(|key| (key, ())));
    }
}

impl<'a, K: StrongRef> Extend<&'a K> for WeakSet<K> {
    fn extend<I: IntoIterator<Item = &'a K>>(&mut self, keys: I) {
        self.map.extend(keys.into_iter().map(|key| (key, ())));
    }
}

impl<K: StrongRef> FromIterator<K> for WeakSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}

impl<'a, K: StrongRef> FromIterator<&'a K> for WeakSet<K> {
    fn from_iter<I: IntoIterator<Item = &'a K>>(keys: I) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}

impl<K: StrongRef, const N: usize> From<[K; N]> for WeakSet<K> {
    fn from(keys: [K; N]) -> Self {
        Self::from_iter(keys)
    }
}

impl<'a, K: StrongRef, const N: usize> From<[&'a K; N]> for WeakSet<K> {
    fn from(keys: [&'a K; N]) -> Self {
        Self::from_iter(keys)
    }
}

macro_rules! operators {
    ($($trait:ident::$method:ident, $assign:ident::$assign_method:ident: $algebra:ident, |$this:ident, $other:ident| $in_place:expr;)*) => {$(
        #[doc = concat!("A new set, of the [`", stringify!($algebra), "`](WeakSet::", stringify!($algebra), ").")]
        impl<K: StrongRef> $trait<&WeakSet<K>> for &WeakSet<K> {
            type Output = WeakSet<K>;

            fn $method(self, other: &WeakSet<K>) -> WeakSet<K> {
                self.$algebra(other).collect()
            }
        }

        #[doc = concat!("In place, the [`", stringify!($algebra), "`](WeakSet::", stringify!($algebra), ").")]
        impl<K: StrongRef> $assign<&WeakSet<K>> for WeakSet<K> {
            fn $assign_method(&mut self, $other: &WeakSet<K>) {
                let $this = self;
                $in_place;
            }
        }
    )*};
}

operators! {
    BitOr::bitor, BitOrAssign::bitor_assign: union, |this, other| this.extend(other);
    BitAnd::bitand, BitAndAssign::bitand_assign: intersection,
        |this, other| this.retain(|key| other.contains(key));
    Sub::sub, SubAssign::sub_assign: difference,
        |this, other| this.retain(|key| !other.contains(key));
    BitXor::bitxor, BitXorAssign::bitxor_assign: symmetric_difference,
        |this, other| for key in other {
            if !this.remove(&key) {
                this.insert(&key);
            }
        };
}
