//! A. Map basics, over all entries (items 14–23, 25).

use std::collections::BTreeMap;
use std::time::Instant;

use weakly::{Strong, WeakMap, WeakSet};

use crate::collections::*;
use crate::common::{
    Counter, Kind, Map, Set, downgrade, keys, new, panics, random::random, scaled, sized,
};
use crate::for_each_kind;

for_each_collection!(kit: clear_destroys_each_once);

for_each_changing!(
    kit: pop_returns_every_live_entry_once,
    pop_misses_none_where_most_places_are_empty,
    extend_takes_from_iterators_collections_and_itself,
    an_iterator_that_panics_half_way_loses_nothing,
    collections_are_equal_by_identity_or_content,
    a_copy_is_independent_and_keeps_nothing,
    the_same_in_and_out_a_million_times,
    a_union_loses_what_dies,
);

for_each_map!(
    kit: maps_are_equal_if_their_values_are,
    a_copy_has_the_same_values_and_changes_alone,
    many_in_and_all_out_again,
);

for_each_kind!(
    a_copy_clones_the_values_and_shares_the_keys,
    many_keys_in_many_maps,
);

/// A14: `pop` returns every live entry exactly once, then nothing.
fn pop_returns_every_live_entry_once(kit: Kit<dyn Changing>) {
    let counter = Counter::default();
    let mut lives = kit.lives(100);
    let mut all = kit.of(&lives, &counted(&counter));
    lives.retain(|life| **life % 3 != 0);
    let popped = sorted(std::iter::from_fn(|| all.pop()).map(|life| *life));
    assert!(popped.iter().eq(lives.iter().map(|life| &**life)));
    assert!(all.pop().is_none());
    assert_eq!(all.len_live(), 0);
    all.purge();
    assert_eq!(counter.get(), kit.owned(100));
}

/// A14: Also as a queue in a large collection, of which it remembers where there is nothing: whatever comes, goes, dies or moves
/// between two calls.
fn pop_misses_none_where_most_places_are_empty(kit: Kit<dyn Changing>) {
    let mut random = random(14);
    let mut choice = |n: usize| random.next().unwrap() % n;
    let mut all = kit.empty();
    let mut lives = BTreeMap::new();
    for number in 0..scaled(2_000, 100) {
        match choice(if number % 500 < 400 { 6 } else { 8 }) {
            0..3 => {
                let life = kit.life(number);
                all.enter(&life, &quietly());
                lives.insert(number, life);
            }
            3 => {
                let popped = all.pop().map(|life| *life);
                assert_eq!(popped.is_some(), !lives.is_empty());
                popped.map(|number| lives.remove(&number).unwrap());
            }
            4 => drop(lives.pop_first()),
            5 => _ = lives.pop_last().map(|(_, life)| all.leave(&life)),
            6 => all.reserve([14_000, 20_000][choice(2)]),
            _ if choice(30) == 0 => all.shrink_to_fit(),
            _ => {}
        }
        if number % 100 == 0 {
            while let Some(life) = all.pop() {
                lives.remove(&*life).unwrap();
            }
            assert!(lives.is_empty());
            all.reserve(20_000);
        }
    }
}

/// A14: Then it costs no pass over all places, of which an iterator makes a faster one.
#[test]
#[cfg(not(miri))]
fn pop_of_a_short_queue_passes_by_what_is_empty() {
    let keys: Vec<_> = (0..100).map(Strong::new).collect();
    let mut queue = WeakSet::with_capacity(300_000);
    let (mut pops, mut passes) = (Vec::new(), Vec::new());
    let time = |times: &mut Vec<_>, run: &mut dyn FnMut()| {
        let begin = Instant::now();
        run();
        times.push(begin.elapsed());
    };
    for key in &keys {
        queue.insert(key);
        time(&mut passes, &mut || assert_eq!(queue.len_live(), 1));
        time(&mut pops, &mut || {
            assert!(Strong::ptr_eq(&queue.pop().unwrap(), key));
        });
    }
    pops.sort();
    passes.sort();
    let (pop, pass) = (pops[50], passes[50]);
    assert!(pop * 4 < pass, "{pop:?} of {pass:?}");
}

