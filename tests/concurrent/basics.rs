//! The shared collections on one thread.

use weakly::{Memo, Strong};

use crate::common::{place_of_panic, scaled};
use crate::faces::*;

for_each_collection!(
    kit: a_capacity_that_no_memory_has_is_refused_at_the_caller,
    operations_drain_notices,
    an_object_that_outlives_its_collection_may_die,
);

const MANY: usize = scaled(1_000, 40);

/// 432
fn a_capacity_that_no_memory_has_is_refused_at_the_caller(kit: Kit) {
    for many in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 16] {
        let (file, _) = place_of_panic(|| drop(kit.with_capacity(many)));
        assert!(file.contains("subject"), "{file}"); // the tests call each collection there
        let (file, line) = place_of_panic(|| drop(Memo::<Strong<u8>, u8>::with_capacity(many)));
        assert_eq!((&*file, line), (file!(), line!() - 1));
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
