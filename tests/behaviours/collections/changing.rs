//! What the collections of one owner, from which entries can be taken, have besides.

use std::iter::FusedIterator;
use std::ops::Deref;

use weakly::reference::{WeakKey, WeakRef};

use crate::common::downgrade;
use crate::common::subject::single::*;
use crate::common::subject::{Life, Owned, Single, sorted};

/// A collection from which entries can be removed.
pub(crate) trait Changing: Single + Clone + PartialEq {
    /// How many watches it has on a life.
    const WATCHES: usize = 1;
    /// Whether each has keys of its own: no two that were made separately are equal.
    const LONE: bool = false;

    fn pop(&mut self) -> Option<Self::Life>;
    fn retain(&mut self, keep: impl FnMut(usize) -> bool);
    fn extract_if(&mut self, take: impl FnMut(usize) -> bool) -> impl Iterator<Item = Self::Life>;
    fn drain(&mut self) -> impl Iterator<Item = Self::Life>;
    fn into_iter(self) -> impl Iterator<Item = Self::Life>;
    /// By its `Extend`.
    fn extend_with<'a>(&mut self, lives: impl IntoIterator<Item = &'a Self::Life>, ends: &Ends);
    /// By its `Extend`, from another.
    fn extend_from(&mut self, other: Self);
    /// The numbers of all entries, in order, by each of its other iterators.
    fn views(self) -> Vec<Vec<usize>>;
    /// The lives, or all the weak sides, as weak handles.
    fn weak(&self) -> impl Iterator<Item = <Self::Life as WeakKey>::Weak>;

    /// The numbers that are shown by each of its ways to change a value in place, the last of which is a lookup.
    fn look_to_change(&mut self, _: &Self::Life) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// By a weak handle, where keys are by identity.
    fn drop_out(&mut self, life: &Self::Life) -> bool {
        self.leaves(life, &downgrade(life))
    }
}

/// A collection that owns something of each entry, and returns it when the entry is dead.
pub(crate) trait Owning: Changing {
    fn drain_dead(&mut self) -> impl FusedIterator<Item = Owned<Ends>>;
}

fn payload<W: WeakRef<Strong: Deref<Target = usize>>>(weak: W) -> usize {
    *weak.upgrade().unwrap()
}

/// `item` shows the life of an item, `number` its number, `shown` the life among what closures are shown; `gives` is the
/// item for a life, `views` are the iterators that this one has besides.
macro_rules! changing {
    ($([$($generics:tt)*] $subject:ty, |$all:ident| $place:expr, $kept:expr;
        item |$item:pat_param| $of_item:expr;
        number |$numbered:pat_param| $number:expr;
        shown |$($shown:pat_param),*| $of_shown:expr;
        gives |$life:ident, $ends:ident| $gives:expr;
        views |$inner:ident| [$($view:expr),* $(,)?];
        from |$other:ident| $extend:expr;
        {$($more:tt)*}
    )*) => {$(
        impl<K: Life $($generics)*> Changing for $subject {
            fn pop(&mut self) -> Option<K> {
                let $all = self;
                $place.pop().map(|$item| $of_item)
            }
            fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
                let $all = self;
                $place.retain(|$($shown),*| keep(**$of_shown));
            }
            fn extract_if(&mut self, mut take: impl FnMut(usize) -> bool) -> impl Iterator<Item = K> {
                let $all = self;
                $place.extract_if(move |$($shown),*| take(**$of_shown)).map(|$item| $of_item)
            }
            fn drain(&mut self) -> impl Iterator<Item = K> {
                let $all = self;
                $place.drain().map(|$item| $of_item)
            }
            fn into_iter(mut self) -> impl Iterator<Item = K> {
                let $all = &mut self;
                // The other sides must live as long as the iterator.
                let (inner, partners) = (std::mem::take(&mut $place), $kept);
                IntoIterator::into_iter(inner).map(move |$item| {
                    let _ = &partners;
                    $of_item
                })
            }
            fn extend_with<'a>(&mut self, lives: impl IntoIterator<Item = &'a K>, $ends: &Ends) {
                let $all = self;
                Extend::extend(&mut $place, lives.into_iter().map(|$life| $gives));
            }
            fn extend_from(&mut self, $other: Self) {
                let $all = self;
                $extend
            }
            fn views(mut self) -> Vec<Vec<usize>> {
                let $all = &mut self;
                let $inner = $place.clone();
                vec![
                    sorted((&$inner).into_iter().map(|$item| *$of_item)),
                    sorted($inner.iter_weak().map(|$item| payload($of_item))),
                    $(sorted($view),)*
                    sorted($inner.clone().extract_if(|$($shown),*| **$of_shown < usize::MAX).map(|$numbered| $number)),
                    sorted($inner.clone().drain().map(|$numbered| $number)),
                    sorted(IntoIterator::into_iter($inner).map(|$numbered| $number)),
                ]
            }
            fn weak(&self) -> impl Iterator<Item = K::Weak> {
                let $all = self;
                $place.iter_weak().map(|$item| $of_item)
            }
            $($more)*
        }
    )*};
}