/// A15: `clear` removes all entries, drops what they own once, and the collection can be filled again.
fn clear_destroys_each_once(kit: Kit) {
    let counter = Counter::default();
    let mut lives = kit.lives(10);
    let mut all = kit.of(&lives, &counted(&counter));
    lives.truncate(8);
    let capacity = all.capacity();
    all.clear();
    let left = (all.len(), all.pending_dead(), counter.get());
    assert_eq!(left, (0, 0, kit.owned(10)));
    assert_eq!(all.capacity() > 0, capacity > 0);
    assert!(!all.contains(&lives[0]));
    for life in &lives {
        assert_eq!(life.counts(), (1, 0), "it has no watches any more");
        all.enter(life, &counted(&counter));
    }
    assert_eq!(all.len(), 8);
    drop(all);
    assert_eq!(counter.get(), kit.owned(18));
}

/// A16: `extend` takes the items of an iterator, of another collection, and of a copy of itself.
fn extend_takes_from_iterators_collections_and_itself(kit: Kit<dyn Changing>) {
    let lives = kit.lives(6);
    let mut all = kit.of(&lives[..2], &quietly());
    all.extend_with(&mut [&lives[2], &lives[1]].into_iter(), &quietly());
    assert_eq!(all.numbers(), [0, 1, 2]);
    all.extend_from(kit.of(&lives[3..], &quietly()));
    assert_eq!(all.numbers(), [0, 1, 2, 3, 4, 5]);
    all.extend_from(all.clone());
    assert_eq!((all.numbers(), all.len()), (vec![0, 1, 2, 3, 4, 5], 6));
    assert!(lives.iter().all(|life| all.contains(life)));
}

/// A17: If the iterator panics midway, the items before that stay.
fn an_iterator_that_panics_half_way_loses_nothing(kit: Kit<dyn Changing>) {
    let lives = kit.lives(5);
    let mut all = kit.empty();
    assert!(panics(|| {
        let good = |n: usize| assert!(n < 3, "no more");
        all.extend_with(&mut lives.iter().inspect(|life| good(***life)), &quietly());
    }));
    assert_eq!(all.numbers(), [0, 1, 2]);
    all.enter(&lives[4], &quietly());
    assert_eq!(all.len(), 4);
}

/// A18: Collections are equal if they have the same live entries: by identity, or by content; the dead do not
/// count.
fn collections_are_equal_by_identity_or_content(kit: Kit<dyn Changing>) {
    let lives = kit.lives(3);
    let twins = kit.lives(3);
    let all = kit.of(&lives, &quietly());
    assert!(all == all.clone() && (all.is_lone() || all == kit.of(&lives, &quietly())));
    assert_eq!(
        all == kit.of(&twins, &quietly()),
        kit.by_content && !all.is_lone()
    );
    let mut less = all.clone();
    less.drop_out(&lives[2]);
    assert!(all != less && less != all);
    let mut more = all.clone();
    let life = kit.life(9);
    more.enter(&life, &quietly());
    assert!(all != more && more != all);
    drop(life);
    assert!(all == more && more == all, "the temporary one is dead");
}

/// A18: Maps are equal if, besides, equal keys have equal values.
fn maps_are_equal_if_their_values_are(kit: Kit<dyn Mapping>) {
    let keys = kit.lives(3);
    let [value, twin, other] = [7, 7, 8].map(|n| kit.life(n));
    let map = kit.map(keys.iter().map(|key| (key, &value)));
    assert!(map == kit.map(keys.iter().map(|key| (key, &twin))));
    assert!(map != kit.map(keys[..2].iter().map(|key| (key, &value))));
    let mut changed = map.clone();
    changed.insert(&keys[1], &other);
    assert!(map != changed && changed != map);
    changed.insert(&keys[1], &twin);
    assert!(map == changed && changed == map);
}

/// A19: A copy has the same live entries, is independent of the original, and keeps nothing alive.
fn a_copy_is_independent_and_keeps_nothing(kit: Kit<dyn Changing>) {
    let (mut all, mut lives) = kit.numbered(4);
    lives.remove(1);
    let mut copy = all.clone();
    assert_eq!((copy.numbers(), copy.len()), (vec![0, 2, 3], 3));
    assert_eq!(copy.pending_dead(), 0);
    copy.drop_out(&lives[0]);
    all.drop_out(&lives[2]);
    assert_eq!((copy.numbers(), all.numbers()), (vec![2, 3], vec![0, 2]));
    assert!(lives.iter().all(|life| life.counts().0 == 1));
    lives.remove(1);
    assert_eq!((copy.numbers(), all.numbers()), (vec![3], vec![0]));
}

