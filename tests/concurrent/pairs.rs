//! What a map of pairs adds: an entry ends with the first of its two sides, and counts once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::concurrent::WeakPairMap;
use weakly::{Addr, Strong, reference::WeakKey};

use crate::common::custom::{Custom, On};
use crate::common::own::{self, Own};
use crate::common::pairs::end_in_any_order;
use crate::common::{panics, scaled};
use crate::dynamic::*;
use crate::faces::{Kind, Life, Ours, Over, Std, is_same, lives};

/// A `#[test]` for each two kinds of pointer, of keys and of values.
macro_rules! for_each_two {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use super::{Ours, Std};
            #[test]
            fn strong_strong() {
                super::$test::<Ours, Ours>();
            }
            #[test]
            fn strong_arc() {
                super::$test::<Ours, Std>();
            }
            #[test]
            fn arc_strong() {
                super::$test::<Std, Ours>();
            }
            #[test]
            fn arc_arc() {
                super::$test::<Std, Std>();
            }
        }
    )*};
}

for_each_two!(
    values_are_swapped_removed_and_computed,
    a_pair_lives_as_long_as_both,
    a_half_dead_pair_is_never_shown,
    a_half_dead_pair_counts_as_absent,
    an_ended_pair_gets_no_further_notice,
    a_side_may_be_in_many_pairs,
    small_both_sides_die_at_once,
    small_threads_use_the_same_pairs,
    collections_are_built_from_iterators,
);

type Pairs<K, V> = WeakPairMap<Life<K>, Life<V>>;
type Customs = WeakPairMap<Strong<Custom>, Strong<Custom>>;

/// `(len, len_live, pending_dead)`
fn counts<K: Kind, V: Kind>(map: &Pairs<K, V>) -> (usize, usize, usize) {
    (map.len(), map.len_live(), map.pending_dead())
}

/// H110, H116, A8
fn values_are_swapped_removed_and_computed<K: Kind, V: Kind>() {
    let (key, other) = (Life::<K>::from(1), Life::<K>::from(1));
    let [a, b]: [Life<V>; 2] = [1, 2].map(Into::into);
    let map = WeakPairMap::new();
    let gives =
        |got: Option<Life<V>>, value: &Life<V>| got.is_some_and(|got| is_same::<V>(&got, value));
    assert!(map.insert(&key, &a).is_none() && gives(map.insert(&key, &b), &a));
    assert!(gives(map.insert(&key, &a), &b) && gives(map.get(&key), &a));
    assert!(map.get(&other).is_none(), "equal, but another object");
    assert!(gives(map.get(&Addr::of(&*key)), &a));
    let weak = Life::<K>::downgrade(&key);
    let (found, value) = map.get_key_value(&weak).expect("it is present");
    assert!(is_same::<K>(&found, &key) && is_same::<V>(&value, &a));
    drop((found, value));
    assert!(map.remove_if(&key, |value| **value == 2).is_none());
    assert!(gives(map.remove_if(&key, |value| **value == 1), &a));
    assert!(map.remove(&key).is_none() && !map.contains_key(&key));
    assert!(gives(
        map.compute_dyn(&key, &mut |old| old.is_none().then(|| a.clone())),
        &a
    ));
    let kept = map.compute_dyn(&key, &mut |old| old.map(|old| (*old + 1).into()));
    assert_eq!(kept.as_deref(), Some(&2));
    assert!(map.compute_dyn(&key, &mut |_| None).is_none() && map.is_empty());
    assert!(gives(
        Some(map.get_or_insert_dyn(&key, &mut || a.clone())),
        &a
    ));
    assert!(gives(
        Some(map.get_or_insert_dyn(&key, &mut || panic!("it is present"))),
        &a
    ));
    map.retain(|key, value| **key != **value);
    assert!(map.is_empty());
}

