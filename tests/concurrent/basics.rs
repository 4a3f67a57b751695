//! What the shared collections do on one thread.

use crate::common::scaled;
use crate::faces::*;
use crate::{for_each_changing, for_each_collection, for_each_owning};
use weakly::StrongRef;

for_each_collection!(
    an_empty_one_has_nothing,
    what_is_entered_is_there_and_only_that,
    entering_again_changes_nothing_but_what_is_owned,
    dead_entries_are_not_found,
    one_of_several_handles_ends_nothing,
    a_table_of_dead_entries_is_purged,
    operations_work_off_notices,
    iteration_shows_each_once,
    an_iterator_keeps_nobody_alive,
    clear_removes_all,
    what_outlives_its_collection_dies_quietly,
    an_entry_holds_no_handle,
);

for_each_changing!(
    a_removed_entry_is_not_there,
    removal_on_condition,
    retain_asks_about_each_that_lives,
    an_entry_that_is_taken_out_and_put_in_again_dies_once,
);

for_each_owning!(what_is_replaced_is_destroyed_at_once);

const MANY: usize = scaled(1_000, 40);

/// A1: Nothing is in an empty one, whatever room it has.
fn an_empty_one_has_nothing<C: Collection>() {
    for capacity in [0, 1, 100] {
        let all = C::with_capacity(capacity);
        let life = Life::<C::Kind>::from(1);
        assert_eq!(all.counts(), (0, 0, 0));
        assert!(all.is_empty() && !all.has(&life) && all.numbers().is_empty());
        all.purge();
        all.clear();
        assert!(all.is_empty());
    }
}

/// A2, E76: What is entered is found, by its own life, and counted.
fn what_is_entered_is_there_and_only_that<C: Collection>() {
    let lives = lives::<C::Kind>(MANY);
    let all = C::default();
    for (n, life) in lives.iter().enumerate() {
        assert!(!all.has(life));
        assert!(all.enter(life, &quietly()));
        assert_eq!(all.len(), n + 1);
    }
    assert!(lives.iter().all(|life| all.has(life)));
    assert!(!all.has(&MANY.into()));
    assert_eq!(all.counts(), (MANY, MANY, 0));
    assert!(!all.is_empty());
}

/// A3, G100: Once more is not twice; what was owned of it is destroyed.
fn entering_again_changes_nothing_but_what_is_owned<C: Collection>() {
    let count = Count::default();
    let life = Life::<C::Kind>::from(1);
    let all = C::of([&life], &count.ends());
    for n in 1..4 {
        assert!(!all.enter(&life, &count.ends()));
        assert_eq!((all.len(), count.get()), (1, C::owned(n)));
    }
    assert!(all.has(&life));
}

/// C35, E78: From the last handle's end on an entry is not found, drained or not; nor does it count, where
/// deaths are announced.
fn dead_entries_are_not_found<C: Collection>() {
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &quietly());
    let ghosts = ghosts::<C::Kind>(lives.split_off(MANY / 2));
    let announced = C::announced(MANY / 2);
    assert_eq!(all.counts(), (MANY - announced, MANY / 2, announced));
    for _drained in [false, true] {
        for (number, weak) in &ghosts {
            assert!(!all.has_dead(*number, weak));
        }
        assert!(lives.iter().all(|life| all.has(life)));
        assert_eq!(all.numbers(), (0..MANY / 2).collect::<Vec<_>>());
        all.purge();
        assert_eq!(all.counts(), (MANY / 2, MANY / 2, 0));
    }
}

/// C36
fn one_of_several_handles_ends_nothing<C: Collection>() {
    let life = Life::<C::Kind>::from(1);
    let all = C::of([&life], &quietly());
    drop(life.clone());
    assert!(all.has(&life));
    assert_eq!(all.counts(), (1, 1, 0));
}

/// C40: `purge` destroys all that the dead leave, once, and nothing else.
fn a_table_of_dead_entries_is_purged<C: Collection>() {
    let count = Count::default();
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &count.ends());
    for left in [MANY - 1, MANY / 3, 1, 0] {
        lives.truncate(left);
        all.purge();
        assert_eq!(count.get(), C::owned(MANY - left));
        assert_eq!(all.counts(), (left, left, 0));
    }
}

/// D60, D61: An operation that changes the collection works off notices, some at a time; one that looks at
/// it works off none.
fn operations_work_off_notices<C: Collection>() {
    if !C::NOTIFIES {
        return arcs_are_swept_as_the_collection_grows::<C>();
    }
    let count = Count::default();
    let mut lives = lives::<C::Kind>(150);
    let others = lives.split_off(100);
    let all = C::of(&lives, &count.ends());
    drop(lives);
    assert!(!all.has(&others[0]) && all.numbers().is_empty() && all.is_empty());
    assert_eq!((all.pending_dead(), count.get()), (100, 0));
    let mut left = 100;
    for other in &others {
        all.enter(other, &quietly());
        let now = all.pending_dead();
        assert!(now < left || left == 0, "some");
        assert!(now + 16 >= left, "and not too many");
        assert_eq!(count.get(), C::owned(100 - now));
        left = now;
    }
    assert_eq!(all.counts(), (50, 50, 0));
}

/// C57: What is not announced is found by sweeps, each when there are as many new entries as there were.
fn arcs_are_swept_as_the_collection_grows<C: Collection>() {
    let count = Count::default();
    let all = C::default();
    for n in 0..MANY * 10 {
        all.enter(&n.into(), &count.ends());
        assert!(all.len() <= 64, "{}", all.len());
    }
    assert_eq!(count.get(), C::owned(MANY * 10 - all.len()));
}

