//! Wakers of collections of one owner.

use std::any::type_name;
use std::sync::{Arc, Mutex};

use weakly::local;
use weakly::{Reclaim, Strong, WeakMap, WeakPairMap, WeakValueMap};

use crate::common::subject::Single;
use crate::common::subject::single::*;

use crate::{Calls, Value, idle, owns};

type Map = WeakMap<Strong<usize>, usize>;

/// A map of so many objects.
fn map_of(count: usize) -> (Map, Vec<Strong<usize>>) {
    let keys: Vec<_> = (0..count).map(Strong::new).collect();
    (keys.iter().map(|key| (key, 0)).collect(), keys)
}

#[test]
fn it_is_called_once_until_nothing_is_pending() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(4));
    map.set_waker(calls.waker());
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
    drop(keys.pop());
    assert_eq!(calls.take(), 0, "something was pending");
    map.purge();
    assert_eq!(calls.take(), 0);
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

#[test]
fn one_for_local_pointers() {
    let calls = Calls::new();
    let keys = [1_usize, 2, 3].map(local::Strong::new);
    let mut map: WeakMap<_, _> = keys.iter().map(|key| (key, ())).collect();
    map.set_waker(calls.waker());
    let [a, b, c] = keys;
    drop((a, b));
    assert_eq!(calls.take(), 1);
    map.purge();
    drop(c);
    assert_eq!(calls.take(), 1);
}

#[test]
fn an_empty_map_has_one_too() {
    let (calls, mut map) = (Calls::new(), Map::new());
    map.set_waker(calls.waker());
    let key = Strong::new(1);
    map.insert(&key, 1);
    drop(key);
    assert_eq!(calls.take(), 1);
}

/// It is not called for what is pending when it is set.
#[test]
fn it_is_set_while_something_is_pending() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(40));
    keys.truncate(20);
    // Some of it is already taken out of the stack.
    map.insert(&keys[0], 1);
    map.set_waker(calls.waker());
    assert_eq!((calls.take(), map.pending_dead()), (0, 4));
    drop(keys.pop());
    assert_eq!(calls.take(), 0, "something was pending");
    map.purge();
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

/// One operation drains 16 notices.
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

/// Whatever drains the last notice arms it.
#[test]
fn every_drain_arms_it() {
    type Drain<'a> = &'a dyn Fn(&mut Map);
    let other = Strong::new(7);
    let drains: [(&str, Drain<'_>); 11] = [
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

/// Instalments that leave something do not arm it; the last does.
#[test]
fn instalments() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(10));
    map.set_waker(calls.waker());
    keys.truncate(5);
    assert_eq!(calls.take(), 1);
    for left in [3, 1] {
        assert_eq!((map.purge_some(2), map.pending_dead()), (2, left));
        drop(keys.pop());
        assert_eq!(calls.take(), 0, "something was pending");
        assert_eq!(map.purge_some(1), 1);
    }
    assert_eq!((map.purge_some(0), map.purge_some(2)), (0, 1));
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

/// A purge that causes further deaths calls it for none of them.
#[test]
fn a_purge_of_a_chain_does_not_call_it() {
    let (calls, mut map) = (Calls::new(), WeakMap::<_, Value>::new());
    map.set_waker(calls.waker());
    let mut last = None;
    for _ in 0..100 {
        let key = Strong::new(0_usize);
        map.insert(&key, owns(last));
        last = Some(key);
    }
    drop(last);
    assert_eq!(calls.take(), 1);
    map.purge();
    assert_eq!((calls.take(), map.len()), (0, 0));
    let key = Strong::new(0_usize);
    map.insert(&key, idle());
    drop(key);
    assert_eq!(calls.take(), 1);
}

/// What is kept until it is asked for is no news.
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

/// `drain` leaves the map with its waker, and takes the entries away from it.
#[test]
fn drained_entries_do_not_call_it() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(4));
    map.set_waker(calls.waker());
    let mut drained = map.drain();
    drop(keys.pop());
    assert_eq!(calls.take(), 0);
    assert!(drained.next().is_some());
    drop(drained);
    map.insert(&keys[0], 1);
    keys.clear();
    assert_eq!(calls.take(), 1);
}

/// A map that has become an iterator cannot be purged any more.
#[test]
fn the_entries_of_a_former_map_do_not_call_it() {
    let (calls, (mut map, mut keys)) = (Calls::new(), map_of(4));
    map.set_waker(calls.waker());
    let mut entries = map.into_iter();
    assert_eq!(Arc::strong_count(&calls), 1);
    assert!(entries.next().is_some());
    keys.clear();
    assert_eq!((calls.take(), entries.count()), (0, 0));
}

#[test]
fn a_clone_has_none() {
    let (calls, (mut map, keys)) = (Calls::new(), map_of(4));
    map.set_waker(calls.waker());
    let copy = map.clone();
    drop(map);
    drop(keys);
    assert_eq!((calls.take(), copy.pending_dead()), (0, 4));
}

