//! What the collections have in common, so that a behaviour is written once and runs for each of them, with each
//! kind of pointer.
//!
//! An entry is identified by a number, and lives as long as its *life*: the one object that the test keeps
//! alive, whose payload is the number. That is the key of a [`WeakMap`](weakly::WeakMap), the value of a
//! [`WeakValueMap`](weakly::WeakValueMap), either side of a [`WeakPairMap`](weakly::WeakPairMap). Whatever else
//! an entry needs, the wrappers in [`faces`] keep alive, or the collection owns.

mod faces;
mod mapping;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) use faces::*;
pub(crate) use mapping::Mapping;

use crate::common::owned;
use crate::common::{Counter, Key, Kind, downgrade, keys, new};
use weakly::{Reclaim, StrongRef};

/// Called with the number when something that a collection owns is dropped.
pub(crate) type Ends = Rc<dyn Fn(usize)>;

/// Nothing happens.
pub(crate) fn quietly() -> Ends {
    Rc::new(|_| ())
}

/// The counter counts.
pub(crate) fn counted(counter: &Counter) -> Ends {
    let counter = counter.clone();
    Rc::new(move |_| drop(counter.witness()))
}

/// What a collection owns of an entry.
pub(crate) type Owned = owned::Owned<Ends>;

/// What an entry can still be looked up by after its life.
pub(crate) struct Ghost<P: Kind> {
    pub(crate) number: usize,
    pub(crate) weak: <Key<P> as StrongRef>::Weak,
}

pub(crate) fn ghost<P: Kind>(life: &Key<P>) -> Ghost<P> {
    Ghost {
        number: **life,
        weak: downgrade(life),
    }
}

/// Sides of entries that are not their lives, and which the test keeps alive.
pub(crate) type Others<P> = BTreeMap<usize, Key<P>>;

/// A collection of weak entries.
pub(crate) trait Collection: Default {
    type Kind: Kind;
    /// Whether deaths are notified.
    const NOTIFIES: bool = Self::Kind::NOTIFIES;
    /// Whether it owns something of each entry.
    const OWNS: bool = false;
    /// Whether entries are keyed by number, and not by the object that is their life.
    const BY_CONTENT: bool = true;
    /// How many watches it has on a life.
    const WATCHES: usize = 1;
    /// Whether each has keys of its own, made by the wrapper: no two that were made separately are equal.
    const LONE: bool = false;
    /// How often "a million times" is, for one of the collections over the table that all of them share.
    const OFTEN: usize = 20_000;

    fn with_capacity(capacity: usize) -> Self;
    /// Inserts an entry that lives as long as `life`, replacing an existing one of the same name.
    fn enter(&mut self, life: &Key<Self::Kind>, ends: &Ends);
    fn has(&self, ghost: &Ghost<Self::Kind>) -> bool;
    /// The lives of the entries.
    fn iter(&self) -> impl Iterator<Item = Key<Self::Kind>> + Clone;
    fn capacity(&self) -> usize;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn reclaim(&self) -> Reclaim;
    fn set_reclaim(&mut self, reclaim: Reclaim);
    fn purge(&mut self);
    fn reserve(&mut self, additional: usize);
    fn try_reserve(&mut self, additional: usize) -> bool;
    fn shrink_to(&mut self, capacity: usize);
    fn shrink_to_fit(&mut self);
    fn clear(&mut self);

    /// One that has an entry for each life.
    fn of<'a>(lives: impl IntoIterator<Item = &'a Key<Self::Kind>>, ends: &Ends) -> Self {
        let mut all = Self::default();
        for life in lives {
            all.enter(life, ends);
        }
        all
    }

    fn contains(&self, life: &Key<Self::Kind>) -> bool {
        self.has(&ghost::<Self::Kind>(life))
    }

    /// The numbers that an iterator shows, in order.
    fn numbers(&self) -> Vec<usize> {
        sorted(self.iter().map(|life| *life))
    }

    /// `n` where it owns something of each entry, else nothing.
    fn owned(n: usize) -> usize {
        if Self::OWNS { n } else { 0 }
    }

    /// `n` where deaths are notified, else nothing.
    fn notified(n: usize) -> usize {
        if Self::NOTIFIES { n } else { 0 }
    }
}

/// A collection from which entries can be removed.
pub(crate) trait Changing: Collection + Clone + PartialEq {
    /// Removes an entry; returns whether it was there.
    fn leave(&mut self, ghost: &Ghost<Self::Kind>) -> bool;
    fn pop(&mut self) -> Option<Key<Self::Kind>>;
    fn retain(&mut self, keep: impl FnMut(usize) -> bool);
    fn extract_if(
        &mut self,
        take: impl FnMut(usize) -> bool,
    ) -> impl Iterator<Item = Key<Self::Kind>>;
    fn drain(&mut self) -> impl Iterator<Item = Key<Self::Kind>>;
    fn into_iter(self) -> impl Iterator<Item = Key<Self::Kind>>;
    /// By its `Extend`.
    fn extend<'a>(&mut self, lives: impl IntoIterator<Item = &'a Key<Self::Kind>>, ends: &Ends);
    /// By its `Extend`, from another.
    fn extend_from(&mut self, other: Self);
    /// The numbers of all entries, in order, by each of its other iterators.
    fn views(self) -> Vec<Vec<usize>>;
    /// The lives, or all the weak sides, as weak handles.
    fn weak(&self) -> impl Iterator<Item = <Key<Self::Kind> as StrongRef>::Weak>;

    /// The numbers that are shown by each of its ways to change a value in place, the last of which is a lookup.
    fn look_to_change(&mut self, _: &Key<Self::Kind>) -> Vec<Vec<usize>> {
        Vec::new()
    }

    fn drop_out(&mut self, life: &Key<Self::Kind>) -> bool {
        self.leave(&ghost::<Self::Kind>(life))
    }
}

