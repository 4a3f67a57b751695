//! Guards and iterators that are forgotten while keys live; then the keys die.

use std::mem::take;

use crate::common::subject::single::{Ends, Maps, counting, quietly};
use crate::common::subject::{Life, Owned, Single};
use crate::common::wild::{self, Wild, wilds};
use crate::common::{Count, Kind, forget, new, scaled};
use crate::lists::{self, for_each_with_guards};
use crate::{for_each_kind, rest};
use weakly::{WeakSet, collections::weak_map};

const MANY: usize = scaled(100, 20);
/// For tests of many operations.
const FEW: usize = scaled(16, 4);

type Map<P> = Maps<<P as Kind>::Strong<Wild>>;

/// Passes a map, half of whose keys are dead, to `hostile`; then all the keys die, and the map's counts must be
/// right and it must be usable.
fn survives<P: Kind>(hostile: impl FnOnce(&mut Map<P>)) {
    let mut keys = wilds::<P::Strong<Wild>>(0..MANY);
    let mut map: Map<P> = keys.iter().map(|key| (key, owned(0))).collect();
    keys.truncate(MANY / 2);
    hostile(&mut map);
    assert!(map.len_live() <= MANY / 2);
    drop(keys);
    assert_eq!(map.len_live(), 0);
    let others = wilds::<P::Strong<Wild>>(0..MANY);
    for other in &others {
        assert!(map.insert(other, owned(0)).is_none());
    }
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (MANY, MANY, 0)
    );
    drop(others);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

fn drain<P: Kind>() {
    survives::<P>(|map| forget(map.drain()));
    survives::<P>(|map| {
        let mut drain = map.drain();
        forget(drain.next());
        forget(drain);
    });
}

fn extract_if<P: Kind>() {
    survives::<P>(|map| forget(map.extract_if(|_, _| true)));
    survives::<P>(|map| {
        let mut out = map.extract_if(|_, _| true);
        drop((out.next(), out.next()));
        forget(out);
    });
}

fn drain_dead<P: Kind>() {
    survives::<P>(|map| forget(map.drain_dead()));
    survives::<P>(|map| {
        let mut dead = map.drain_dead();
        drop((dead.next(), dead.next()));
        forget(dead);
    });
}

fn borrowing_iterators<P: Kind>() {
    survives::<P>(|map| {
        let mut iter = map.iter();
        iter.next();
        forget(iter);
        forget((map.keys(), map.values(), map.iter_weak()));
        forget(map.iter_mut());
        forget(map.values_mut());
    });
}

fn entries<P: Kind>() {
    survives::<P>(|map| {
        let (old, key) = (map.keys().next().unwrap(), new::<P, _>(Wild::new(7)));
        match map.entry(&key) {
            weak_map::Entry::Vacant(entry) => forget(entry),
            weak_map::Entry::Occupied(_) => panic!("it is new"),
        }
        forget(map.entry(&old));
        forget(map.try_insert(&old, owned(0)));
        forget(map.entry(&key).insert_entry(owned(0)));
        assert!(map.contains_key(&key));
        drop(key);
        assert!(map.contains_key(&old));
    });
}

/// The map itself is leaked too.
fn into_iter<P: Kind>() {
    let (count, keys) = (Count::default(), wilds::<P::Strong<Wild>>(0..MANY));
    let value = || wild::owned(0, &counting(&count));
    let map = || -> Map<P> { keys.iter().map(|key| (key, value())).collect() };
    forget(map());
    forget(map().into_iter());
    forget(map().into_keys());
    let mut values = map().into_values();
    values.next();
    forget(values);
    let set: WeakSet<_> = keys.iter().collect();
    forget(set.into_iter());
    drop(keys);
    assert_eq!(count.get(), 1);
}

for_each_kind!(
    drain,
    extract_if,
    drain_dead,
    borrowing_iterators,
    entries,
    into_iter
);

/// How many objects it keeps alive, and a function that opens a guard or an iterator and forgets it.
type Way<F> = (usize, fn(&mut F));

/// All guards and iterators of a collection.
trait Openings: Single<Wild> + 'static {
    const WAYS: &'static [Way<Self>];
}

macro_rules! openings {
    ($($face:ident: |$this:ident| {$($kept:literal: $open:expr),* $(,)?})*) => {$(
        impl<K: Life<Wild>> Openings for lists::$face<K> {
            const WAYS: &'static [Way<Self>] = &[$(($kept, |$this| $open)),*];
        }
    )*};
}