#[test]
fn pointers_that_send_no_notices_call_none() {
    let (calls, key) = (Calls::new(), Arc::new(1_usize));
    let mut map = WeakMap::from([(&key, 1_usize)]);
    map.set_waker(calls.waker());
    assert_eq!(Arc::strong_count(&calls), 1, "it is not kept");
    drop(key);
    assert_eq!(calls.take(), 0);
}

/// A pair has two notices, of different kinds of pointers perhaps.
#[test]
fn pairs() {
    let calls = Calls::new();
    let keys = [1_usize, 2, 3].map(Strong::new);
    let values = [1_usize, 2, 3].map(local::Strong::new);
    let mut map: WeakPairMap<_, _> = keys.iter().zip(&values).collect();
    map.set_waker(calls.waker());
    let ([a, b, c], [x, y, z]) = (keys, values);
    drop(x);
    assert_eq!(calls.take(), 1);
    drop((a, b));
    assert_eq!(calls.take(), 0, "something was pending");
    map.purge();
    drop(c);
    assert_eq!(calls.take(), 1);
    map.purge();
    drop((y, z));
    assert_eq!(calls.take(), 0, "they are in no entry any more");
    let (key, value) = (Strong::new(1), local::Strong::new(1));
    map.insert(&key, &value);
    drop(value);
    assert_eq!(calls.take(), 1);
    // Or one, if the other side is polled.
    let (polled, value) = (Arc::new(1_usize), Strong::new(1_usize));
    let mut map = WeakPairMap::from([(&polled, &value)]);
    map.set_waker(calls.waker());
    drop(value);
    assert_eq!(calls.take(), 1);
    map.purge();
    let value = Strong::new(2);
    map.insert(&polled, &value);
    drop((polled, value));
    assert_eq!(calls.take(), 1);
}

/// A notice whose entry has gone is not pending. One operation drains 16 notices; that of the first death is the last
/// to be drained. Its entry goes before that, or after the 16 others.
#[test]
fn late_notices() {
    type Map = WeakValueMap<usize, Strong<usize>>;
    let replace: [fn(&mut Map, &Strong<usize>); 2] = [
        |map, value| _ = map.insert(0, value),
        |map, value| _ = map.try_insert(0, value).is_ok(),
    ];
    for replace in replace {
        let (calls, mut map) = (Calls::new(), Map::new());
        map.set_waker(calls.waker());
        let values: Vec<_> = (0..17).map(Strong::new).collect();
        map.extend(values.iter().map(|value| (**value, value)));
        drop(values);
        assert_eq!(calls.take(), 1);
        let value = Strong::new(100);
        replace(&mut map, &value);
        assert_eq!((map.pending_dead(), map.len()), (0, 1));
        drop(value);
        assert_eq!(calls.take(), 1);
    }
}

/// Late notices are taken in instalments as well: until one returns 0, something is pending, whatever `pending_dead` says.
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

#[test]
fn every_collection_has_one() {
    fn check<C: Single<Life = Strong<usize>>>() {
        let (calls, mut all) = (Calls::new(), C::default());
        all.set_waker(calls.waker());
        for _ in 0..2 {
            let object = Strong::new(1);
            all.enter(&object, &quietly());
            drop(object);
            assert_eq!(calls.take(), 1, "{}", type_name::<C>());
            all.purge();
        }
    }
    check::<Maps<_>>();
    check::<HashMaps<_>>();
    check::<Sets<_>>();
    check::<HashSets<_>>();
    check::<ValueMaps<_>>();
    check::<PairsTwice<_>>();
    check::<HashPairsTwice<_>>();
    check::<Interners<_>>();
}

/// An object in many maps calls the waker of each, once.
#[test]
fn an_object_in_many_maps() {
    let calls: Vec<_> = (0..100).map(|_| Calls::new()).collect();
    let mut maps: Vec<_> = calls.iter().map(|_| Map::new()).collect();
    let object = Strong::new(1);
    for (map, calls) in maps.iter_mut().zip(&calls) {
        map.set_waker(calls.waker());
        map.insert(&object, 1);
    }
    drop(object);
    assert!(calls.iter().all(|calls| calls.take() == 1));
    assert!(maps.iter().all(|map| map.pending_dead() == 1));
}

/// An object under many keys of one map.
#[test]
fn an_object_under_many_keys() {
    let (calls, mut map) = (Calls::new(), WeakValueMap::new());
    map.set_waker(calls.waker());
    for _ in 0..2 {
        let object = Strong::new(1_usize);
        for key in 0..200_usize {
            map.insert(key, &object);
        }
        drop(object);
        assert_eq!(calls.take(), 1);
        map.purge();
    }
}

/// A death owes the calls of three wakers, more than it keeps on its stack, and a finalizer of the dying object arms them again
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
