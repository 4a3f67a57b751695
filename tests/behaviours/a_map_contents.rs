//! A. Map basics, of all the entries at once (items 14–23, 25).

use weakly::WeakMap;

use crate::common::{Counter, Key, Kind, Map, Set, downgrade, keys, new, panics, scaled};
use crate::for_each_kind;

for_each_kind!(
    pop_returns_every_live_pair_once,
    clear_destroys_each_value_once,
    extend_takes_from_iterators_maps_and_itself,
    an_iterator_that_panics_half_way_loses_nothing,
    maps_are_equal_by_identity_of_keys,
    a_copy_is_independent_and_keeps_no_key,
    a_copy_clones_the_values_and_shares_the_keys,
    many_in_and_all_out_again,
    the_same_key_in_and_out_a_million_times,
    a_union_loses_what_dies,
    many_keys_in_many_maps,
);

/// The payloads of the keys and the values, in order.
fn pairs<P: Kind>(map: &Map<P, usize>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<_> = map.iter().map(|(key, value)| (*key, *value)).collect();
    pairs.sort_unstable();
    pairs
}

fn squares<P: Kind>(keys: &[Key<P>]) -> Map<P, usize> {
    keys.iter().map(|key| (key, **key * **key)).collect()
}

/// A14: `pop` returns every live pair exactly once, then nothing.
fn pop_returns_every_live_pair_once<P: Kind>() {
    let mut keys = keys::<P>(100);
    let mut map = squares::<P>(&keys);
    keys.retain(|key| **key % 3 != 0);
    let mut popped = Vec::new();
    while let Some((key, value)) = map.pop() {
        assert_eq!(value, *key * *key);
        popped.push(*key);
    }
    popped.sort_unstable();
    assert!(popped.iter().eq(keys.iter().map(|key| &**key)));
    assert!(map.pop().is_none());
    assert_eq!(map.len_live(), 0);
}

/// A15: `clear` empties the map, destroys each value once, and the map can be filled again.
fn clear_destroys_each_value_once<P: Kind>() {
    let counter = Counter::default();
    let mut keys = keys::<P>(10);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    keys.truncate(8);
    map.clear();
    assert_eq!((map.len(), map.pending_dead(), counter.get()), (0, 0, 10));
    assert!(!map.contains_key(&keys[0]));
    map.extend(keys.iter().map(|key| (key, counter.witness())));
    assert_eq!(map.len(), 8);
    drop(map);
    assert_eq!(counter.get(), 18);
}

/// A16: `extend` takes pairs of an iterator, of another weak map, and of a copy of the map itself.
fn extend_takes_from_iterators_maps_and_itself<P: Kind>() {
    let keys = keys::<P>(6);
    let mut map = squares::<P>(&keys[..2]);
    map.extend([(&keys[2], 4), (&keys[1], 100)]);
    map.extend([(keys[3].clone(), 9)]);
    map.extend(squares::<P>(&keys[4..]));
    let all = [(0, 0), (1, 100), (2, 4), (3, 9), (4, 16), (5, 25)];
    assert_eq!(pairs::<P>(&map), all);
    map.extend(map.clone());
    assert_eq!(pairs::<P>(&map), all);
}

/// A17: If the iterator panics half-way, what it gave before stays.
fn an_iterator_that_panics_half_way_loses_nothing<P: Kind>() {
    let keys = keys::<P>(5);
    let mut map = Map::<P, usize>::new();
    assert!(panics(|| {
        map.extend(keys.iter().map(|key| {
            assert!(**key < 3, "no more");
            (key, 7)
        }));
    }));
    assert_eq!(pairs::<P>(&map), [(0, 7), (1, 7), (2, 7)]);
    map.insert(&keys[4], 8);
    assert_eq!(map.len(), 4);
}

/// A18: Maps are equal if the same keys, by identity, have equal values; the dead do not matter.
fn maps_are_equal_by_identity_of_keys<P: Kind>() {
    let keys = keys::<P>(3);
    let twins = self::keys::<P>(3);
    let map = squares::<P>(&keys);
    assert!(map == squares::<P>(&keys));
    assert!(map != squares::<P>(&twins), "equal values, other objects");
    assert!(map != squares::<P>(&keys[..2]));
    assert!(squares::<P>(&keys[..2]) != map);
    let mut changed = map.clone();
    changed.insert(&keys[0], 1);
    assert!(map != changed);
    let mut more = map.clone();
    more.insert(&new::<P, _>(9), 9);
    assert!(map == more, "the temporary key is dead");
    assert!(more == map);
}

