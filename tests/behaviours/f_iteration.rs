//! F. Iteration (items 84–98).
//!
//! 89, 90, 91: an insert, a removal or a `clear` during iteration does not compile (see `src/compile_fail`); to
//! remove during iteration there are `retain` and `extract_if`, which show each entry once. No order is
//! promised.

use std::collections::BTreeSet;

use crate::collections::*;
use crate::common::{Counter, Kind, new};
use crate::{for_each_kind, heap};

for_each_collection!(
    kit: a_yielded_handle_is_strong,
    lives_not_yet_yielded_are_not_kept,
    lives_that_end_during_iteration_are_skipped,
    a_loop_may_drop_the_handle_it_was_given,
);

for_each_collection!(two_iterators_show_the_same);

for_each_changing!(
    kit: every_iterator_visits_every_live_entry_once,
    no_iterator_yields_the_dead,
    an_entry_removed_by_retain_is_not_shown_again,
    retain_may_end_other_lives,
    weak_iterators_upgrade_nothing,
    an_iterator_may_be_left_half_way,
    drain_yields_all_live_entries_and_empties_the_collection,
);

for_each_kind!(
    an_iterator_says_how_many_are_left_at_most,
    memory_of_the_dead_does_not_wait_for_the_iterator,
    the_iterators_of_maps_may_be_left_half_way_too,
);

/// The items of each of the iterators, in order.
fn every_view(all: Box<dyn Changing>) -> Vec<Vec<usize>> {
    let mut views = vec![
        all.numbers(),
        numbers(all.clone().extract_if(&mut |_| true)),
        numbers(all.clone().drain()),
        numbers(all.clone().into_iter()),
    ];
    views.extend(all.views());
    views
}

/// F84: Every iterator visits every live entry exactly once.
fn every_iterator_visits_every_live_entry_once(kit: Kit<dyn Changing>) {
    let (mut all, lives) = kit.numbered(50);
    let numbers: Vec<_> = (0..50).collect();
    assert!(
        all.look_to_change(&lives[7])
            .iter()
            .all(|view| *view == numbers || *view == [7])
    );
    for (n, view) in every_view(all).iter().enumerate() {
        assert_eq!(*view, numbers, "iterator {n}");
    }
}

/// F85: No iterator yields a dead entry, nor what it owned.
fn no_iterator_yields_the_dead(kit: Kit<dyn Changing>) {
    let (mut all, mut lives) = kit.numbered(50);
    lives.retain(|life| **life % 5 == 0);
    let live: Vec<_> = (0..50).step_by(5).collect();
    assert!(
        all.look_to_change(&lives[1])
            .iter()
            .all(|view| *view == live || *view == [5])
    );
    for (n, view) in every_view(all).iter().enumerate() {
        assert_eq!(*view, live, "iterator {n}");
    }
}

/// F86: A handle that an iterator has yielded is strong: it stays valid while the loop keeps it.
fn a_yielded_handle_is_strong(kit: Kit) {
    let (all, mut lives) = kit.numbered(5);
    for life in all.iter() {
        lives.retain(|other| **other != *life);
        assert_eq!(life.counts().0, 1);
        assert!(all.contains(&life));
    }
    assert_eq!((lives.len(), all.len_live()), (0, 0));
}

/// F87: An iterator keeps nothing alive that it has not yielded.
fn lives_not_yet_yielded_are_not_kept(kit: Kit) {
    let (all, lives) = kit.numbered(5);
    let weak: Vec<_> = lives.iter().map(Handle::downgrade).collect();
    let mut iter = all.iter();
    let first = iter.next();
    assert!(lives.iter().all(|life| life.counts().0 <= 2));
    drop(lives);
    assert_eq!(weak.iter().filter(|weak| weak.is_alive()).count(), 1);
    drop((first, iter));
    assert!(!weak.iter().any(WeakHandle::is_alive));
}

