//! What the collections of one owner, from which entries can be taken, have besides.

use std::any::Any;
use std::iter::FusedIterator;
use std::ops::Deref;

use weakly::reference::WeakRef;

use crate::common::subject::single::*;
use crate::common::subject::{Owned, Single, sorted};

pub(crate) type Lives<'a> = Box<dyn Iterator<Item = Handle> + 'a>;

/// A collection from which entries can be removed.
pub(crate) trait Changing: Collection {
    /// How many watches it has on a life.
    fn watches(&self) -> usize {
        1
    }
    /// Whether each has keys of its own: no two that were made separately are equal.
    fn is_lone(&self) -> bool {
        false
    }

    fn pop(&mut self) -> Option<Handle>;
    fn retain(&mut self, keep: &mut dyn FnMut(usize) -> bool);
    fn extract_if<'a>(&'a mut self, take: &'a mut dyn FnMut(usize) -> bool) -> Lives<'a>;
    fn drain(&mut self) -> Lives<'_>;
    fn into_iter(self: Box<Self>) -> Lives<'static>;
    /// By its `Extend`.
    fn extend_with(&mut self, lives: &mut dyn Iterator<Item = &Handle>, ends: &Ends);
    /// By its `Extend`, from another.
    fn extend_from(&mut self, other: Box<dyn Changing>);
    /// The numbers of all entries, in order, by each of its other iterators.
    fn views(self: Box<Self>) -> Vec<Vec<usize>>;
    /// The lives, or all the weak sides, as weak handles.
    fn weak(&self) -> Box<dyn Iterator<Item = WeakHandle> + '_>;
    /// By its `Clone`.
    fn copy(&self) -> Box<dyn Changing>;
    /// By its `==`, with a collection of the same type.
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// The numbers that are shown by each of its ways to change a value in place, the last of which is a lookup.
    fn look_to_change(&mut self, _: &Handle) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// By a weak handle, where keys are by identity.
    fn drop_out(&mut self, life: &Handle) -> bool {
        self.leaves(**life, &life.downgrade())
    }
}

/// A collection that owns something of each entry, and returns it when the entry is dead.
pub(crate) trait Owning: Changing {
    fn drain_dead(&mut self) -> Box<dyn FusedIterator<Item = Owned<Ends>> + '_>;
}

/// The `Clone` and the `==` of collections, for the objects of a trait that has its own `copy`.
macro_rules! copied {
    ($trait:ident::$copy:ident) => {
        impl Clone for Box<dyn $trait> {
            fn clone(&self) -> Self {
                self.$copy()
            }
        }

        impl PartialEq for dyn $trait {
            fn eq(&self, other: &Self) -> bool {
                self.equals(other.as_any())
            }
        }

        // Where there is only one, the compiler moves the right side of `==` (rust-lang/rust#31740).
        impl PartialEq<&Self> for Box<dyn $trait> {
            fn eq(&self, other: &&Self) -> bool {
                **self == ***other
            }
        }
    };
}

pub(crate) use copied;

copied!(Changing::copy);

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
        impl<K: Known $($generics)*> Changing for $subject {
            fn pop(&mut self) -> Option<Handle> {
                let $all = self;
                $place.pop().map(|$item| $of_item.handle())
            }
            fn retain(&mut self, keep: &mut dyn FnMut(usize) -> bool) {
                let $all = self;
                $place.retain(|$($shown),*| keep(**$of_shown));
            }
            fn extract_if<'a>(&'a mut self, take: &'a mut dyn FnMut(usize) -> bool) -> Lives<'a> {
                let $all = self;
                let taken = $place.extract_if(move |$($shown),*| take(**$of_shown));
                Box::new(taken.map(|$item| $of_item.handle()))
            }
            fn drain(&mut self) -> Lives<'_> {
                let $all = self;
                Box::new($place.drain().map(|$item| $of_item.handle()))
            }
            fn into_iter(mut self: Box<Self>) -> Lives<'static> {
                let $all = &mut *self;
                // The other sides must live as long as the iterator.
                let (inner, partners) = (std::mem::take(&mut $place), $kept);
                Box::new(IntoIterator::into_iter(inner).map(move |$item| {
                    let _ = &partners;
                    $of_item.handle()
                }))
            }
            fn extend_with(&mut self, lives: &mut dyn Iterator<Item = &Handle>, $ends: &Ends) {
                let $all = self;
                Extend::extend(&mut $place, lives.map(K::known).map(|$life| $gives));
            }
            fn extend_from(&mut self, other: Box<dyn Changing>) {
                let $all = self;
                let $other = *other.into_any().downcast::<Self>().unwrap();
                $extend
            }
            fn views(mut self: Box<Self>) -> Vec<Vec<usize>> {
                let $all = &mut *self;
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
            fn weak(&self) -> Box<dyn Iterator<Item = WeakHandle> + '_> {
                let $all = self;
                Box::new($place.iter_weak().map(|$item| K::weak_handle($of_item)))
            }
            fn copy(&self) -> Box<dyn Changing> {
                Box::new(self.clone())
            }
            fn equals(&self, other: &dyn Any) -> bool {
                self == other.downcast_ref::<Self>().unwrap()
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
            fn into_any(self: Box<Self>) -> Box<dyn Any> {
                self
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
                fn look_to_change(&mut self, $life: &Handle) -> Vec<Vec<usize>> {
                    let $life = K::known($life);
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
                fn watches(&self) -> usize {
                    2
                }
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
            from |other| Single::iter(&other).for_each(|life| _ = Single::enter(all, &life, &quietly()));
            {
                fn is_lone(&self) -> bool {
                    $lone
                }
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
        impl<K: Known> Owning for $subject {
            fn drain_dead(&mut self) -> Box<dyn FusedIterator<Item = Owned<Ends>> + '_> {
                Box::new(self.drain_dead())
            }
        }
    )*};
}

owning!(Maps<K>, ValueMaps<K>, HashMaps<K>);