/// A19: A copy has the same live entries, goes its own way, and keeps no key alive.
fn a_copy_is_independent_and_keeps_no_key<P: Kind>() {
    let mut keys = keys::<P>(4);
    let mut map = squares::<P>(&keys);
    keys.remove(1);
    let mut copy = map.clone();
    assert_eq!(pairs::<P>(&copy), [(0, 0), (2, 4), (3, 9)]);
    assert_eq!(copy.len(), 3);
    copy.remove(&keys[0]);
    map.insert(&keys[1], 5);
    assert_eq!(pairs::<P>(&copy), [(2, 4), (3, 9)]);
    assert_eq!(pairs::<P>(&map), [(0, 0), (2, 5), (3, 9)]);
    assert_eq!(P::counts(&keys[2]).0, 1);
    keys.pop();
    assert_eq!(pairs::<P>(&copy), [(2, 4)]);
    assert_eq!(pairs::<P>(&map), [(0, 0), (2, 5)]);
}

/// A20: A copy clones the values, and has the very same keys.
fn a_copy_clones_the_values_and_shares_the_keys<P: Kind>() {
    let key = new::<P, _>(1);
    let mut map = Map::<P, _>::from([(&key, vec![1])]);
    let copy = map.clone();
    map.get_mut(&key).unwrap().push(2);
    assert_eq!((&*map[&key], &*copy[&key]), (&[1, 2][..], &[1][..]));
}

/// A21: Many go in, and all come out again, each with its value.
fn many_in_and_all_out_again<P: Kind>() {
    let keys = keys::<P>(scaled(10_000, 40));
    let mut map = squares::<P>(&keys);
    assert_eq!(map.len(), keys.len());
    for key in keys.iter().rev() {
        assert_eq!(map.remove(key), Some(**key * **key));
    }
    assert!(map.is_empty());
    assert!(keys.iter().all(|key| P::counts(key) == (1, 0)));
}

/// A22: The same key goes in and out a million times: the table does not grow, nor does the object's
/// list of watchers.
fn the_same_key_in_and_out_a_million_times<P: Kind>() {
    let key = new::<P, _>(1);
    let mut map = Map::<P, _>::new();
    map.insert(&key, 0);
    let (capacity, bytes) = (map.capacity(), crate::heap::bytes());
    for n in 0..scaled(1_000_000, 50) {
        assert_eq!(map.remove(&key), Some(n));
        map.insert(&key, n + 1);
    }
    assert!(map.capacity() <= capacity);
    assert_eq!(P::counts(&key), (1, 1));
    assert_eq!(crate::heap::bytes(), bytes);
}

/// A23: The union of two maps loses its entries as their keys die.
fn a_union_loses_what_dies<P: Kind>() {
    let mut keys = keys::<P>(5);
    let (a, b) = (squares::<P>(&keys[..3]), squares::<P>(&keys[2..]));
    let mut union = a.clone();
    union.extend(b.iter().map(|(key, value)| (key, *value)));
    assert_eq!(union.len(), 5);
    keys.truncate(2);
    assert_eq!(pairs::<P>(&union), [(0, 0), (1, 1)]);
    union.purge();
    assert_eq!((union.len(), pairs::<P>(&b).len()), (2, 0));
}

/// A25: Ten thousand keys in a thousand maps: an entry goes from each in constant time. (That takes a
/// gigabyte and, without optimisation, half a minute; so a debug build has a tenth of the keys.)
fn many_keys_in_many_maps<P: Kind>() {
    let objects = if cfg!(debug_assertions) {
        1_000
    } else {
        10_000
    };
    let (maps, objects) = (scaled(1_000, 10), scaled(objects, 20));
    let mut keys = keys::<P>(objects);
    let mut maps: Vec<Set<P>> = (0..maps).map(|_| keys.iter().collect()).collect();
    assert!(maps.iter().all(|map| map.len() == objects));
    assert_eq!(P::counts(&keys[0]), (1, maps.len()));

    let removed = keys[0].clone();
    assert!(maps.iter_mut().all(|map| map.remove(&removed)));
    assert_eq!(P::counts(&removed), (2, 0));

    let dead = downgrade(&keys[1]);
    keys.truncate(1);
    assert!(maps.iter().all(|map| !map.contains(&dead)));
    maps.iter_mut().for_each(Set::<P>::purge);
    assert!(maps.iter().all(|map| map.is_empty()));
}

/// A25: (One key in many maps, and a map dropped among them, is the same question from the other side.)
#[test]
fn one_key_outlives_a_thousand_maps() {
    let key = weakly::Strong::new(1);
    let mut maps: Vec<_> = (0..scaled(1_000, 50))
        .map(|n| WeakMap::from([(&key, n)]))
        .collect();
    while !maps.is_empty() {
        assert_eq!(weakly::Strong::weak_count(&key), maps.len());
        maps.swap_remove(maps.len() / 2);
    }
    assert_eq!(weakly::Strong::weak_count(&key), 0);
}
