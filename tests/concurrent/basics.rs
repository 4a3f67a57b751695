//! The shared collections on one thread.

use weakly::{Memo, Strong};

use crate::common::{place_of_panic, scaled};
use crate::faces::*;

for_each_collection!(
    kit: an_empty_collection_contains_nothing,
    a_capacity_that_no_memory_has_is_refused_at_the_caller,
    inserted_entries_are_found_and_no_others,
    inserting_again_changes_only_what_is_owned,
    a_table_of_dead_entries_is_purged,
    iteration_shows_each_once,
    clear_removes_all,
);

for_each_collection!(
    kit: dead_entries_are_not_found,
    one_of_several_handles_ends_nothing,
    operations_drain_notices,
    an_iterator_keeps_nothing_alive,
    an_object_that_outlives_its_collection_may_die,
    an_entry_owns_no_handle,
);

for_each_changing!(
    kit: a_removed_entry_is_not_found,
    conditional_removal,
    retain_calls_the_closure_for_each_live_entry,
    an_entry_that_is_removed_and_inserted_again_dies_once,
);

for_each_owning!(kit: a_replaced_value_is_dropped_at_once);

const MANY: usize = scaled(1_000, 40);

/// A1: An empty collection contains nothing, whatever its capacity.
fn an_empty_collection_contains_nothing(kit: Kit) {
    for capacity in [0, 1, 100] {
        let all = kit.with_capacity(capacity);
        let life = kit.life(1);
        assert_eq!(all.counts(), (0, 0, 0));
        assert!(all.is_empty() && !all.has(&life) && all.numbers().is_empty());
        all.purge();
        all.clear();
        assert!(all.is_empty());
    }
}

/// 432
fn a_capacity_that_no_memory_has_is_refused_at_the_caller(kit: Kit) {
    for many in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 16] {
        let (file, _) = place_of_panic(|| drop(kit.with_capacity(many)));
        assert!(file.contains("subject"), "{file}"); // the tests call each collection there
        let (file, line) = place_of_panic(|| drop(Memo::<Strong<u8>, u8>::with_capacity(many)));
        assert_eq!((&*file, line), (file!(), line!() - 1));
    }
}

/// A2, E76: An inserted entry is found by its own life, and counted.
fn inserted_entries_are_found_and_no_others(kit: Kit) {
    let lives = kit.lives(MANY);
    let all = kit.empty();
    for (n, life) in lives.iter().enumerate() {
        assert!(!all.has(life));
        assert!(all.enter(life, &quietly()));
        assert_eq!(all.len(), n + 1);
    }
    assert!(lives.iter().all(|life| all.has(life)));
    assert!(!all.has(&kit.life(MANY)));
    assert_eq!(all.counts(), (MANY, MANY, 0));
    assert!(!all.is_empty());
}

/// A3, G100: Inserting again adds no entry; what the new one owned is dropped.
fn inserting_again_changes_only_what_is_owned(kit: Kit) {
    let count = Count::default();
    let life = kit.life(1);
    let all = kit.of([&life], &count.ends());
    for n in 1..4 {
        assert!(!all.enter(&life, &count.ends()));
        assert_eq!((all.len(), count.get()), (1, kit.owned(n)));
    }
    assert!(all.has(&life));
}

/// C35, E78: Once the last handle is gone, an entry is not found, drained or not; nor does it count, where
/// deaths are notified.
fn dead_entries_are_not_found(kit: Kit) {
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &quietly());
    let ghosts = ghosts(lives.split_off(MANY / 2));
    let notified = kit.notified(MANY / 2);
    assert_eq!(all.counts(), (MANY - notified, MANY / 2, notified));
    for _drained in [false, true] {
        for (number, weak) in &ghosts {
            assert!(!all.finds(*number, weak));
        }
        assert!(lives.iter().all(|life| all.has(life)));
        assert_eq!(all.numbers(), (0..MANY / 2).collect::<Vec<_>>());
        all.purge();
        assert_eq!(all.counts(), (MANY / 2, MANY / 2, 0));
    }
}

/// C36
fn one_of_several_handles_ends_nothing(kit: Kit) {
    let life = kit.life(1);
    let all = kit.of([&life], &quietly());
    drop(life.clone());
    assert!(all.has(&life));
    assert_eq!(all.counts(), (1, 1, 0));
}

/// C40: `purge` drops what the dead own, once, and nothing else.
fn a_table_of_dead_entries_is_purged(kit: Kit) {
    let count = Count::default();
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &count.ends());
    for left in [MANY - 1, MANY / 3, 1, 0] {
        lives.truncate(left);
        all.purge();
        assert_eq!(count.get(), kit.owned(MANY - left));
        assert_eq!(all.counts(), (left, left, 0));
    }
}

/// D60, D61: An operation that changes the collection drains some notices; one that only reads drains none.
fn operations_drain_notices(kit: Kit) {
    if !kit.notifies {
        return arcs_are_swept_as_the_collection_grows(kit);
    }
    let count = Count::default();
    let mut lives = kit.lives(150);
    let others = lives.split_off(100);
    let all = kit.of(&lives, &count.ends());
    drop(lives);
    assert!(!all.has(&others[0]) && all.numbers().is_empty() && all.is_empty());
    assert_eq!((all.pending_dead(), count.get()), (100, 0));
    let mut left = 100;
    for other in &others {
        all.enter(other, &quietly());
        let now = all.pending_dead();
        assert!(now < left || left == 0, "some");
        assert!(now + 16 >= left, "and not too many");
        assert_eq!(count.get(), kit.owned(100 - now));
        left = now;
    }
    assert_eq!(all.counts(), (50, 50, 0));
}