/// F84: Each live entry is shown once, whatever died before.
fn iteration_shows_each_once<C: Collection>() {
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &quietly());
    lives.retain(|life| **life % 3 == 0);
    let shown: Vec<_> = (0..MANY).filter(|n| n % 3 == 0).collect();
    assert_eq!(all.numbers(), shown);
    assert_eq!(all.numbers(), shown, "two show the same");
}

/// F87, F88: What dies before its turn is left out; what is entered later may be.
fn an_iterator_keeps_nobody_alive<C: Collection>() {
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &quietly());
    let mut iter = all.iter();
    let first = iter.next().expect("the first");
    lives.clear();
    assert_eq!(all.len_live(), 1, "the one that was given out");
    let late = Life::<C::Kind>::from(MANY);
    all.enter(&late, &quietly());
    assert_eq!(iter.count(), 0);
    assert!(all.has(&first) && all.has(&late));
}

/// A12: All go at once, the dead too.
fn clear_removes_all<C: Collection>() {
    let count = Count::default();
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    all.clear();
    assert_eq!(all.counts(), (0, 0, 0));
    assert_eq!(count.get(), C::owned(MANY));
    assert!(lives.iter().all(|life| !all.has(life)));
    drop(lives);
    assert_eq!(all.counts(), (0, 0, 0), "nobody is told any more");
}

/// D67, D68: Objects outlive collections, and collections notices.
fn what_outlives_its_collection_dies_quietly<C: Collection>() {
    let count = Count::default();
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    drop(all);
    assert_eq!(count.get(), C::owned(MANY));
    drop(lives);
    assert_eq!(count.get(), C::owned(MANY));
}

/// B37: A collection has nothing of an object but what the object's end takes away.
fn an_entry_holds_no_handle<C: Collection>() {
    let life = Life::<C::Kind>::from(1);
    let weak = Life::<C::Kind>::downgrade(&life);
    let all = C::of([&life], &quietly());
    drop(all.iter());
    drop(life);
    assert!(weakly::WeakRef::upgrade(&weak).is_none());
    assert_eq!(all.len_live(), 0);
}

/// A7, C43: What was removed is gone; its death is nobody's business.
fn a_removed_entry_is_not_there<C: Changing>() {
    let count = Count::default();
    let lives = lives::<C::Kind>(4);
    let all = C::of(&lives, &count.ends());
    assert!(all.leave(&lives[1]));
    assert_eq!(count.get(), C::owned(1), "nobody is looking");
    assert!(!all.leave(&lives[1]) && !all.has(&lives[1]));
    assert_eq!(all.numbers(), [0, 2, 3]);
    let stranger = Life::<C::Kind>::from(9);
    assert!(!all.leave(&stranger));
    drop(lives);
    assert_eq!(all.counts(), (3 - C::announced(3), 0, C::announced(3)));
    all.purge();
    assert_eq!(count.get(), C::owned(4));
}

/// A8
fn removal_on_condition<C: Changing>() {
    let lives = lives::<C::Kind>(2);
    let all = C::of(&lives[..1], &quietly());
    assert!(!all.leave_if(&lives[0], || false));
    assert!(all.has(&lives[0]));
    assert!(!all.leave_if(&lives[1], || panic!("there is nothing")));
    assert!(all.leave_if(&lives[0], || true));
    assert!(all.is_empty());
}

/// F93: The dead are not asked about; what goes is destroyed.
fn retain_asks_about_each_that_lives<C: Changing>() {
    let count = Count::default();
    let mut lives = lives::<C::Kind>(MANY);
    let all = C::of(&lives, &count.ends());
    lives.truncate(MANY / 2);
    let mut asked = Vec::new();
    all.retain(|number| {
        asked.push(number);
        number % 2 == 0
    });
    asked.sort_unstable();
    assert_eq!(asked, (0..MANY / 2).collect::<Vec<_>>());
    all.purge();
    assert_eq!(all.counts(), (MANY / 4, MANY / 4, 0));
    assert_eq!(count.get(), C::owned(MANY - MANY / 4));
    for life in &lives {
        assert_eq!(all.has(life), **life % 2 == 0);
    }
}

/// C44: Also when its first notice would come late.
fn an_entry_that_is_taken_out_and_put_in_again_dies_once<C: Changing>() {
    let count = Count::default();
    let life = Life::<C::Kind>::from(1);
    let all = C::of([&life], &count.ends());
    for n in 1..4 {
        assert!(all.leave(&life));
        assert!(all.enter(&life, &count.ends()));
        assert_eq!(count.get(), C::owned(n));
    }
    drop(life);
    assert_eq!(all.len_live(), 0);
    assert_eq!(all.pending_dead(), C::announced(1));
    all.purge();
    assert_eq!((all.counts(), count.get()), ((0, 0, 0), C::owned(4)));
}

/// C41: As nobody is looking, what is replaced goes before the call returns.
fn what_is_replaced_is_destroyed_at_once<C: Changing>() {
    let (old, new) = (Count::default(), Count::default());
    let life = Life::<C::Kind>::from(1);
    let all = C::of([&life], &old.ends());
    assert!(!all.enter(&life, &new.ends()));
    assert_eq!((old.get(), new.get()), (1, 0));
    drop(life);
    all.purge();
    assert_eq!((old.get(), new.get()), (1, 1));
}
