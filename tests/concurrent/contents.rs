//! What single collections add: values, `compute`, interning, and the traits of `std`.

use std::sync::Barrier;
use std::thread;

use weakly::concurrent::{Interner, WeakMap, WeakSet, WeakValueMap};
use weakly::reference::WeakKey;

use crate::common::custom::{Custom, On};
use crate::common::{panics, quiet_panic, scaled};
use crate::dynamic::*;
use crate::faces::{Count, Kind, Life, is_same, lives};
use crate::for_each_pointer;

for_each_pointer!(
    values_are_shown_cloned_and_swapped,
    lookups_take_any_pointer_to_the_key,
    a_value_is_computed_from_the_current_one,
    compute_is_atomic,
    a_computation_that_panics_changes_nothing,
    a_weak_value_is_swapped_and_removed,
    a_weak_value_is_computed,
    a_dead_value_counts_as_absent,
    equal_contents_have_one_handle,
    an_interner_asks_for_the_content_once,
    threads_intern_the_same,
    collections_are_built_from_iterators,
    what_debug_shows,
);

/// A2, A4, A5, A8
fn values_are_shown_cloned_and_swapped<P: Kind>() {
    let [a, b]: [Life<P>; 2] = [1, 2].map(Into::into);
    let map = WeakMap::new();
    assert!(map.insert(&a, 1_usize));
    assert_eq!((map.get(&a), map.get(&b)), (Some(1), None));
    assert_eq!(map.with(&a, |value| value + 2), Some(3));
    assert_eq!(map.with(&b, |_| unreachable!()), None::<()>);
    assert!(!map.insert(&a, 10));
    assert_eq!(map.swap(&a, 100), Some(10));
    assert_eq!(map.swap(&b, 2), None);
    assert!(!map.remove_if(&a, |value| *value == 10));
    assert!(map.remove_if(&a, |value| *value == 100));
    assert_eq!((map.remove(&a), map.remove(&b)), (None, Some(2)));
    assert!(map.is_empty());
}

/// B26, B27: The strong pointer, a weak one, a plain reference.
fn lookups_take_any_pointer_to_the_key<P: Kind>() {
    let [a, b]: [Life<P>; 2] = [1, 1].map(Into::into);
    let map = WeakMap::new();
    map.insert(&a, 7_usize);
    let (weak, plain): (_, &usize) = (Life::<P>::downgrade(&a), &a);
    assert_eq!(map.get(&weak), Some(7));
    assert_eq!(map.get(&weakly::Addr::of(plain)), Some(7));
    assert!(map.contains_key(&a.clone()));
    assert!(!map.contains_key(&b), "equal, but another object");
    drop(a);
    assert_eq!(map.get(&weak), None);
}

/// H116
fn a_value_is_computed_from_the_current_one<P: Kind>() {
    let (key, map) = (Life::<P>::from(1), WeakMap::new());
    let next = |old: Option<&usize>| Some(old.map_or(0, |old| old + 1));
    assert_eq!(map.compute(&key, next), Some(0));
    assert_eq!(map.compute(&key, next), Some(1));
    assert_eq!((map.get(&key), map.len()), (Some(1), 1));
    assert_eq!(map.compute_dyn(&key, &mut |_| None), None);
    assert_eq!(map.compute_dyn(&key, &mut |old| old.copied()), None);
    assert!(map.is_empty());
}

/// L157: No addition is lost.
fn compute_is_atomic<P: Kind>() {
    let (threads, times) = (4, scaled(2_000, 10));
    let (keys, map) = (lives::<P>(2), WeakMap::new());
    thread::scope(|scope| {
        for n in 0..threads {
            let (map, keys) = (&map, &keys);
            scope.spawn(move || {
                for turn in 0..times {
                    let key = &keys[(n + turn) % 2];
                    map.compute_dyn(key, &mut |old| Some(old.copied().unwrap_or(0) + 1));
                }
            });
        }
    });
    let sum: usize = keys.iter().filter_map(|key| map.get(key)).sum();
    assert_eq!(sum, threads * times);
}