/// H114, H118, E76: In whatever order they die, and however many have died before a purge: other entries are not
/// affected, and each counts once.
fn a_pair_lives_as_long_as_both<K: Kind, V: Kind>() {
    // Of which keys a lookup has found the value dead, by the map.
    let evicted = RefCell::new(BTreeMap::new());
    let look = |map: &Pairs<K, V>, keys: &[Option<Life<K>>], value: &Option<Life<V>>| {
        let mut evicted = evicted.borrow_mut();
        let evicted: &mut [bool; 3] = evicted.entry(ptr::from_ref(map)).or_default();
        let mut live = 0;
        for (key, evicted) in keys.iter().zip(&mut *evicted) {
            if let Some(key) = key {
                assert_eq!(map.get(key).is_some(), value.is_some());
                live += usize::from(value.is_some());
                *evicted |= value.is_none() && !V::NOTIFIES;
            }
        }
        assert_eq!((map.len_live(), map.iter().count()), (live, live));
        // An entry whose death is not notified counts until a purge, unless a lookup has met it.
        let untold = keys
            .iter()
            .zip(&*evicted)
            .filter(|(key, evicted)| !**evicted && (key.is_some() || !K::NOTIFIES));
        let not_notified = if value.is_some() || !V::NOTIFIES {
            untold.count()
        } else {
            0
        };
        let evicted = evicted.iter().filter(|evicted| **evicted).count();
        assert_eq!(
            (map.len(), map.pending_dead()),
            (not_notified, 3 - not_notified - evicted),
            "once"
        );
    };
    end_in_any_order(look, |map| {
        evicted.borrow_mut().clear();
        map.purge();
        assert_eq!(counts::<K, V>(&map), (0, 0, 0));
    });
}

/// H115: Whichever half it is: by no lookup, by no iterator.
fn a_half_dead_pair_is_never_shown<K: Kind, V: Kind>() {
    for the_key_dies in [true, false] {
        let map = WeakPairMap::new();
        let (key, value) = (Life::<K>::from(1), Life::<V>::from(2));
        let weak = Life::<K>::downgrade(&key);
        map.insert(&key, &value);
        let before = map.iter();
        let mut sides = (Some(key), Some(value));
        if the_key_dies {
            sides.0 = None;
        } else {
            sides.1 = None;
        }
        assert!(map.get(&weak).is_none() && map.get_key_value(&weak).is_none());
        assert!(!map.contains_key(&weak));
        assert_eq!(
            (before.count(), map.iter().count(), map.len_live()),
            (0, 0, 0)
        );
        map.retain(|_, _| panic!("a half-dead entry"));
        assert!(
            map.remove_if(&weak, |_| panic!("a half-dead entry"))
                .is_none()
        );
        assert!(map.remove(&weak).is_none());
        map.purge();
        assert_eq!(counts::<K, V>(&map), (0, 0, 0));
        drop(sides);
        assert_eq!(
            counts::<K, V>(&map),
            (0, 0, 0),
            "no notice is delivered any more"
        );
    }
}

/// H110, H112: A key whose value is dead, reclaimed or not, gets another: the late notice does not affect the
/// new entry.
fn a_half_dead_pair_counts_as_absent<K: Kind, V: Kind>() {
    type Again<K, V> = fn(&Pairs<K, V>, &Life<K>, &Life<V>);
    let again: [Again<K, V>; 3] = [
        |map, key, next| assert!(map.insert(key, next).is_none()),
        |map, key, next| {
            _ = map.compute_dyn(key, &mut |old| {
                assert!(old.is_none());
                Some(next.clone())
            });
        },
        |map, key, next| _ = map.get_or_insert_dyn(key, &mut || next.clone()),
    ];
    let (key, map) = (Life::<K>::from(1), WeakPairMap::new());
    for again in again {
        map.insert(&key, &Life::<V>::from(1));
        assert_eq!((map.len_live(), map.get(&key).is_none()), (0, true));
        let next = Life::<V>::from(2);
        again(&map, &key, &next);
        assert_eq!(counts::<K, V>(&map), (1, 1, 0));
        map.purge();
        assert_eq!(counts::<K, V>(&map), (1, 1, 0));
        assert!(map.get(&key).is_some_and(|got| is_same::<V>(&got, &next)));
    }
}

/// C43, H118: An entry that was removed, or ended with the death of one side, gets no further notice, even while
/// a thread reads it.
fn an_ended_pair_gets_no_further_notice<K: Kind, V: Kind>() {
    for (is_removed, the_key_is_first) in
        [(true, true), (true, false), (false, true), (false, false)]
    {
        let kept = (Life::<K>::from(1), Life::<V>::from(1));
        let gone = (Life::<K>::from(2), Life::<V>::from(2));
        let sides = [(&kept.0, &kept.1), (&gone.0, &gone.1)];
        let map = Pairs::<K, V>::from_iter(sides);
        let gone = (Cell::new(Some(gone.0)), Cell::new(Some(gone.1)));
        let kill = |key: bool| {
            if key {
                drop(gone.0.take())
            } else {
                drop(gone.1.take())
            }
        };
        // An entry that is unlinked inside the closure is still being read.
        map.retain(|key, _| {
            if **key == 1 {
                if is_removed {
                    let key = gone.0.take().expect("it lives");
                    assert!(map.remove(&key).is_some());
                    gone.0.set(Some(key));
                }
                kill(the_key_is_first);
                if !is_removed {
                    map.purge();
                }
                assert_eq!(counts::<K, V>(&map), (1, 1, 1));
                kill(!the_key_is_first);
                assert_eq!(counts::<K, V>(&map), (1, 1, 1));
            }
            true
        });
        assert!(map.contains_key(&kept.0));
    }
}