/// A19: The values of a copy are the same, and change independently.
fn a_copy_has_the_same_values_and_changes_alone(kit: Kit<dyn Mapping>) {
    let [key, value, other] = [1, 10, 20].map(|n| kit.life(n));
    let map = kit.map([(&key, &value)]);
    let mut copy = map.clone();
    assert_eq!(copy.insert(&key, &other), Some(10));
    assert_eq!((map.get(&key), copy.get(&key)), (Some(10), Some(20)));
}

/// A20: A copy clones the values, and has the very same keys.
fn a_copy_clones_the_values_and_shares_the_keys<P: Kind>() {
    let key = new::<P, usize>(1);
    let mut map = Map::<P, _>::from([(&key, vec![1_usize])]);
    let copy = map.clone();
    map.get_mut(&key).unwrap().push(2);
    assert_eq!((&*map[&key], &*copy[&key]), (&[1, 2][..], &[1][..]));
}

/// A21: Many entries are inserted, and all are yielded again, each with its value.
fn many_in_and_all_out_again(kit: Kit<dyn Mapping>) {
    let keys = kit.lives(scaled(10_000, 40));
    let mut map = kit.map(keys.iter().zip(keys.iter().rev()));
    assert_eq!(map.len(), keys.len());
    for (key, value) in keys.iter().zip(keys.iter().rev()).rev() {
        assert_eq!(map.remove(key), Some(**value));
    }
    assert!(map.is_empty());
    assert!(keys.iter().all(|key| key.counts() == (1, 0)));
}

/// A22: The same entry is inserted and removed a million times: neither the table grows, nor the object's list
/// of watches.
fn the_same_in_and_out_a_million_times(kit: Kit<dyn Changing>) {
    let life = kit.life(1);
    let ends: Ends = quietly();
    let mut all = kit.of([&life], &ends);
    // Once, for the record that a weak handle beside an entry takes, which stays.
    assert!(all.drop_out(&life));
    all.enter(&life, &ends);
    let (capacity, bytes) = (all.capacity(), crate::heap::bytes());
    for _ in 0..scaled(often(kit), 50) {
        assert!(all.drop_out(&life));
        all.enter(&life, &ends);
    }
    assert!(all.capacity() <= capacity);
    assert_eq!(life.counts(), (1, all.watches()));
    assert_eq!(crate::heap::bytes(), bytes);
}

/// A23: The union of two collections loses its entries as their lives end.
fn a_union_loses_what_dies(kit: Kit<dyn Changing>) {
    let mut lives = kit.lives(5);
    let (a, b) = (
        kit.of(&lives[..3], &quietly()),
        kit.of(&lives[2..], &quietly()),
    );
    let mut union = a.clone();
    union.extend_from(b.clone());
    assert_eq!(union.len(), 5);
    lives.truncate(2);
    assert_eq!((union.numbers(), a.numbers()), (vec![0, 1], vec![0, 1]));
    union.purge();
    assert_eq!((union.len(), b.numbers().len()), (2, 0));
}

/// A25: Ten thousand keys in a thousand maps: removing an entry from each takes constant time. (That takes a
/// gigabyte and, without optimisation, half a minute; so a debug build has a tenth of the keys.)
fn many_keys_in_many_maps<P: Kind>() {
    let (maps, objects) = (scaled(1_000, 10), sized(10_000, 100, 20));
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
    maps.iter_mut().for_each(|map| _ = map.purge());
    assert!(maps.iter().all(|map| map.is_empty()));
}

/// A25: (One key in many maps, one of which is dropped, is the same question from the other side.)
#[test]
fn one_key_outlives_a_thousand_maps() {
    let key = weakly::Strong::new(1_usize);
    let mut maps: Vec<_> = (0..scaled(1_000, 50))
        .map(|n| WeakMap::from([(&key, n)]))
        .collect();
    while !maps.is_empty() {
        assert_eq!(weakly::Strong::weak_count(&key), maps.len());
        maps.swap_remove(maps.len() / 2);
    }
    assert_eq!(weakly::Strong::weak_count(&key), 0);
}