/// The maps that own their values: they differ in how a lookup names a key.
macro_rules! owned_values {
    ($($subject:ty: |$life:ident| $name:expr;)*) => {$(
        changing! {
            [] $subject, |all| *all, ();
            item |(life, _)| life;
            number |(_, owned)| owned.number;
            shown |life, _| life;
            gives |life, ends| (life, Owned::new(**life, ends));
            views |map| [
                map.iter().map(|(key, value)| (*key + value.number) / 2),
                map.iter().map(|(_, value)| value.number),
                map.keys().map(|key| *key),
                map.values().map(|value| value.number),
                map.clone().iter_mut().map(|(_, value)| value.number),
                (&mut map.clone()).into_iter().map(|(key, _)| *key),
                map.clone().values_mut().map(|value| value.number),
                map.clone().into_keys().map(|key| *key),
                map.clone().into_values().map(|value| value.number),
            ];
            from |other| Extend::extend(all, other);
            {
                fn look_to_change(&mut self, $life: &K) -> Vec<Vec<usize>> {
                    vec![
                        sorted(self.iter_mut().map(|(_, value)| value.number)),
                        sorted(self.values_mut().map(|value| value.number)),
                        vec![self.get_mut($name).unwrap().number],
                    ]
                }
            }
        }
    )*};
}

owned_values! {
    Maps<K>: |life| life;
    HashMaps<K>: |life| &**life;
}

changing! {
    [] ValueMaps<K>, |all| *all, ();
    item |(_, life)| life;
    number |(key, value)| (key.number + *value) / 2;
    shown |_, life| life;
    gives |life, ends| (Owned::new(**life, ends), life);
    views |map| [
        (&map).into_iter().map(|(key, _)| key.number),
        map.keys().map(|key| key.number),
        map.values().map(|value| *value),
        map.clone().into_keys().map(|key| key.number),
        map.clone().into_values().map(|value| *value),
    ];
    from |other| Extend::extend(all, other);
    {}
}

changing! {
    [] Sets<K>, |all| *all, ();
    item |life| life;
    number |life| *life;
    shown |life| life;
    gives |life, _ends| life;
    views |set| [];
    from |other| Extend::extend(all, other);
    {}

    [] HashSets<K>, |all| *all, ();
    item |life| life;
    number |life| *life;
    shown |life| life;
    gives |life, _ends| life;
    views |set| [];
    from |other| Extend::extend(all, other);
    {}
}

/// The views of both sides: where the life's number is, and where it may be.
macro_rules! pairs {
    ($([$($generics:tt)*] $subject:ty, |$all:ident| $place:expr, $kept:expr;
        |$item:pat_param| $life:ident;
        gives |$given:ident| $gives:expr;
        from |$other:ident| $extend:expr;
        {$($more:tt)*})*) => {$(
        changing! {
            [$($generics)*] $subject, |$all| $place, $kept;
            item |$item| $life;
            number |$item| *$life;
            shown |key, value| {
                let $item = (key, value);
                $life
            };
            gives |$given, _ends| $gives;
            views |map| [
                {
                    let live = map.iter().count();
                    let others = [
                        (map.keys().count(), map.values().count()),
                        (map.iter_weak().count(), map.iter_weak().count()),
                        (map.clone().into_keys().count(), map.clone().into_values().count()),
                    ];
                    assert_eq!(others, [(live, live); 3]);
                    map.keys().zip(map.values()).map(|$item| *$life)
                },
                map.clone().into_keys().zip(map.clone().into_values()).map(|$item| *$life),
            ];
            from |$other| $extend;
            {$($more)*}
        }
    )*};
}

/// Of the same two sides.
macro_rules! paired {
    ($($twice:ident, $by_key:ident, $by_value:ident, $lone:expr;)*) => {$(
        pairs! {
            [] $twice<K>, |all| *all, ();
            |(life, _)| life;
            gives |life| (life.clone(), life.clone());
            from |other| Extend::extend(all, other);
            {
                const WATCHES: usize = 2;
            }

            // One value for all.
            [] $by_key<K>, |all| all.all, std::mem::take(&mut all.partners);
            |(life, _)| life;
            gives |life| (life.clone(), all.partners.of(0));
            from |other| {
                all.partners.extend(other.partners);
                Extend::extend(&mut all.all, other.all)
            };
            {}

            // A key for each number, of which each collection has its own.
            [] $by_value<K>, |all| all.all, std::mem::take(&mut all.partners);
            |(_, life)| life;
            gives |life| (all.partners.of(**life), life.clone());
            from |other| other.iter().for_each(|life| _ = all.enter(&life, &quietly()));
            {
                const LONE: bool = $lone;
            }
        }
    )*};
}

paired! {
    PairsTwice, PairsByKey, PairsByValue, true;
    HashPairsTwice, HashPairsByKey, HashPairsByValue, false;
}

macro_rules! owning {
    ($($subject:ty),*) => {$(
        impl<K: Life> Owning for $subject {
            fn drain_dead(&mut self) -> impl FusedIterator<Item = Owned<Ends>> {
                self.drain_dead()
            }
        }
    )*};
}

owning!(Maps<K>, ValueMaps<K>, HashMaps<K>);
