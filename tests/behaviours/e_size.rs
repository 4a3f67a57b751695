//! E. Size (items 76–83). The cheap count is `len`: exact for this crate's own pointers, an upper
//! bound for the standard library's.

use crate::common::{Counter, Key, Kind, Map, keys, new};
use crate::for_each_kind;

for_each_kind!(
    len_is_never_less_than_what_lives,
    len_live_is_exact,
    after_a_purge_all_counts_agree,
    deaths_never_increase_len,
    an_open_iterator_keeps_no_more_than_the_current_key,
    len_is_right_through_every_change_with_a_death_outstanding,
    is_empty_agrees_with_len,
    shrinking_drops_the_dead_first,
);

/// A map of `n` keys of which every other one is dead.
fn half_dead<P: Kind>(n: usize) -> (Map<P, usize>, Vec<Key<P>>) {
    let mut keys = keys::<P>(n);
    let map = keys.iter().zip(0..).collect();
    keys.retain(|key| **key % 2 == 0);
    (map, keys)
}

/// E76: `len` is never less than the number of live entries.
fn len_is_never_less_than_what_lives<P: Kind>() {
    let (mut map, mut keys) = half_dead::<P>(60);
    while let Some(key) = keys.pop() {
        assert!(map.len() >= map.len_live());
        assert!(!P::NOTIFIES || map.len() == keys.len() + 1);
        if *key % 3 == 0 {
            map.remove(&key);
        }
    }
    assert_eq!(map.len_live(), 0);
}

/// E77: `len_live` is exact at the call, with and without dead entries.
fn len_live_is_exact<P: Kind>() {
    let (map, mut keys) = half_dead::<P>(60);
    assert_eq!(map.len_live(), 30);
    keys.truncate(3);
    assert_eq!(map.len_live(), 3);
}

/// E78: After a purge, `len`, `len_live` and what an iterator shows are the same.
fn after_a_purge_all_counts_agree<P: Kind>() {
    let (mut map, keys) = half_dead::<P>(60);
    map.purge();
    let counts = [
        map.len(),
        map.len_live(),
        map.iter().count(),
        map.values().count(),
    ];
    assert_eq!(counts, [keys.len(); 4]);
    assert_eq!(map.pending_dead(), 0);
}

/// E79: When only deaths happen, `len` never grows, and never falls below zero.
fn deaths_never_increase_len<P: Kind>() {
    let (map, mut keys) = half_dead::<P>(60);
    let mut before = map.len();
    while keys.pop().is_some() {
        assert!(map.len() <= before);
        before = map.len();
    }
    assert!(before <= 60);
    assert_eq!(map.pending_dead() + before, 60);
}

/// E80: While an iterator is open and all keys die, at most the current key is left.
fn an_open_iterator_keeps_no_more_than_the_current_key<P: Kind>() {
    let keys = keys::<P>(10);
    let map: Map<P, _> = keys.iter().zip(0..).collect();
    let mut iter = map.iter();
    let current = iter.next().unwrap();
    drop(keys);
    assert_eq!(map.len_live(), 1);
    assert!(!P::NOTIFIES || map.len() == 1);
    assert!(iter.next().is_none());
    drop(current);
    assert_eq!(map.len_live(), 0);
}

/// E81: `len` is right after every change of a map that has one death outstanding.
fn len_is_right_through_every_change_with_a_death_outstanding<P: Kind>() {
    let changes: [(fn(&mut Map<P, usize>, &Key<P>, &Key<P>), usize); 8] = [
        (|map, _, other| _ = map.insert(other, 1), 4),
        (|map, key, _| _ = map.insert(key, 1), 3),
        (|map, key, _| _ = map.remove(key), 2),
        (|map, _, other| _ = map.remove(other), 3),
        (|map, _, _| drop(map.pop()), 2),
        (|map, _, _| map.retain(|key, _| **key == 1), 1),
        (|map, _, _| map.clear(), 0),
        (|map, _, _| drop(map.drain()), 0),
    ];
    for (change, len) in changes {
        let mut keys = keys::<P>(4);
        let mut map: Map<P, _> = keys.iter().zip(0..).collect();
        keys.pop();
        assert!(!P::NOTIFIES || (map.len(), map.pending_dead()) == (3, 1));
        change(&mut map, &keys[0], &new::<P, _>(9));
        let temporary = usize::from(len == 4); // the other key is dead by now
        assert_eq!(map.len_live(), len - temporary);
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (len - temporary, 0));
    }
}

/// E82: `is_empty` agrees with `len`: for own pointers also when all are dead and nothing was purged.
fn is_empty_agrees_with_len<P: Kind>() {
    let mut keys = keys::<P>(3);
    let mut map: Map<P, _> = keys.iter().zip(0..).collect();
    assert!(!map.is_empty());
    keys.clear();
    assert_eq!(map.is_empty(), P::NOTIFIES);
    assert_eq!(map.len_live(), 0);
    assert_eq!(map.len(), usize::from(!P::NOTIFIES) * 3);
    map.purge();
    assert!(map.is_empty());
}

/// E83: Shrinking destroys the dead first, and then gives back the room that they took.
fn shrinking_drops_the_dead_first<P: Kind>() {
    let counter = Counter::default();
    let mut keys = keys::<P>(200);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    assert!(map.capacity() >= 200);
    keys.truncate(10);
    map.shrink_to(50);
    assert_eq!((map.len(), counter.get()), (10, 190));
    assert!((50..200).contains(&map.capacity()));
    map.shrink_to_fit();
    assert!((10..50).contains(&map.capacity()));
    assert!(keys.iter().all(|key| map.contains_key(key)));
}