/// F88: An entry that dies after the iterator was made is skipped.
fn lives_that_end_during_iteration_are_skipped(kit: Kit) {
    let (all, mut lives) = kit.numbered(20);
    let (mut iter, mut seen) = (all.iter(), BTreeSet::new());
    for _ in 0..5 {
        seen.insert(*iter.next().unwrap());
    }
    lives.retain(|life| seen.contains(&**life) || **life % 2 == 0);
    let live: BTreeSet<_> = lives.iter().map(|life| **life).collect();
    seen.extend(iter.map(|life| *life));
    assert_eq!(seen, live);
}

/// F90: An entry that `retain` or `extract_if` has removed is not shown again.
fn an_entry_removed_by_retain_is_not_shown_again(kit: Kit<dyn Changing>) {
    let (mut all, _lives) = kit.numbered(30);
    let mut shown = Vec::new();
    all.retain(&mut |number| {
        shown.push(number);
        number % 3 != 0
    });
    assert_eq!(sorted(shown), (0..30).collect::<Vec<_>>());
    let taken = sorted(
        all.extract_if(&mut |number| number % 3 == 1)
            .map(|life| *life),
    );
    assert_eq!(taken, (1..30).step_by(3).collect::<Vec<_>>());
    assert_eq!(
        numbers(all.into_iter()),
        (2..30).step_by(3).collect::<Vec<_>>()
    );
}

/// F92: A loop may drop the handle it was given, even if it is the last.
fn a_loop_may_drop_the_handle_it_was_given(kit: Kit) {
    let (mut all, mut lives) = kit.numbered(10);
    let mut loops = 0;
    for life in all.iter() {
        lives.retain(|other| **other != *life);
        let dead = crate::collections::ghost(&life);
        drop(life);
        assert!(!dead.weak.is_alive());
        assert!(!dead.is_in(&all));
        loops += 1;
    }
    all.purge();
    assert_eq!((loops, all.len()), (10, 0));
}

/// F93: The predicate of `retain` may end other lives: what each owns is dropped once, and the dead are not
/// shown.
fn retain_may_end_other_lives(kit: Kit<dyn Changing>) {
    let counter = Counter::default();
    let mut lives = kit.lives(20);
    let mut all = kit.of(&lives, &counted(&counter));
    let mut shown = Vec::new();
    all.retain(&mut |number| {
        shown.push(number);
        let partner = number ^ 1;
        lives.retain(|other| **other != partner);
        partner % 4 == 0
    });
    assert_eq!(shown.len(), 10, "one of each pair");
    assert!(shown.iter().all(|n| !shown.contains(&(n ^ 1))));
    all.purge();
    let kept = shown.iter().filter(|n| (*n ^ 1) % 4 == 0).count();
    assert_eq!((all.len(), counter.get()), (kept, kit.owned(20 - kept)));
}

/// F94: Two iterators at once show the same items, and neither affects the other.
fn two_iterators_show_the_same<C: Single>() {
    let mut lives = new_lives::<C::Life>(20);
    let all = C::of(&lives, &quietly());
    lives.truncate(15);
    let (mut a, mut b) = (all.iter(), all.iter());
    let (first, copy) = (a.next().unwrap(), a.clone());
    assert_eq!(*first, *b.next().unwrap());
    let rest = sorted(a.map(|life| *life));
    assert_eq!(rest.len(), 14);
    assert_eq!(rest, sorted(b.map(|life| *life)));
    assert_eq!(rest, sorted(copy.map(|life| *life)));
}

/// F95: Weak sides can be iterated as weak handles: nothing is upgraded.
fn weak_iterators_upgrade_nothing(kit: Kit<dyn Changing>) {
    let (all, mut lives) = kit.numbered(10);
    let dead = lives.split_off(5);
    let mut weak = Vec::new();
    for handle in all.weak() {
        assert!(lives.iter().chain(&dead).all(|life| life.counts().0 == 1));
        weak.push(handle);
    }
    drop(dead);
    assert_eq!((weak.len(), all.weak().count()), (10, 5));
    assert_eq!(weak.iter().filter(|weak| weak.is_alive()).count(), 5);
}