/// 184, H118: More than one batch of notices. All end with it; entries that were removed, or whose other side
/// has died before, are gone already.
fn a_side_may_be_in_many_pairs<K: Kind, V: Kind>() {
    let many = scaled(500, 70);
    let (mut keys, value) = (lives::<K>(many), Life::<V>::from(1));
    let (kept, mut map): (_, Pairs<K, V>) =
        ((Life::<K>::from(1), Life::<V>::from(2)), WeakPairMap::new());
    map.insert(&kept.0, &kept.1);
    map.extend(keys.iter().map(|key| (key, &value)));
    for key in keys.drain(..many / 5) {
        assert!(map.remove(&key).is_some());
    }
    keys.truncate(many / 2);
    assert_eq!(map.len_live(), many / 2 + 1);
    drop(value);
    assert_eq!(map.len_live(), 1);
    if K::NOTIFIES && V::NOTIFIES {
        // Entries that ended before get a notice from both sides.
        assert_eq!((map.len(), map.pending_dead()), (1, many - many / 5));
    }
    map.purge();
    assert_eq!(counts::<K, V>(&map), (1, 1, 0));
    drop(keys);
    assert_eq!(counts::<K, V>(&map), (1, 1, 0));
}

/// H115, H118, L161: The sides die on two threads, and two more reclaim and replace: each entry ends once, and
/// no other entry is affected.
fn small_both_sides_die_at_once<K: Kind, V: Kind>() {
    for _ in 0..scaled(60, 2) {
        let many = scaled(40, 5);
        let (keys, values) = (lives::<K>(many), lives::<V>(many));
        let kept = (Life::<K>::from(100), Life::<V>::from(100));
        let map: Pairs<K, V> = keys.iter().zip(&values).collect();
        map.insert(&kept.0, &kept.1);
        let (barrier, over) = (Barrier::new(4), Over::default());
        thread::scope(|scope| {
            let (barrier, over, map, kept) = (&barrier, &over, &map, &kept);
            let killer = scope.spawn(move || {
                barrier.wait();
                drop(keys);
            });
            scope.spawn(move || {
                let _end = over.at_the_end();
                barrier.wait();
                drop(values);
                killer.join().unwrap();
            });
            scope.spawn(move || {
                barrier.wait();
                while !over.is_near() {
                    map.purge();
                    assert!(map.len_live() <= many + 1);
                    thread::yield_now();
                }
            });
            barrier.wait();
            while !over.is_near() {
                assert!(map.insert(&kept.0, &kept.1).is_some());
                assert!(map.iter().all(|(key, value)| *key == *value));
                thread::yield_now();
            }
        });
        assert_eq!(map.len_live(), 1);
        map.purge();
        assert_eq!(counts::<K, V>(&map), (1, 1, 0));
        assert!(
            map.get(&kept.0)
                .is_some_and(|got| is_same::<V>(&got, &kept.1))
        );
    }
}

/// L157, L161: Threads change the same pairs, and let their values die. What is found belongs to its key; a
/// thread with a key of its own finds what it has set.
fn small_threads_use_the_same_pairs<K: Kind, V: Kind>() {
    let (threads, turns) = (scaled(4, 3), scaled(2_000, 10));
    let (keys, map) = (lives::<K>(2), Pairs::<K, V>::new());
    let made = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..threads {
            let (keys, map, made) = (&keys, &map, &made);
            scope.spawn(move || {
                let own = Life::<K>::from(9);
                for turn in 0..turns {
                    let key = &keys[(turn + thread) % 2];
                    // Of the key's own parity.
                    let value = Life::<V>::from(2 * turn + **key);
                    match turn % 4 {
                        0 => _ = map.insert(key, &value),
                        1 => {
                            let got = map.get_or_insert_dyn(key, &mut || value.clone());
                            assert_eq!(*got % 2, **key);
                        }
                        2 => {
                            let got = map.compute_dyn(key, &mut |old| {
                                assert!(old.is_none_or(|old| *old % 2 == **key));
                                Some(value.clone())
                            });
                            assert!(got.is_some_and(|got| is_same::<V>(&got, &value)));
                        }
                        _ => assert!(map.remove(key).is_none_or(|old| *old % 2 == **key)),
                    }
                    assert!(map.get(key).is_none_or(|got| *got % 2 == **key));
                    map.insert(&own, &value);
                    assert!(map.get(&own).is_some_and(|got| is_same::<V>(&got, &value)));
                    if turn % 8 == 0 {
                        made.lock().unwrap().push(value);
                    }
                }
            });
        }
    });
    assert!(map.iter().all(|(key, value)| *value % 2 == *key));
    drop(made);
    assert_eq!(map.len_live(), 0);
    map.purge();
    assert_eq!(counts::<K, V>(&map), (0, 0, 0));
}

