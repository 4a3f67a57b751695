//! Values that move to another key, while other threads look, and while user code uses the map.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakMap, WeakPairMap};
use weakly::reference::WeakKey;

use crate::common::custom::{Custom, On};
use crate::common::{in_time, scaled};
use crate::faces::{Kind, Life, is_same, lives};
use crate::for_each_pointer;

for_each_pointer!(
    a_value_moves_with_its_life,
    a_reader_finds_one_of_both,
    no_value_is_lost,
);

/// 650, 651: As in a map of one owner; by content, too.
fn a_value_moves_with_its_life<P: Kind>() {
    let [from, to, value, again] = [0, 1, 2, 0].map(Life::<P>::from);
    let map = WeakMap::<Life<P>, usize>::new();
    let contents = WeakHashMap::<Life<P>, usize>::new();
    let pairs = WeakPairMap::<Life<P>, Life<P>>::new();
    let moves = |old: Option<usize>| {
        assert_eq!(map.transfer(&from, &to), old);
        assert_eq!(contents.transfer(&0, &to), old);
        assert_eq!(
            pairs.transfer(&from, &to).map(|value| *value),
            old.map(|_| 2)
        );
    };
    moves(None);
    assert!(map.is_empty() && contents.is_empty() && pairs.is_empty());
    let fill = |number| {
        map.insert(&from, number);
        contents.insert(&from, number);
        pairs.insert(&from, &value);
    };
    fill(10);
    moves(None);
    fill(11);
    moves(Some(10));
    moves(None);
    assert_eq!(map.transfer(&WeakKey::downgrade(&to), &to), None);
    assert!(pairs.transfer(&to, &to).is_none());
    assert_eq!((map.len(), contents.len(), pairs.len()), (1, 1, 1));
    assert_eq!((map.get(&from), map.get(&to)), (None, Some(11)));
    assert_eq!((contents.get(&0), contents.get(&1)), (None, Some(11)));
    assert!(pairs.get(&from).is_none());
    assert!(is_same::<P>(&pairs.get(&to).unwrap(), &value));
    // To an equal content, nothing moves but the life of the entry.
    assert_eq!(contents.transfer(&1, &from), None);
    assert_eq!(contents.transfer(&0, &again), None);
    drop(from);
    assert_eq!((contents.get(&0), contents.len()), (Some(11), 1));
    drop((to, again, value));
    map.purge();
    contents.purge();
    pairs.purge();
    assert!(map.is_empty() && contents.is_empty() && pairs.is_empty());
}

/// A value moves along these keys. Readers ask for the key from which it moves, and then for the other.
fn along<K: Sync>(keys: &[K], finds: impl Fn(&K) -> bool + Sync, transfer: impl Fn(&K, &K) + Sync) {
    let (step, last) = (AtomicUsize::new(0), keys.len() - 1);
    let reads = || {
        loop {
            let now = step.load(SeqCst);
            if now == last {
                return;
            }
            let found = finds(&keys[now]) || finds(&keys[now + 1]);
            assert!(found || step.load(SeqCst) != now, "it is at neither");
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(reads);
        }
        for now in 0..last {
            step.store(now, SeqCst);
            transfer(&keys[now], &keys[now + 1]);
        }
        step.store(last, SeqCst);
    });
    assert!(finds(&keys[last]) && !keys[..last].iter().any(finds));
}

/// 653
fn a_reader_finds_one_of_both<P: Kind>() {
    let keys = lives::<P>(scaled(3_000, 20));
    let map = WeakMap::from([(&keys[0], 7)]);
    along(
        &keys,
        |key| map.contains_key(key),
        |from, to| _ = map.transfer(from, to),
    );
    let contents = WeakHashMap::<Life<P>, usize>::from([(&keys[0], 7)]);
    along(
        &keys,
        |key| contents.contains_key(&**key),
        |from, to| _ = contents.transfer(&**from, to),
    );
    let value = Life::<P>::from(7);
    let pairs = WeakPairMap::from([(&keys[0], &value)]);
    along(
        &keys,
        |key| pairs.contains_key(key),
        |from, to| _ = pairs.transfer(from, to),
    );
    assert_eq!((map.len(), contents.len(), pairs.len()), (1, 1, 1));
}

