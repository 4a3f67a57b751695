//! F. Iteration (items 84–98).
//!
//! 89, 90, 91: an insert, a removal or a `clear` during iteration does not compile (see
//! `src/compile_fail.rs`); removal during iteration is `retain` and `extract_if`, of which each
//! entry is shown once. 99: no order is promised.

use std::collections::BTreeSet;

use crate::common::{Counter, Key, Kind, Map, downgrade, is_alive, keys, new};
use crate::{for_each_kind, heap};

for_each_kind!(
    every_iterator_visits_every_live_entry_once,
    no_iterator_yields_the_dead,
    a_yielded_key_is_strong,
    keys_not_yet_yielded_are_not_kept_alive,
    keys_that_die_during_iteration_are_skipped,
    an_entry_removed_by_retain_is_not_shown_again,
    into_values_skips_the_dead,
    a_loop_may_drop_the_key_it_was_given,
    retain_may_kill_other_keys,
    two_iterators_show_the_same,
    weak_keys_upgrade_nobody,
    an_iterator_may_be_left_half_way,
    memory_of_the_dead_does_not_wait_for_the_iterator,
    drain_yields_all_live_pairs_and_empties_the_map,
);

fn sorted(payloads: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut payloads: Vec<_> = payloads.into_iter().collect();
    payloads.sort_unstable();
    payloads
}

/// A map of the keys `0..n`, each with its payload as its value.
fn numbered<P: Kind>(n: usize) -> (Map<P, usize>, Vec<Key<P>>) {
    let keys = keys::<P>(n);
    let map = keys.iter().zip(0..).collect();
    (map, keys)
}

/// What each of the iterators shows, in order.
fn every_view<P: Kind>(mut map: Map<P, usize>) -> Vec<Vec<usize>> {
    vec![
        sorted(map.iter().map(|(key, _)| *key)),
        sorted(map.iter().map(|(_, value)| *value)),
        sorted((&map).into_iter().map(|(key, value)| (*key + value) / 2)),
        sorted(map.keys().map(|key| *key)),
        sorted(map.values().copied()),
        sorted(map.iter_mut().map(|(_, value)| *value)),
        sorted((&mut map).into_iter().map(|(key, _)| *key)),
        sorted(map.values_mut().map(|value| *value)),
        sorted(
            map.weak_keys()
                .map(|key| *weakly::WeakRef::upgrade(&key).unwrap()),
        ),
        sorted(map.clone().into_keys().map(|key| *key)),
        sorted(map.clone().into_values()),
        sorted(map.clone().extract_if(|_, _| true).map(|(_, value)| value)),
        sorted(map.clone().drain().map(|(_, value)| value)),
        sorted(map.into_iter().map(|(_, value)| value)),
    ]
}

/// F84: Every iterator visits every live entry exactly once.
fn every_iterator_visits_every_live_entry_once<P: Kind>() {
    let (map, _keys) = numbered::<P>(50);
    let all: Vec<_> = (0..50).collect();
    for (n, view) in every_view::<P>(map).iter().enumerate() {
        assert_eq!(*view, all, "iterator {n}");
    }
}

/// F85: No iterator yields a dead entry.
fn no_iterator_yields_the_dead<P: Kind>() {
    let (map, mut keys) = numbered::<P>(50);
    keys.retain(|key| **key % 5 == 0);
    let live: Vec<_> = (0..50).step_by(5).collect();
    for (n, view) in every_view::<P>(map).iter().enumerate() {
        assert_eq!(*view, live, "iterator {n}");
    }
}

/// F86: A key that an iterator has yielded is strong: it stays valid while the loop holds it.
fn a_yielded_key_is_strong<P: Kind>() {
    let (map, mut keys) = numbered::<P>(5);
    for (key, value) in &map {
        keys.retain(|other| **other != *key);
        assert_eq!((*key, P::counts(&key).0), (*value, 1));
        assert_eq!(map.get(&key), Some(value));
    }
    assert_eq!((keys.len(), map.len_live()), (0, 0));
}

/// F87: An iterator keeps no key alive that it has not yielded.
fn keys_not_yet_yielded_are_not_kept_alive<P: Kind>() {
    let (map, keys) = numbered::<P>(5);
    let weak: Vec<_> = keys.iter().map(downgrade).collect();
    let mut iter = map.iter();
    let first = iter.next();
    assert!(keys.iter().all(|key| P::counts(key).0 <= 2));
    drop(keys);
    assert_eq!(weak.iter().filter(|weak| is_alive(*weak)).count(), 1);
    drop((first, iter));
    assert!(!weak.iter().any(is_alive));
}

/// F88: A key that dies after the iterator was made is skipped.
fn keys_that_die_during_iteration_are_skipped<P: Kind>() {
    let (map, mut keys) = numbered::<P>(20);
    let (mut iter, mut seen) = (map.iter(), BTreeSet::new());
    for _ in 0..5 {
        seen.insert(*iter.next().unwrap().0);
    }
    keys.retain(|key| seen.contains(&**key) || **key % 2 == 0);
    let live: BTreeSet<_> = keys.iter().map(|key| **key).collect();
    seen.extend(iter.map(|(key, _)| *key));
    assert_eq!(seen, live);
}

/// F85: The values of keys that are dead and not yet purged are not among those that a map gives up.
fn into_values_skips_the_dead<P: Kind>() {
    let (map, mut keys) = numbered::<P>(20);
    keys.retain(|key| **key < 5);
    assert_eq!(sorted(map.into_values()), (0..5).collect::<Vec<_>>());
}