/// C57: Without notices the dead are found by sweeps, each after as many new entries as there were.
fn arcs_are_swept_as_the_collection_grows(kit: Kit) {
    let count = Count::default();
    let all = kit.empty();
    for n in 0..MANY * 10 {
        all.enter(&kit.life(n), &count.ends());
        assert!(all.len() <= 64, "{}", all.len());
    }
    assert_eq!(count.get(), kit.owned(MANY * 10 - all.len()));
}

/// F84: Each live entry is shown once, whatever died before.
fn iteration_shows_each_once(kit: Kit) {
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &quietly());
    lives.retain(|life| **life % 3 == 0);
    let shown: Vec<_> = (0..MANY).filter(|n| n % 3 == 0).collect();
    assert_eq!(all.numbers(), shown);
    assert_eq!(all.numbers(), shown, "both show the same");
}

/// F87, F88: An entry that dies before its turn is skipped; one that is inserted later may be shown.
fn an_iterator_keeps_nothing_alive(kit: Kit) {
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &quietly());
    let mut iter = all.iter();
    let first = iter.next().expect("the first");
    lives.clear();
    assert_eq!(all.len_live(), 1, "the one that was given out");
    let late = kit.life(MANY);
    all.enter(&late, &quietly());
    assert_eq!(iter.count(), 0);
    assert!(all.has(&first) && all.has(&late));
}

/// A12: All entries go at once, the dead too.
fn clear_removes_all(kit: Kit) {
    let count = Count::default();
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    all.clear();
    assert_eq!(all.counts(), (0, 0, 0));
    assert_eq!(count.get(), kit.owned(MANY));
    assert!(lives.iter().all(|life| !all.has(life)));
    drop(lives);
    assert_eq!(all.counts(), (0, 0, 0), "no notice is delivered any more");
}

/// D67, D68: Objects outlive collections, and collections outlive notices.
fn an_object_that_outlives_its_collection_may_die(kit: Kit) {
    let count = Count::default();
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    drop(all);
    assert_eq!(count.get(), kit.owned(MANY));
    drop(lives);
    assert_eq!(count.get(), kit.owned(MANY));
}

/// C37: A collection keeps nothing of an object that its end does not free.
fn an_entry_owns_no_handle(kit: Kit) {
    let life = kit.life(1);
    let weak = Handle::downgrade(&life);
    let all = kit.of([&life], &quietly());
    drop(all.iter());
    drop(life);
    assert!(!weak.is_alive());
    assert_eq!(all.len_live(), 0);
}

/// A7, C43: A removed entry is gone; its death has no effect.
fn a_removed_entry_is_not_found(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let lives = kit.lives(4);
    let all = kit.of(&lives, &count.ends());
    assert!(all.leave(&lives[1]));
    assert_eq!(count.get(), kit.owned(1), "no thread reads");
    assert!(!all.leave(&lives[1]) && !all.has(&lives[1]));
    assert_eq!(all.numbers(), [0, 2, 3]);
    let absent = kit.life(9);
    assert!(!all.leave(&absent));
    drop(lives);
    assert_eq!(all.counts(), (3 - kit.notified(3), 0, kit.notified(3)));
    all.purge();
    assert_eq!(count.get(), kit.owned(4));
}

/// A8
fn conditional_removal(kit: Kit<dyn Changing>) {
    let lives = kit.lives(2);
    let all = kit.of(&lives[..1], &quietly());
    assert!(!all.leave_if(&lives[0], &mut || false));
    assert!(all.has(&lives[0]));
    assert!(!all.leave_if(&lives[1], &mut || panic!("there is nothing")));
    assert!(all.leave_if(&lives[0], &mut || true));
    assert!(all.is_empty());
}

/// F93: The closure is not called for the dead; what is removed is dropped.
fn retain_calls_the_closure_for_each_live_entry(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    let mut asked = Vec::new();
    all.retain(&mut |number| {
        asked.push(number);
        number % 2 == 0
    });
    asked.sort_unstable();
    assert_eq!(asked, (0..MANY / 2).collect::<Vec<_>>());
    all.purge();
    assert_eq!(all.counts(), (MANY / 4, MANY / 4, 0));
    assert_eq!(count.get(), kit.owned(MANY - MANY / 4));
    for life in &lives {
        assert_eq!(all.has(life), **life % 2 == 0);
    }
}

/// C44: Even though its first notice might arrive late.
fn an_entry_that_is_removed_and_inserted_again_dies_once(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let life = kit.life(1);
    let all = kit.of([&life], &count.ends());
    for n in 1..4 {
        assert!(all.leave(&life));
        assert!(all.enter(&life, &count.ends()));
        assert_eq!(count.get(), kit.owned(n));
    }
    drop(life);
    assert_eq!(all.len_live(), 0);
    assert_eq!(all.pending_dead(), kit.notified(1));
    all.purge();
    assert_eq!((all.counts(), count.get()), ((0, 0, 0), kit.owned(4)));
}

/// C41: While no other thread reads, a replaced value is dropped before the call returns.
fn a_replaced_value_is_dropped_at_once(kit: Kit<dyn Changing>) {
    let (old, new) = (Count::default(), Count::default());
    let life = kit.life(1);
    let all = kit.of([&life], &old.ends());
    assert!(!all.enter(&life, &new.ends()));
    assert_eq!((old.get(), new.get()), (1, 0));
    drop(life);
    all.purge();
    assert_eq!((old.get(), new.get()), (1, 1));
}
