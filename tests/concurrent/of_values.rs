//! What a map knows of a value, alone and while other threads change it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, mpsc::channel};
use std::thread;

use weakly::concurrent::{WeakPairMap, WeakValueMap};
use weakly::{Strong, WeakMap};

use crate::bags::BAG;
use crate::common::custom::{Custom, On};
use crate::common::of_values::{Near, check_script, check_time};
use crate::common::random::random;
use crate::common::subject::{self, sorted};
use crate::common::{in_time, panics, quiet_panic, scaled};
use crate::dynamic::*;
use crate::faces::{Kind, Life, Over, lives};
use crate::for_each_pointer;

for_each_pointer!(
    values_know_their_keys,
    what_changes_before_its_turn_is_left_out,
    a_removal_by_value_does_not_stop_what_is_being_made,
    small_threads_change_what_is_asked_for,
    small_what_is_removed_by_value_is_counted_once,
);

/// H195
fn values_know_their_keys<P: Kind>()
where
    Life<P>: subject::Life,
{
    check_script::<WeakValueMap<usize, Life<P>>>();
    check_script::<WeakValueMap<usize, Life<P>, Near>>();
    check_script::<WeakPairMap<Life<P>, Life<P>>>();
}

/// H196: It is no scan.
#[test]
fn to_ask_a_value_costs_what_it_is_registered_with() {
    check_time::<WeakValueMap<usize, Strong<usize>>>();
    check_time::<WeakPairMap<Strong<usize>, Strong<usize>>>();
}

/// H195, F88
fn what_changes_before_its_turn_is_left_out<P: Kind>() {
    let (value, other) = (Life::<P>::from(0), Life::<P>::from(1));
    let mut keys = lives::<P>(5);
    let pairs: WeakPairMap<_, _> = keys.iter().map(|key| (key, &value)).collect();
    let names: WeakValueMap<_, _> = keys.iter().map(|key| (**key, &value)).collect();
    let (mut by_key, mut by_name) = (pairs.keys_of(&value), names.keys_of(&value));
    let (key, name) = (by_key.next().unwrap(), by_name.next().unwrap());
    keys.retain(|at| **at != *key);
    // One has another value, one has gone, one has died, and one is the same.
    pairs.insert(&keys[0], &other);
    pairs.remove(&keys[1]);
    drop(keys.remove(2));
    pairs.insert(&keys[2], &value);
    assert!(by_key.map(|key| *key).eq([*keys[2]]));
    for other_name in (0..5).filter(|at| *at != name) {
        names.insert(other_name, &other);
    }
    names.insert(name, &other);
    assert_eq!(by_name.count(), 0);
}

/// L162, H195: The keys that a value has all the time are shown, each once; the others only if it had them. Other
/// threads give it further keys and take them away, kill keys, and register the value elsewhere.
fn small_threads_change_what_is_asked_for<P: Kind>() {
    let rounds = scaled(2_000, 6);
    let (value, other) = (Life::<P>::from(0), Life::<P>::from(1));
    let kept = lives::<P>(8);
    let names: WeakValueMap<usize, Life<P>> = WeakValueMap::new();
    let pairs: WeakPairMap<Life<P>, Life<P>> = WeakPairMap::new();
    for key in &kept {
        names.insert(**key, &value);
        pairs.insert(key, &value);
    }
    let over = Over::default();
    thread::scope(|scope| {
        let (names, pairs, value, other, over) = (&names, &pairs, &value, &other, &over);
        for thread in 1..=2 {
            scope.spawn(move || {
                let mut pick = random(thread);
                for round in 0.. {
                    if over.is_near() {
                        break;
                    }
                    let number = 100 + pick.next().unwrap() % 16;
                    let key = Life::<P>::from(number);
                    let given = if round % 3 == 0 { other } else { value };
                    names.insert(number, given);
                    pairs.insert(&key, given);
                    if round % 2 == 0 {
                        names.remove(&number);
                        pairs.remove(&key);
                    }
                    let mut elsewhere = WeakMap::new();
                    elsewhere.insert(value, ());
                }
            });
        }
        let _near = over.at_the_end();
        for _ in 0..rounds {
            let by_name = sorted(names.keys_of(value));
            let by_key = sorted(pairs.keys_of(value).map(|key| *key));
            for shown in [&by_name, &by_key] {
                assert!(shown.starts_with(&[0, 1, 2, 3, 4, 5, 6, 7]), "{shown:?}");
                assert!(shown[8..].iter().all(|key| (100..116).contains(key)));
            }
            assert!(by_name.is_sorted_by(|one, next| one < next));
        }
    });
}