/// A17, A18
fn collections_are_built_from_iterators<K: Kind, V: Kind>() {
    let (keys, mut values) = (lives::<K>(6), lives::<V>(6));
    let mut map: Pairs<K, V> = keys[..3].iter().zip(&values).collect();
    map.extend(keys.iter().zip(&values).skip(2));
    assert_eq!(map.len(), 6);
    assert!((&map).into_iter().all(|(key, value)| *key == *value));
    values.truncate(1);
    let shown: Vec<_> = map.iter().map(|(key, value)| (*key, *value)).collect();
    assert_eq!(shown, [(0, 0)]);
    assert_eq!(format!("{:?}", map.iter()), "Snapshot { left: 1 }");
}

/// A18: The live entries.
#[test]
fn debug_shows_the_live_pairs() {
    let (keys, mut values) = (lives::<Ours>(2), lives::<Std>(2));
    let map: Pairs<Ours, Std> = keys.iter().zip(&values).collect();
    values.truncate(1);
    assert_eq!(format!("{map:?}"), "{0: 0}");
}

/// H118: One object on both sides, which notifies the entry twice.
#[test]
fn an_object_may_be_its_own_value() {
    let mut all = lives::<Ours>(5);
    let map: Pairs<Ours, Ours> = all.iter().zip(&all).collect();
    for left in (0..5).rev() {
        all.truncate(left);
        assert_eq!(counts::<Ours, Ours>(&map), (left, left, 5 - left));
    }
    map.purge();
    assert_eq!(counts::<Ours, Ours>(&map), (0, 0, 0));
}

/// C47: A plain reference finds the value until the key's destructor is over; the pair itself is not shown.
#[test]
fn a_key_finds_its_value_in_its_destructor() {
    let (map, value) = (Arc::new(Customs::new()), Strong::new(Custom::from(7)));
    let found = map.clone();
    let key = Strong::new(Custom::from(1).on(On::Drop, move |key| {
        assert!(found.get(key).is_some_and(|value| value.number == 7));
        assert!(found.get_key_value(key).is_none() && found.iter().next().is_none());
        assert_eq!((found.len(), found.len_live()), (1, 0));
    }));
    map.insert(&key, &value);
    drop(key);
    assert!(map.is_empty());
}

/// C47: For the map the value is dead when its destructor runs, although its notice is not delivered yet.
#[test]
fn a_value_is_not_found_in_its_destructor() {
    let (map, key) = (Arc::new(Customs::new()), Strong::new(Custom::from(7)));
    let (found, its_key) = (map.clone(), key.clone());
    let value = Strong::new(Custom::from(1).on(On::Drop, move |_| {
        assert!(found.get(&its_key).is_none() && !found.contains_key(&its_key));
        assert_eq!((found.len(), found.len_live()), (1, 0));
    }));
    map.insert(&key, &value);
    drop(value);
    assert!(map.is_empty());
}

/// H119, D65: A user's pointer that panics when asked for its handle, on either side: nothing is left of the
/// pair, nor of the registration that was already made.
#[test]
fn a_panic_between_the_registrations_leaves_nothing() {
    for patience in 0..3 {
        let map = WeakPairMap::new();
        let (key, value) = (Own::<()>::new(1), Own::<()>::new(2));
        own::set_requests_left(Some(patience));
        let panicked = panics(|| _ = map.insert(&key, &value));
        own::set_requests_left(None);
        assert_eq!(panicked, patience < 2);
        assert_eq!(map.len(), usize::from(!panicked));
        assert_eq!(map.contains_key(&key), !panicked);
        drop((key, value));
        assert_eq!((map.len(), map.pending_dead()), (0, usize::from(!panicked)));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}