/// F90: An entry that `retain` or `extract_if` has removed is not shown again.
fn an_entry_removed_by_retain_is_not_shown_again<P: Kind>() {
    let (mut map, _keys) = numbered::<P>(30);
    let mut shown = Vec::new();
    map.retain(|key, _| {
        shown.push(**key);
        **key % 3 != 0
    });
    assert_eq!(sorted(shown), (0..30).collect::<Vec<_>>());
    let taken = map.extract_if(|_, value| *value % 3 == 1);
    assert_eq!(
        sorted(taken.map(|(key, _)| *key)),
        (1..30).step_by(3).collect::<Vec<_>>()
    );
    assert_eq!(
        sorted(map.into_values()),
        (2..30).step_by(3).collect::<Vec<_>>()
    );
}

/// F92: A loop may drop the key that it was given, though it is the last handle.
fn a_loop_may_drop_the_key_it_was_given<P: Kind>() {
    let (mut map, mut keys) = numbered::<P>(10);
    let mut loops = 0;
    for (key, _) in &map {
        keys.retain(|other| **other != *key);
        let weak = downgrade(&key);
        drop(key);
        assert!(!is_alive(&weak));
        assert_eq!(map.get(&weak), None);
        loops += 1;
    }
    map.purge();
    assert_eq!((loops, map.len()), (10, 0));
}

/// F93: The predicate of `retain` may kill other keys: each value is destroyed once, and the dead are
/// not shown.
fn retain_may_kill_other_keys<P: Kind>() {
    let counter = Counter::default();
    let mut keys = keys::<P>(20);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    let mut shown = Vec::new();
    map.retain(|key, _| {
        shown.push(**key);
        let partner = **key ^ 1;
        keys.retain(|other| **other != partner);
        partner % 4 == 0
    });
    assert_eq!(shown.len(), 10, "one of each pair");
    assert!(shown.iter().all(|n| !shown.contains(&(n ^ 1))));
    map.purge();
    let kept = shown.iter().filter(|n| (*n ^ 1) % 4 == 0).count();
    assert_eq!((map.len(), counter.get()), (kept, 20 - kept));
}

/// F94: Two iterators at once show the same, and neither disturbs the other.
fn two_iterators_show_the_same<P: Kind>() {
    let (map, mut keys) = numbered::<P>(20);
    keys.truncate(15);
    let (mut a, mut b) = (map.iter(), map.iter());
    let (first, copy) = (a.next().unwrap(), a.clone());
    assert!(first.0.eq(&b.next().unwrap().0));
    let rest = sorted(a.map(|(key, _)| *key));
    assert_eq!(rest.len(), 14);
    assert_eq!(rest, sorted(b.map(|(key, _)| *key)));
    assert_eq!(rest, sorted(copy.map(|(key, _)| *key)));
}

/// F95: The keys can be walked as weak handles: nobody is upgraded.
fn weak_keys_upgrade_nobody<P: Kind>() {
    let (map, mut keys) = numbered::<P>(10);
    let dead = keys.split_off(5);
    let mut weak = Vec::new();
    for key in map.weak_keys() {
        assert!(keys.iter().chain(&dead).all(|key| P::counts(key).0 == 1));
        weak.push(key);
    }
    drop(dead);
    assert_eq!((weak.len(), map.weak_keys().count()), (10, 5));
    assert_eq!(weak.iter().filter(|key| map.contains_key(*key)).count(), 5);
}

/// F96: Every iterator may be left half-way: the map is whole. A `drain` takes all with it.
fn an_iterator_may_be_left_half_way<P: Kind>() {
    let (mut map, keys) = numbered::<P>(10);
    assert!(map.iter().nth(3).is_some());
    assert!(map.iter_mut().nth(3).is_some());
    assert!(map.drain_dead().next().is_none());
    assert!(map.extract_if(|_, _| true).nth(1).is_some());
    assert_eq!((map.len(), map.iter().count()), (8, 8));
    assert!(map.drain().nth(1).is_some());
    assert!(map.is_empty());
    let mut again: Map<P, _> = keys.iter().zip(0..).collect();
    assert!(again.clone().into_iter().nth(1).is_some());
    let _unused = again.extract_if(|_, _| true);
    again.purge();
    assert!(keys.iter().all(|key| again.contains_key(key)));
    assert!(keys.iter().all(|key| P::counts(key) == (1, 1)));
}

/// F97: The memory of objects that die while an iterator is open: this crate's own is freed at once
/// (the standard library's when the entry goes), the values after the iterator.
fn memory_of_the_dead_does_not_wait_for_the_iterator<P: Kind>() {
    let counter = Counter::default();
    let keys: Vec<_> = (0..100).map(|_| new::<P, _>([0u8; 1_000])).collect();
    let entries = keys.iter().map(|key| (key, counter.witness()));
    let mut map: weakly::WeakMap<_, _> = entries.collect();
    let mut iter = map.iter();
    drop(iter.next());
    let before = heap::bytes();
    drop(keys);
    assert_eq!(before - heap::bytes() > 90_000, P::NOTIFIES);
    assert!(iter.next().is_none());
    assert_eq!(counter.get(), 0);
    map.purge();
    assert_eq!(counter.get(), 100);
    assert!(before - heap::bytes() > 90_000);
}

/// F98: `drain` yields all live pairs, destroys the dead ones, and the map is empty at once.
fn drain_yields_all_live_pairs_and_empties_the_map<P: Kind>() {
    let counter = Counter::default();
    let mut keys = keys::<P>(10);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    keys.truncate(7);
    let drained: Vec<_> = map.drain().collect();
    assert_eq!(
        sorted(drained.iter().map(|(key, _)| **key)),
        [0, 1, 2, 3, 4, 5, 6]
    );
    assert_eq!((counter.get(), map.len(), map.pending_dead()), (3, 0, 0));
    map.extend(drained);
    assert_eq!((counter.get(), map.len()), (3, 7));
}