/// M175
fn a_computation_that_panics_changes_nothing<P: Kind>() {
    let (key, map) = (Life::<P>::from(1), WeakMap::new());
    assert!(panics(|| _ = map.compute_dyn(&key, &mut |_| quiet_panic())));
    assert!(map.is_empty());
    map.insert(&key, 1_usize);
    assert!(panics(|| _ = map.compute_dyn(&key, &mut |_| quiet_panic())));
    assert!(panics(|| _ = map.remove_if(&key, |_| quiet_panic())));
    assert!(panics(|| _ = map.with(&key, |_| quiet_panic())));
    assert!(panics(|| map.retain(|_, _| quiet_panic())));
    assert_eq!((map.get(&key), map.len()), (Some(1), 1));
    drop(key);
    map.purge();
    assert_eq!((map.len(), map.len_live()), (0, 0));
}

/// H110, H111
fn a_weak_value_is_swapped_and_removed<P: Kind>() {
    let [a, b]: [Life<P>; 2] = [1, 2].map(Into::into);
    let map = WeakValueMap::new();
    assert!(map.insert(7_usize, &a).is_none());
    let old = map.insert(7, &b);
    assert!(old.is_some_and(|old| is_same::<P>(&old, &a)));
    let old = map.insert(7, &a);
    assert!(old.is_some_and(|old| is_same::<P>(&old, &b)));
    assert!(map.get(&7).is_some_and(|got| is_same::<P>(&got, &a)));
    assert!(map.remove_if(&7, |value| **value == 2).is_none());
    assert!(map.contains_key(&7) && !map.contains_key(&8));
    let removed = map.remove_if(&7, |value| **value == 1);
    assert!(removed.is_some_and(|removed| is_same::<P>(&removed, &a)));
    assert!(map.remove(&7).is_none() && map.is_empty());
}

/// H116
fn a_weak_value_is_computed<P: Kind>() {
    let map = WeakValueMap::new();
    let one = map.compute_dyn(7_usize, &mut |old: Option<Life<P>>| {
        assert!(old.is_none());
        Some(1.into())
    });
    let two = map.compute_dyn(7, &mut |old| old.map(|old| (*old + 1).into()));
    assert_eq!((one.as_deref(), two.as_deref()), (Some(&1), Some(&2)));
    assert!(map.compute_dyn(7, &mut |_| None).is_none() && map.is_empty());
}

/// H110, H112: As if it had not been there; its late notice does not affect the next.
fn a_dead_value_counts_as_absent<P: Kind>() {
    let map = WeakValueMap::new();
    let counted = |map: &WeakValueMap<_, Life<P>>| (map.len(), map.len_live());
    type Again<P> = fn(&WeakValueMap<usize, Life<P>>, &Life<P>);
    let again: [Again<P>; 3] = [
        |map, next| assert!(map.insert(7, next).is_none()),
        |map, next| {
            _ = map.compute_dyn(7, &mut |old| {
                assert!(old.is_none());
                Some(next.clone())
            });
        },
        |map, next| _ = map.get_or_insert_dyn(7, &mut || next.clone()),
    ];
    for again in again {
        map.insert(7, &1.into());
        assert_eq!(map.len_live(), 0);
        assert!(map.remove_if(&7, |_| panic!("it is dead")).is_none());
        let next = Life::<P>::from(2);
        again(&map, &next);
        assert_eq!(counted(&map), (1, 1));
        map.purge();
        assert_eq!(counted(&map), (1, 1));
        assert!(map.get(&7).is_some_and(|got| is_same::<P>(&got, &next)));
        map.insert(7, &3.into());
        assert!(map.remove(&7).is_none());
        map.purge();
        assert_eq!(counted(&map), (0, 0));
    }
}