/// L157, H195: Each entry goes once, with one of those that remove it by value or by key, or with its key.
fn small_what_is_removed_by_value_is_counted_once<P: Kind>() {
    let (threads, rounds) = (2, scaled(300, 5));
    let value = Life::<P>::from(0);
    let names: WeakValueMap<usize, Life<P>> = WeakValueMap::new();
    let pairs: WeakPairMap<Life<P>, Life<P>> = WeakPairMap::new();
    let [by_name, by_pair] = [0, 0].map(AtomicUsize::new);
    let keys: Vec<_> = (0..threads).map(|_| lives::<P>(rounds * 4)).collect();
    let start = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let (names, pairs, value, start) = (&names, &pairs, &value, &start);
        let (by_name, by_pair) = (&by_name, &by_pair);
        for (thread, keys) in keys.iter().enumerate() {
            scope.spawn(move || {
                start.wait();
                for (number, key) in keys.iter().enumerate() {
                    let name = number * threads + thread;
                    assert!(names.insert(name, value).is_none());
                    assert!(pairs.insert(key, value).is_none());
                    if number % 4 == 0 {
                        by_name.fetch_add(names.remove(&name).iter().count(), Relaxed);
                        by_pair.fetch_add(pairs.remove(key).iter().count(), Relaxed);
                    }
                }
            });
        }
        scope.spawn(move || {
            start.wait();
            for _ in 0..rounds {
                by_name.fetch_add(names.remove_value(value), Relaxed);
                by_pair.fetch_add(pairs.remove_value(value), Relaxed);
            }
        });
    });
    let all = threads * rounds * 4;
    assert_eq!(names.remove_value(&value) + by_name.into_inner(), all);
    assert_eq!(pairs.remove_value(&value) + by_pair.into_inner(), all);
    assert!(names.is_empty() && pairs.is_empty());
    // What the threads have removed may wait in their bags.
    assert!(
        names.pending_dead() <= BAG * (threads + 2) && pairs.pending_dead() <= BAG * (threads + 2)
    );
    assert!(!names.purge() && !pairs.purge());
    assert_eq!((names.pending_dead(), pairs.pending_dead()), (0, 0));
}

type Act = fn(&Meddled);

/// A map whose keys' user code uses it.
struct Meddled {
    map: WeakValueMap<Custom, Strong<Custom>>,
    value: Strong<Custom>,
    other: Strong<Custom>,
    act: Mutex<Option<(On, Act)>>,
}

impl Meddled {
    fn new() -> Arc<Self> {
        let [value, other] = [1, 2].map(|n| Strong::new(Custom::from(n)));
        let (map, act) = (WeakValueMap::new(), Mutex::default());
        let all = Arc::new(Meddled {
            map,
            value,
            other,
            act,
        });
        for number in 0..16 {
            let its = all.clone();
            // Once.
            let key = Custom::from(number).code(move |on, _| {
                let act = its.act.lock().unwrap().take_if(|(of, _)| *of == on);
                if let Some((_, act)) = act {
                    act(&its);
                }
            });
            let value = if number % 2 == 0 {
                &all.value
            } else {
                &all.other
            };
            all.map.insert(key, value);
        }
        all
    }
}

/// T4 of the table, D63: User code of the keys may do anything to the map that is asked: what it shows, and removes, is what
/// is there.
#[test]
fn keys_may_use_the_map_that_is_asked() {
    let acts: [Act; 5] = [
        |all| _ = all.map.remove_value(&all.value),
        |all| _ = all.map.keys_of(&all.value).count(),
        |all| all.map.retain(|key, _| key.number % 2 == 0),
        |all| all.map.clear(),
        |_| quiet_panic(),
    ];
    let asks: [Act; 2] = [
        |all| assert!(all.map.keys_of(&all.value).count() <= 8),
        |all| assert!(all.map.remove_value(&all.value) <= 8),
    ];
    for on in [On::Eq, On::Clone, On::Drop] {
        for act in acts {
            for ask in asks {
                in_time(move || {
                    let all = Meddled::new();
                    *all.act.lock().unwrap() = Some((on, act));
                    _ = panics(|| ask(&all));
                    *all.act.lock().unwrap() = None;
                    assert!(all.map.keys_of(&all.value).all(|key| key.number % 2 == 0));
                    let there = all.map.keys_of(&all.value).count();
                    assert_eq!(all.map.remove_value(&all.value), there);
                    assert!(all.map.values().all(|value| value.number == 2));
                    all.map.clear();
                });
            }
        }
    }
}

/// L158: What is being made has no value yet.
fn a_removal_by_value_does_not_stop_what_is_being_made<P: Kind>() {
    let (map, value) = (WeakValueMap::new(), Life::<P>::from(1));
    map.insert(1_usize, &value);
    let (begun, begins) = channel();
    let (go, goes) = channel::<()>();
    thread::scope(|scope| {
        let (map, value) = (&map, &value);
        scope.spawn(move || {
            _ = map.get_or_insert_dyn(2, &mut || {
                begun.send(()).unwrap();
                _ = goes.recv();
                value.clone()
            });
        });
        begins.recv().unwrap();
        assert_eq!(map.keys_of(value).count(), 1);
        assert_eq!(map.remove_value(value), 1);
        drop(go);
    });
    assert!(map.keys_of(&value).eq([2]));
}
