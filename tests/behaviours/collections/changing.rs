//! What the collections of one owner, from which entries can be taken, have besides.

use std::iter::FusedIterator;

use crate::common::subject::Owned;
use crate::common::subject::single::*;

pub(crate) type Lives<'a> = Box<dyn Iterator<Item = Handle> + 'a>;

/// A collection from which entries can be removed.
pub(crate) trait Changing: Collection {
    /// How many watches it has on a life.
    fn watches(&self) -> usize;
    fn pop(&mut self) -> Option<Handle>;
    fn retain(&mut self, keep: &mut dyn FnMut(usize) -> bool);
    fn extract_if<'a>(&'a mut self, take: &'a mut dyn FnMut(usize) -> bool) -> Lives<'a>;
    fn drain(&mut self) -> Lives<'_>;
    fn into_iter(self: Box<Self>) -> Lives<'static>;
    /// By its `Extend`.
    fn extend_with(&mut self, lives: &mut dyn Iterator<Item = &Handle>, ends: &Ends);
    /// The lives, or all the weak sides, as weak handles.
    fn weak(&self) -> Box<dyn Iterator<Item = WeakHandle> + '_>;

    /// By a weak handle, where keys are by identity.
    fn drop_out(&mut self, life: &Handle) -> bool {
        self.leaves(**life, &life.downgrade())
    }
}

/// A collection that owns something of each entry, and returns it when the entry is dead.
pub(crate) trait Owning: Changing {
    fn drain_dead(&mut self) -> Box<dyn FusedIterator<Item = Owned<Ends>> + '_>;
}

/// `item` shows the life of an item, `shown` the life among what closures are shown; `gives` is the item for a life, and
/// `watches` how many watches an entry has on a life.
macro_rules! changing {
    ($($subject:ty, |$all:ident| $place:expr, $kept:expr;
        item |$item:pat_param| $of_item:expr;
        shown |$($shown:pat_param),*| $of_shown:expr;
        gives |$life:ident, $ends:ident| $gives:expr;
        watches $watches:literal;
    )*) => {$(
        impl<K: Known> Changing for $subject {
            fn watches(&self) -> usize {
                $watches
            }
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
            fn weak(&self) -> Box<dyn Iterator<Item = WeakHandle> + '_> {
                let $all = self;
                Box::new($place.iter_weak().map(|$item| K::weak_handle($of_item)))
            }
        }
    )*};
}

macro_rules! maps {
    ($($subject:ty)*) => {
        changing! {$(
            $subject, |all| *all, ();
            item |(life, _)| life;
            shown |life, _| life;
            gives |life, ends| (life, Owned::new(**life, ends));
            watches 1;
        )*}
    };
}

macro_rules! sets {
    ($($subject:ty)*) => {
        changing! {$(
            $subject, |all| *all, ();
            item |life| life;
            shown |life| life;
            gives |life, _ends| life;
            watches 1;
        )*}
    };
}

/// Of the same two sides; of one value for all; and of a key for each number, of which each collection has its own.
macro_rules! pairs {
    ($($twice:ty, $by_key:ty, $by_value:ty;)*) => {
        changing! {$(
            $twice, |all| *all, ();
            item |(life, _)| life;
            shown |life, _| life;
            gives |life, _ends| (life.clone(), life.clone());
            watches 2;

            $by_key, |all| all.all, std::mem::take(&mut all.partners);
            item |(life, _)| life;
            shown |life, _| life;
            gives |life, _ends| (life.clone(), all.partners.of(0));
            watches 1;

            $by_value, |all| all.all, std::mem::take(&mut all.partners);
            item |(_, life)| life;
            shown |_, life| life;
            gives |life, _ends| (all.partners.of(**life), life.clone());
            watches 1;
        )*}
    };
}

maps! { Maps<K> HashMaps<K> }
sets! { Sets<K> HashSets<K> }
pairs! {
    PairsTwice<K>, PairsByKey<K>, PairsByValue<K>;
    HashPairsTwice<K>, HashPairsByKey<K>, HashPairsByValue<K>;
}

changing! {
    ValueMaps<K>, |all| *all, ();
    item |(_, life)| life;
    shown |_, life| life;
    gives |life, ends| (Owned::new(**life, ends), life);
    watches 1;
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