/// F96: Every iterator may be dropped midway: the collection stays whole. A `drain` removes all entries.
fn an_iterator_may_be_left_half_way(kit: Kit<dyn Changing>) {
    let (mut all, lives) = kit.numbered(10);
    assert!(all.iter().nth(3).is_some());
    assert!(all.weak().nth(3).is_some());
    assert!(all.extract_if(&mut |_| true).nth(1).is_some());
    assert_eq!((all.len(), all.iter().count()), (8, 8));
    assert!(all.drain().nth(1).is_some());
    assert!(all.is_empty());
    let mut again = kit.of(&lives, &quietly());
    assert!(again.clone().into_iter().nth(1).is_some());
    drop(again.extract_if(&mut |_| true));
    again.purge();
    assert!(lives.iter().all(|life| again.contains(life)));
    drop(all);
    assert!(
        lives
            .iter()
            .all(|life| life.counts() == (1, again.watches()))
    );
}

/// F96: The iterators that only maps have: entries that `iter_mut` and `drain_dead` have not reached stay.
fn the_iterators_of_maps_may_be_left_half_way_too<P: Kind>() {
    let mut keys: Vec<_> = (0..10).map(|n| new::<P, usize>(n)).collect();
    let mut map: weakly::WeakMap<_, usize> = keys.iter().zip(0_usize..).collect();
    assert!(map.iter_mut().nth(3).is_some());
    assert!(map.drain_dead().next().is_none());
    assert_eq!((map.len(), map.iter().count()), (10, 10));
    keys.truncate(6);
    assert!(map.drain_dead().nth(1).is_some_and(|value| value >= 6));
    assert_eq!((map.len_live(), map.drain_dead().count()), (6, 2));
    assert!(keys.iter().all(|key| map.contains_key(key)));
    assert!(keys.iter().all(|key| P::counts(key) == (1, 1)));
}

/// F84, F85: The dead count among those that may be left.
fn an_iterator_says_how_many_are_left_at_most<P: Kind>() {
    fn check(mut iter: impl Iterator) {
        assert_eq!(iter.size_hint(), (0, Some(10)));
        for left in (0..6).rev() {
            assert!(iter.next().is_some());
            let (least, most) = iter.size_hint();
            assert!(least == 0 && most.is_some_and(|most| (left..=left + 4).contains(&most)));
        }
        assert!(iter.next().is_none());
    }
    let mut keys: Vec<_> = (0..10).map(|n| new::<P, usize>(n)).collect();
    let mut maps =
        [(); 4].map(|()| -> weakly::WeakMap<_, _> { keys.iter().zip(0_usize..10).collect() });
    keys.truncate(6);
    let [map, ..] = &maps;
    check(map.iter());
    check(map.keys());
    check(map.values());
    check(map.iter_weak());
    check(maps[0].iter_mut());
    check(maps[0].drain());
    let [_, entries, keys, values] = maps;
    check(entries.into_iter());
    check(keys.into_keys());
    check(values.into_values());
}

/// F97: The memory of objects that die while an iterator is open: this crate's own is freed at once (the
/// standard library's with the entry), the values after the iterator.
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

/// F98: `drain` yields all live entries, drops what the dead own, and the collection is empty at once.
fn drain_yields_all_live_entries_and_empties_the_collection(kit: Kit<dyn Changing>) {
    let counter = Counter::default();
    let mut lives = kit.lives(10);
    let mut all = kit.of(&lives, &counted(&counter));
    lives.truncate(7);
    let drained = numbers(all.drain());
    assert_eq!(drained, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!((all.len(), all.pending_dead()), (0, 0));
    // What the live entries owned was dropped with the yielded items.
    assert_eq!(counter.get(), kit.owned(10));
    all.extend_with(&mut lives.iter(), &counted(&counter));
    assert_eq!((counter.get(), all.len()), (kit.owned(10), 7));
    assert!(lives.iter().all(|life| all.contains(life)));
}
