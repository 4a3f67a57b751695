//! A. Map basics, over all entries (items 14–23, 25).

use std::collections::BTreeMap;
use std::time::Instant;

use weakly::{Strong, WeakSet};

use crate::collections::*;
use crate::common::{Kind, Set, downgrade, keys, panics, random::random, scaled, sized};
use crate::for_each_kind;

for_each_changing!(
    kit: pop_misses_none_where_most_places_are_empty,
    an_iterator_that_panics_half_way_loses_nothing,
    the_same_in_and_out_a_million_times,
);

for_each_kind!(many_keys_in_many_maps);

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