/// A collection that owns something of each entry, and returns it when the entry is dead.
pub(crate) trait Owning: Changing {
    fn drain_dead(&mut self) -> impl std::iter::FusedIterator<Item = Owned>;
}

/// In order.
pub(crate) fn sorted(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// A collection with the entries `0..n`, and their lives.
pub(crate) fn numbered<C: Collection>(n: usize) -> (C, Vec<Key<C::Kind>>) {
    let lives = keys::<C::Kind>(n);
    (C::of(&lives, &quietly()), lives)
}

/// A chain of entries, each of which owns the life of the next, and the life of the first.
pub(crate) fn chain<C: Owning>(n: usize, ends: &Ends) -> (C, Key<C::Kind>) {
    let mut all = C::default();
    let mut head = None;
    for n in 0..n {
        let life = new::<C::Kind, _>(n);
        let (next, ends) = (Cell::new(head.replace(life.clone())), ends.clone());
        let last: Ends = Rc::new(move |number| {
            drop(next.take());
            ends(number);
        });
        all.enter(&life, &last);
    }
    (all, head.unwrap())
}

/// A `#[test]` for each collection and each kind of pointer, from functions that are generic over the
/// collection: `for_each_collection!(a, b);` gives `a::weak_map::atomic`, `a::weak_map::local`, …
/// Functions over [`Changing`] and [`Owning`] have their own lists below.
#[macro_export]
macro_rules! for_each_collection {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!([weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps,
            weak_pair_map_by_key: PairsByKey, weak_pair_map_by_value: PairsByValue,
            weak_pair_map_twice: PairsTwice, weak_hash_pair_map_by_key: HashPairsByKey,
            weak_hash_pair_map_by_value: HashPairsByValue, weak_hash_pair_map_twice: HashPairsTwice,
            weak_hash_map: HashMaps, weak_hash_set: HashSets,
            interner: Interners] $($test)*);
    };
}

/// For deaths on other threads: with the kinds of pointer that may cross them.
#[macro_export]
macro_rules! for_each_shared {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!(@shared [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps,
            weak_pair_map_by_key: PairsByKey, weak_pair_map_by_value: PairsByValue,
            weak_pair_map_twice: PairsTwice, weak_hash_pair_map_by_key: HashPairsByKey,
            weak_hash_pair_map_by_value: HashPairsByValue, weak_hash_pair_map_twice: HashPairsTwice,
            weak_hash_map: HashMaps, weak_hash_set: HashSets,
            interner: Interners] $($test)*);
    };
}

/// See [`for_each_collection!`].
#[macro_export]
macro_rules! for_each_changing {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!([weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps,
            weak_pair_map_by_key: PairsByKey, weak_pair_map_by_value: PairsByValue,
            weak_pair_map_twice: PairsTwice, weak_hash_pair_map_by_key: HashPairsByKey,
            weak_hash_pair_map_by_value: HashPairsByValue, weak_hash_pair_map_twice: HashPairsTwice,
            weak_hash_map: HashMaps, weak_hash_set: HashSets]
            $($test)*);
    };
}

/// See [`for_each_collection!`].
#[macro_export]
macro_rules! for_each_owning {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!([weak_map: Maps, weak_value_map: ValueMaps, weak_hash_map: HashMaps]
            $($test)*);
    };
}

/// For [`Mapping`].
#[macro_export]
macro_rules! for_each_map {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!([weak_map: Maps, weak_value_map: ValueMaps, weak_pair_map: PairsByKey,
            weak_hash_pair_map: HashPairsByKey, weak_hash_map: HashMaps] $($test)*);
    };
}

/// For [`Algebra`](crate::g_weak_set::Algebra).
#[macro_export]
macro_rules! for_each_set {
    ($($test:ident),* $(,)?) => {
        $crate::for_each_of!([weak_set: Sets, weak_hash_set: HashSets] $($test)*);
    };
}

/// A module for each test, in it one for each collection, in it a test for each kind of pointer.
#[macro_export]
macro_rules! for_each_of {
    (@shared $collections:tt $($test:ident)*) => {$(
        mod $test {
            $crate::for_each_of!(@each_shared $test $collections);
        }
    )*};
    (@each_shared $test:ident [$($name:ident: $collection:ident),*]) => {$(
        mod $name {
            use $crate::collections::$collection;
            #[test]
            fn atomic() {
                super::super::$test::<$collection<$crate::common::Atomic>>();
            }
            #[test]
            fn std_arc() {
                super::super::$test::<$collection<$crate::common::StdArc>>();
            }
        }
    )*};
    (@one $test:ident [$($name:ident: $collection:ident),*]) => {$(
        mod $name {
            $crate::for_each_kind!(@each P =>
                super::super::$test::<$crate::collections::$collection<P>>());
        }
    )*};
    ($collections:tt $($test:ident)*) => {$(
        mod $test {
            $crate::for_each_of!(@one $test $collections);
        }
    )*};
}