/// An iterator after its first item.
fn begun<I: Iterator>(mut iter: I) -> I {
    iter.next();
    iter
}

fn owned(number: usize) -> Owned<Ends, Wild> {
    wild::owned(number, &quietly())
}

openings! {
    ValueMaps: |map| {
        0: forget(map.drain()),
        0: forget(begun(map.drain())),
        0: forget(begun(map.extract_if(|_, _| true))),
        0: forget(begun(map.drain_dead())),
        0: forget((begun(map.iter()), begun(map.keys()), begun(map.values()), begun(map.iter_weak()))),
        0: forget(begun(take(map).into_iter())),
        0: forget(begun(take(map).into_keys())),
        0: forget(begun(take(map).into_values())),
        0: forget(take(map)),
        // A vacant entry; one of a live value, which it keeps alive; and one that a dead value has left.
        0: forget(map.entry(owned(999))),
        1: forget(map.entry(owned(0))),
        1: forget(map.try_insert(owned(0), &K::from(Wild::new(7)))),
        0: forget(map.entry(owned(FEW - 1))),
    }
    HashMaps: |map| {
        0: forget(begun(map.drain())),
        0: forget(begun(map.extract_if(|_, _| true))),
        0: forget(begun(map.drain_dead())),
        0: forget((begun(map.iter()), begun(map.keys()), begun(map.values()), begun(map.iter_weak()))),
        0: forget(begun(map.iter_mut())),
        0: forget(begun(map.values_mut())),
        0: forget(begun(take(map).into_iter())),
        0: forget(begun(take(map).into_keys())),
        0: forget(begun(take(map).into_values())),
        0: forget(take(map)),
        0: forget(map.entry(&K::from(Wild::new(999)))),
        0: forget(map.entry(&K::from(Wild::new(0)))),
        0: forget(map.entry(&K::from(Wild::new(FEW - 1)))),
        0: forget(map.try_insert(&K::from(Wild::new(0)), owned(1))),
        // Its key, which is not that of the existing entry, takes over and dies.
        0: forget(map.entry(&K::from(Wild::new(0))).insert_entry(owned(1))),
    }
    HashSets: |set| {
        0: forget(begun(set.drain())),
        0: forget(begun(set.extract_if(|_| true))),
        0: forget((begun(set.iter()), begun(set.iter_weak()))),
        0: forget(begun(take(set).into_iter())),
        0: forget(take(set)),
    }
    Interners: |names| {
        0: forget(begun(names.iter())),
        0: forget(take(names)),
    }
}

macro_rules! openings_of_pairs {
    ($($face:ident: $kept:literal, |$pairs:ident| $map:expr;)*) => {$(openings! {
        $face: |$pairs| {
            0: forget($map.drain()),
            0: forget(begun($map.drain())),
            0: forget(begun($map.extract_if(|_, _| true))),
            0: {
                let map = &$map;
                forget((begun(map.iter()), begun(map.keys()), begun(map.values())));
                forget(begun(map.iter_weak()));
            },
            // The entry of a live value, which it keeps alive.
            $kept: {
                let key = $map.keys().next().unwrap();
                forget($map.entry(&key));
            },
            0: forget(begun(take(&mut $map).into_iter())),
            0: forget(begun(take(&mut $map).into_keys())),
            0: forget(begun(take(&mut $map).into_values())),
            0: forget(take(&mut $map)),
        }
    })*};
}

openings_of_pairs! {
    PairsTwice: 1, |pairs| *pairs;
    PairKeys: 0, |pairs| pairs.all;
    PairValues: 1, |pairs| pairs.all;
}

for_each_with_guards!(<crate::common::wild::Wild> whatever_is_open);

/// Half of the objects are dead when a guard is opened and forgotten; then the others die.
fn whatever_is_open<F: Openings>() {
    for (kept, open) in F::WAYS {
        let mut objects = wilds::<F::Life>(0..FEW);
        let mut face = F::of(&objects, &quietly());
        objects.truncate(FEW / 2);
        open(&mut face);
        assert!(face.len_live() <= FEW / 2);
        drop(objects);
        assert_eq!(face.len_live(), *kept);
        let others = wilds::<F::Life>(FEW..2 * FEW);
        for other in &others {
            assert!(face.enter(other, &quietly()));
        }
        assert_eq!(rest(&mut face), (FEW + kept, FEW + kept, 0));
        drop(others);
        assert_eq!(rest(&mut face), (*kept, *kept, 0));
    }
}
