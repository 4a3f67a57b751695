//! Wakers of collections of one owner.

use std::any::Any;
use std::sync::{Arc, Mutex};

use weakly::{Reclaim, Strong, WeakMap, WeakPairMap};

use crate::Calls;

type Map = WeakMap<Strong<usize>, usize>;

/// A map of so many objects.
fn map_of(count: usize) -> (Map, Vec<Strong<usize>>) {
    let keys: Vec<_> = (0..count).map(Strong::new).collect();
    (keys.iter().map(|key| (key, 0)).collect(), keys)
}

/// 590, 61: One operation drains 16 notices.
#[test]
fn a_drain_that_leaves_something_does_not_arm_it() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(60));
    map.set_waker(calls.waker());
    keys.truncate(20);
    assert_eq!(calls.take(), 1);
    for left in [24, 8] {
        map.insert(&keys[0], 1);
        assert_eq!(map.pending_dead(), left);
        assert_eq!(calls.take(), 0);
    }
    drop(keys.pop());
    assert_eq!(calls.take(), 0, "something was pending");
    map.insert(&keys[0], 1);
    assert_eq!(map.pending_dead(), 0);
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

/// 590: Whatever drains the last notice arms it.
#[test]
fn every_drain_arms_it() {
    type Drain<'a> = &'a dyn Fn(&mut Map);
    let other = Strong::new(7);
    let drains: [(&str, Drain<'_>); 12] = [
        ("purge", &|map| _ = map.purge()),
        ("purge_some", &|map| assert_eq!(map.purge_some(1), 1)),
        ("insert", &|map| _ = map.insert(&other, 1)),
        ("remove", &|map| _ = map.remove(&other)),
        ("entry", &|map| *map.entry(&other).or_default() += 1),
        ("drain_dead", &|map| assert_eq!(map.drain_dead().count(), 1)),
        ("some of drain_dead", &|map| {
            assert!(map.drain_dead().next().is_some());
        }),
        ("retain", &|map| map.retain(|_, _| true)),
        ("shrink_to_fit", &|map| map.shrink_to_fit()),
        ("reserve", &|map| map.reserve(1)),
        ("clear", &|map| map.clear()),
        ("drain", &|map| map.drain().for_each(drop)),
    ];
    for (name, drain) in drains {
        let (calls, (mut map, _keys)) = (Calls::new(), map_of(3));
        map.set_waker(calls.waker());
        for _ in 0..3 {
            let key = Strong::new(0);
            map.insert(&key, 1);
            drop(key);
            assert_eq!(calls.take(), 1, "{name}");
            drain(&mut map);
            assert_eq!((calls.take(), map.pending_dead()), (0, 0), "{name}");
        }
    }
}

/// 590, 185: What is kept until it is asked for is no news.
#[test]
fn on_request() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(4));
    map.set_reclaim(Reclaim::OnRequest);
    map.set_waker(calls.waker());
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
    map.insert(&keys[0], 1);
    assert_eq!(map.pending_dead(), 1, "it is kept");
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
    assert_eq!(map.drain_dead().count(), 2);
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

/// 590: The waker is that of the map, and not of what the map was.
#[test]
fn it_is_replaced_and_removed_and_dropped_with_the_map() {
    let (one, other) = (Calls::new(), Calls::new());
    let (mut map, mut keys) = map_of(4);
    map.set_waker(one.waker());
    map.set_waker(other.waker());
    assert_eq!(Arc::strong_count(&one), 1);
    drop(keys.pop());
    assert_eq!((one.take(), other.take()), (0, 1));
    map.set_waker(None);
    assert_eq!(Arc::strong_count(&other), 1);
    map.purge();
    drop(keys.pop());
    assert_eq!(other.take(), 0);
    map.purge();
    map.set_waker(one.waker());
    drop(keys.pop());
    assert_eq!(one.take(), 1);
    // One notice is still to come.
    drop(map);
    assert_eq!(Arc::strong_count(&one), 1);
    drop(keys);
    assert_eq!(one.take(), 0);
}

/// 590: It is that of the map: not of a clone, nor of what was moved out.
#[test]
fn what_leaves_the_map_does_not_call_it() {
    let leave: [fn(Map) -> Box<dyn Any>; 3] = [
        |map| Box::new(map.clone()),
        |mut map| Box::new(Vec::from_iter(map.drain())),
        |map| Box::new(map.into_iter()),
    ];
    for leave in leave {
        let (calls, (mut map, keys)) = (Calls::new(), map_of(4));
        map.set_waker(calls.waker());
        let left = leave(map);
        drop(keys);
        assert_eq!((calls.take(), Arc::strong_count(&calls)), (0, 1));
        drop(left);
    }
}

/// 590, 202: Late notices are taken in instalments as well: until one returns 0, something is pending, whatever `pending_dead` says.
#[test]
fn instalments_of_late_notices() {
    let (calls, mut map) = (Calls::new(), WeakPairMap::new());
    let [mut keys, mut values] =
        [(); 2].map(|()| (0..14_usize).map(Strong::new).collect::<Vec<_>>());
    map.extend(keys.iter().zip(&values));
    map.set_waker(calls.waker());
    keys.truncate(4);
    // The values of the keys that live die last, so that their notices are taken first.
    let kept = values.drain(..2).collect::<Vec<_>>();
    values.into_iter().rev().for_each(drop);
    assert_eq!((calls.take(), map.pending_dead()), (1, 12));
    for _ in 0..4 {
        assert_eq!(map.purge_some(3), 3);
    }
    assert_eq!((map.pending_dead(), map.len()), (0, 2));
    // Ten notices are left, all of them late.
    let mut kept = kept.into_iter();
    drop(kept.next());
    assert_eq!(calls.take(), 0, "something was pending");
    assert_eq!([(); 5].map(|()| map.purge_some(3)), [3, 3, 3, 2, 0]);
    drop(kept.next());
    assert_eq!((calls.take(), map.len()), (1, 0));
}

/// 590: A death owes the calls of three wakers, more than it keeps on its stack, and a finalizer of the dying object arms them again
/// and drops an object with entries in the same maps: each waker is called twice.
#[test]
fn each_of_many_owed_calls_comes() {
    let [first, second] = [1, 2].map(Strong::new);
    let calls = [(); 3].map(|()| Calls::new());
    let mut maps: Vec<Map> = (0..6).map(|_| WeakMap::new()).collect();
    for (map, calls) in maps[2..].iter_mut().zip(&calls) {
        map.set_waker(calls.waker());
    }
    for map in &mut maps {
        map.insert(&second, 1);
    }
    for map in &mut maps[2..5] {
        map.insert(&first, 1);
    }
    let maps = Arc::new(Mutex::new(maps));
    let finalizer = {
        let maps = Arc::clone(&maps);
        move || {
            for map in &mut maps.lock().unwrap()[2..5] {
                map.purge();
            }
            drop(second);
        }
    };
    Strong::finalize(&first, finalizer);
    drop(first);
    assert_eq!(calls.map(|calls| calls.take()), [2; 3]);
}