/// Each value that a thread inserts is there in the end, or was returned, while threads move values to and fro.
fn to_and_fro<K: Sync>(
    keys: &[K; 2],
    insert: impl Fn(&K, usize) -> Option<usize> + Sync,
    transfer: impl Fn(&K, &K) -> Option<usize> + Sync,
    get: impl Fn(&K) -> Option<usize>,
) {
    let (steps, next) = (scaled(4_000, 30), AtomicUsize::new(0));
    let acts = |thread: usize| {
        let mut seen = BTreeSet::new();
        for step in 0..steps {
            let [one, other] = match thread % 2 {
                0 => [&keys[0], &keys[1]],
                _ => [&keys[1], &keys[0]],
            };
            seen.extend(transfer(one, other));
            if step % 3 == thread {
                seen.extend(insert(one, next.fetch_add(1, SeqCst)));
            }
        }
        seen
    };
    let mut seen: BTreeSet<usize> = thread::scope(|scope| {
        let acts = &acts;
        let threads: Vec<_> = (0..3).map(|at| scope.spawn(move || acts(at))).collect();
        threads
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    seen.extend(keys.iter().filter_map(get));
    assert!(seen.into_iter().eq(0..next.into_inner()), "a value is lost");
}

/// 654
fn no_value_is_lost<P: Kind>() {
    let keys = [0, 1].map(Life::<P>::from);
    let map = WeakMap::<Life<P>, usize>::new();
    to_and_fro(
        &keys,
        |key, value| map.swap(key, value),
        |from, to| map.transfer(from, to),
        |key| map.get(key),
    );
    let contents = WeakHashMap::<Life<P>, usize>::new();
    to_and_fro(
        &keys,
        |key, value| contents.swap(key, value),
        |from, to| contents.transfer(&**from, to),
        |key| contents.get(&**key),
    );
    // By threads that move one value to and fro, it is not removed from both.
    let (values, pairs) = (lives::<P>(scaled(12_000, 100)), WeakPairMap::new());
    to_and_fro(
        &keys,
        |key, value| pairs.insert(key, &values[value]).map(|old| *old),
        |from, to| pairs.transfer(from, to).map(|old| *old),
        |key| pairs.get(key).map(|value| *value),
    );
}

type Map = WeakMap<Strong<usize>, Custom>;

/// 655: A clone of a value uses the map, in the middle of the transfer.
#[test]
fn a_clone_uses_the_map() {
    type Act = fn(&Map, &[Strong<usize>; 2]);
    // What is there afterwards, where the other key had a value before.
    let acts: [(Act, [Option<usize>; 2]); 8] = [
        (
            |map, [from, _]| assert!(map.remove_if(from, |_| true)),
            [None, Some(10)],
        ),
        (
            |map, [from, _]| assert!(!map.insert(from, Custom::new(30))),
            [Some(30), Some(10)],
        ),
        (
            |map, [_, to]| assert!(!map.insert(to, Custom::new(30))),
            [None, Some(10)],
        ),
        (
            |map, [from, to]| assert!(map.transfer(from, to).is_some()),
            [None, Some(10)],
        ),
        (
            |map, [from, to]| assert!(map.transfer(to, from).is_some()),
            [Some(20), Some(10)],
        ),
        (|map, _| map.clear(), [None, Some(10)]),
        (|map, _| map.retain(|_, _| false), [None, Some(10)]),
        (
            |map, _| {
                let more: Vec<_> = (0..200).map(Strong::new).collect();
                more.iter()
                    .for_each(|key| _ = map.insert(key, Custom::new(0)));
            },
            [None, Some(10)],
        ),
    ];
    in_time(move || {
        for (act, after) in acts {
            let (map, keys) = (Arc::new(Map::new()), [0, 1].map(Strong::new));
            let (inner, lives, acted) =
                (Arc::downgrade(&map), keys.clone(), AtomicBool::new(false));
            let value = Custom::from(10).on(On::Clone, move |_| {
                if !acted.swap(true, SeqCst) {
                    act(&inner.upgrade().unwrap(), &lives);
                }
            });
            map.insert(&keys[0], value);
            map.insert(&keys[1], Custom::new(20));
            _ = map.transfer(&keys[0], &keys[1]);
            let number = |key| map.with(key, |value| value.number);
            assert_eq!(keys.each_ref().map(number), after);
            map.purge();
            assert_eq!(
                (map.len(), map.pending_dead()),
                (after.iter().flatten().count(), 0)
            );
        }
    });
}

/// 657: A value that is being made does not move, and a value that moves to its key ends its making.
#[test]
fn values_that_are_being_made() {
    let (map, [from, to]) = (WeakMap::new(), [0, 1].map(Strong::new));
    let made = map.get_or_insert_with(&from, |_| {
        assert_eq!(map.transfer(&from, &to), None);
        1
    });
    assert_eq!((made, map.get(&from), map.get(&to)), (1, Some(1), None));
    let made = map.get_or_insert_with(&to, |_| {
        assert_eq!(map.transfer(&from, &to), None);
        2
    });
    assert_eq!((made, map.get(&from), map.get(&to)), (2, None, Some(1)));
}
