//! F. Iteration (items 84–98). The model states those that no test here names.
//!
//! 89, 90, 91: an insert, a removal or a `clear` during iteration does not compile (see `src/compile_fail`); to
//! remove during iteration there are `retain` and `extract_if`, which show each entry once. No order is
//! promised.

use weakly::Strong;

use crate::collections::*;
use crate::common::{Counter, Kind, new};
use crate::{for_each_kind, heap};

for_each_collection!(
    kit: lives_not_yet_yielded_are_not_kept,
    a_loop_may_drop_the_handle_it_was_given,
    two_iterators_show_the_same,
);

for_each_changing!(
    kit: retain_may_end_other_lives,
    weak_iterators_upgrade_nothing,
    an_iterator_may_be_left_half_way,
);

for_each_kind!(memory_of_the_dead_does_not_wait_for_the_iterator);

/// E80, F87: An iterator keeps nothing alive that it has not yielded, and nothing else counts.
fn lives_not_yet_yielded_are_not_kept(kit: Kit) {
    let (all, lives) = kit.numbered(5);
    let weak: Vec<_> = lives.iter().map(Handle::downgrade).collect();
    let mut iter = all.iter();
    let first = iter.next();
    assert!(lives.iter().all(|life| life.counts().0 <= 2));
    drop(lives);
    assert_eq!(weak.iter().filter(|weak| weak.is_alive()).count(), 1);
    assert_eq!((all.len_live(), all.len()), (1, 5 - kit.notified(4)));
    drop((first, iter));
    assert!(!weak.iter().any(WeakHandle::is_alive));
}

/// F86, F92: A loop may drop the handle it was given, even if it is the last.
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
fn two_iterators_show_the_same(kit: Kit) {
    let (all, mut lives) = kit.numbered(20);
    lives.truncate(15);
    let (mut one, mut other) = (all.iter(), all.iter());
    assert_eq!(*one.next().unwrap(), *other.next().unwrap());
    let rest = sorted(one.map(|life| *life));
    assert_eq!(rest.len(), 14);
    assert_eq!(rest, sorted(other.map(|life| *life)));
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
    let taken = kit.of(&lives, &quietly()).into_iter().nth(1);
    let mut again = kit.of(&lives, &quietly());
    assert!(taken.is_some());
    drop(again.extract_if(&mut |_| true));
    again.purge();
    assert!(lives.iter().all(|life| again.contains(life)));
    drop((all, taken));
    assert!(
        lives
            .iter()
            .all(|life| life.counts() == (1, again.watches()))
    );
}

/// F84, F85: The dead count among those that may be left.
#[test]
fn an_iterator_says_how_many_are_left_at_most() {
    fn check(mut iter: impl Iterator) {
        assert_eq!(iter.size_hint(), (0, Some(10)));
        for left in (0..6).rev() {
            assert!(iter.next().is_some());
            let (least, most) = iter.size_hint();
            assert!(least == 0 && most.is_some_and(|most| (left..=left + 4).contains(&most)));
        }
        assert!(iter.next().is_none());
    }
    let mut keys: Vec<_> = (0..10).map(Strong::new).collect();
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