/// H117
fn equal_contents_have_one_handle<P: Kind>() {
    let all = Interner::<Life<P>>::new();
    let [one, two]: [Life<P>; 2] = [1, 2].map(|n| all.intern(n));
    assert!(is_same::<P>(&one, &all.intern(1)));
    assert!(is_same::<P>(&one, &all.intern(Life::<P>::from(1))));
    assert!(!is_same::<P>(&one, &two));
    assert!(all.get(&1).is_some_and(|got| is_same::<P>(&got, &one)));
    assert!(all.get(&3).is_none());
    assert_eq!((all.len(), all.len_live()), (2, 2));
    drop(one);
    assert!(all.get(&1).is_none());
    assert_eq!(*all.intern(1), 1);
    assert_eq!(all.len_live(), 1, "a handle without an owner is gone");
}

/// H117: If the content is present, no object is made.
fn an_interner_asks_for_the_content_once<P: Kind>() {
    let (hashed, all) = (Count::default(), Interner::<P::Custom>::new());
    let content = || {
        let hashed = hashed.clone();
        Custom::from(1).on(On::Hash, move |_| _ = hashed.add())
    };
    let kept = all.intern(content());
    let before = hashed.get();
    let again = all.intern(content());
    assert_eq!(hashed.get(), before + 1);
    assert!(P::Custom::addr(&kept) == P::Custom::addr(&again));
}

/// H117, L157: All threads get the same handle while one of them keeps it alive.
fn threads_intern_the_same<P: Kind>() {
    let (threads, words) = (4, scaled(500, 8));
    let all = Interner::<Life<P>>::new();
    let barrier = Barrier::new(threads);
    let got: Vec<Vec<Life<P>>> = thread::scope(|scope| {
        let intern = || {
            barrier.wait();
            (0..words).map(|n| all.intern(n)).collect()
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(intern)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!((all.len_live(), all.iter().count()), (words, words));
    for theirs in &got {
        assert!(theirs.iter().zip(&got[0]).all(|(a, b)| is_same::<P>(a, b)));
    }
    drop(got);
    all.purge();
    assert!(all.is_empty());
}

/// A17
fn collections_are_built_from_iterators<P: Kind>() {
    let lives = lives::<P>(6);
    let mut map: WeakMap<_, usize> = lives[..3].iter().map(|life| (life, **life * 2)).collect();
    map.extend(lives[3..].iter().map(|life| (life, **life * 2)));
    assert_eq!(map.len(), 6);
    assert!((&map).into_iter().all(|(key, value)| value == *key * 2));
    let mut set: WeakSet<_> = lives[..3].iter().collect();
    set.extend(&lives[2..]);
    assert_eq!((&set).into_iter().map(|life| *life).sum::<usize>(), 15);
    let mut values: WeakValueMap<_, _> = lives[..3].iter().map(|life| (**life, life)).collect();
    values.extend(lives[2..].iter().map(|life| (**life, life)));
    assert_eq!(values.len(), 6);
    assert!((&values).into_iter().all(|(key, value)| key == *value));
}

/// A18: The live entries.
fn what_debug_shows<P: Kind>()
where
    Life<P>: std::fmt::Debug,
{
    let mut lives = lives::<P>(2);
    let map: WeakMap<_, _> = lives.iter().map(|life| (life, 7_usize)).collect();
    let set: WeakSet<_> = lives.iter().collect();
    let values: WeakValueMap<_, _> = lives.iter().map(|life| (**life, life)).collect();
    let names = Interner::<Life<P>>::new();
    for life in &lives {
        _ = names.intern(life.clone());
    }
    lives.pop();
    assert_eq!(format!("{map:?}"), "{0: 7}");
    assert_eq!(format!("{set:?} {names:?}"), "{0} {0}");
    assert_eq!(format!("{values:?}"), "{0: 0}");
    assert_eq!(format!("{:?}", map.iter()), "Snapshot { left: 1 }");
}
