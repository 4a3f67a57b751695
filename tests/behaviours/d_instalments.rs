//! Purges in instalments.

use std::cell::Cell;
use std::rc::Rc;

use weakly::Reclaim::{OnRequest, OnUse};
use weakly::WeakSet;

use crate::collections::*;
use crate::common::{Counter, panics, quiet_panic, scaled};

const MANY: usize = scaled(1_000, 50);

/// A collection with this many dead entries and as many live ones, whose lives are returned.
fn half_dead<C: Single>(ends: &Ends) -> (C, Vec<C::Life>) {
    let mut lives = new_lives::<C::Life>(2 * MANY);
    let all = C::of(&lives, ends);
    lives.truncate(MANY);
    (all, lives)
}

/// 61, 202: Each takes its share, until nothing is left; what lives stays.
fn each_takes_its_share<C: Single>() {
    for reclaim in [OnUse, OnRequest] {
        let (mut all, lives) = half_dead::<C>(&quietly());
        all.set_reclaim(reclaim);
        let before = all.counts();
        assert_eq!((all.purge_some(0), all.counts()), (0, before));
        let mut left = MANY;
        // Where deaths are not notified, an instalment may find none on its way.
        while left != 0 {
            let purged = all.purge_some(7);
            assert!(purged <= 7);
            left -= purged;
            if C::NOTIFIES {
                assert_eq!(purged, 7.min(left + purged));
                assert_eq!(all.counts(), (MANY, MANY, left));
            }
            assert_eq!((all.len_live(), all.reclaim()), (MANY, reclaim));
        }
        assert_eq!(all.counts(), (MANY, MANY, 0));
        assert_eq!((all.purge_some(7), all.purge_some(usize::MAX)), (0, 0));
        assert!(lives.iter().all(|life| all.has(life)));
    }
}

/// 202: One without a bound takes all, in one pass over the table if it is swept.
fn one_may_take_all<C: Single>() {
    let (mut all, _lives) = half_dead::<C>(&quietly());
    assert_eq!(all.purge_some(usize::MAX), MANY);
    assert_eq!(all.counts(), (MANY, MANY, 0));
    let mut empty = C::default();
    assert_eq!((empty.purge_some(1), empty.capacity()), (0, 0));
}

/// 39, 185, 202: What it returns is how many it has destroyed, of those that are dead and those that are kept.
fn it_destroys_what_it_counts<C: Owning>() {
    for reclaim in [OnUse, OnRequest] {
        let counter = Counter::default();
        let (mut all, _lives) = half_dead::<C>(&counted(&counter));
        all.set_reclaim(reclaim);
        // Takes some out.
        all.leave(&C::Life::from(2 * MANY));
        let mut gone = counter.get();
        while gone < MANY {
            gone += all.purge_some(30);
            assert_eq!(counter.get(), gone);
        }
        assert_eq!((gone, all.purge_some(1)), (MANY, 0));
    }
}

/// 53, 202: What dies of an instalment belongs to it, if there is room, or to the next.
fn a_chain_goes_by_instalments<C: Owning>() {
    let counter = Counter::default();
    let (mut all, head) = chain::<C>(MANY, &counted(&counter));
    drop(head);
    let mut gone = 0;
    while gone < MANY {
        let purged = all.purge_some(30);
        gone += purged;
        assert_eq!(counter.get(), gone);
        assert!(purged == 30.min(MANY + purged - gone) || !C::NOTIFIES);
    }
    assert_eq!((all.counts(), all.purge_some(30)), ((0, 0, 0), 0));
}

/// 65, 202: A destructor that panics ends the instalment; the next goes on with the rest.
fn a_destructor_may_panic<C: Owning>() {
    for reclaim in [OnUse, OnRequest] {
        let counter = Counter::default();
        let (fuse, ends) = (Rc::new(Cell::new(true)), counted(&counter));
        let bomb: Ends = Rc::new(move |number| {
            ends(number);
            if fuse.take() {
                quiet_panic();
            }
        });
        let (mut all, lives) = half_dead::<C>(&bomb);
        all.set_reclaim(reclaim);
        assert!(panics(|| while all.purge_some(30) == 0 {}));
        assert_eq!(counter.get(), 1);
        while counter.get() < MANY {
            all.purge_some(30);
        }
        assert_eq!(all.counts(), (MANY, MANY, 0));
        drop(lives);
    }
}

for_each_collection!(each_takes_its_share, one_may_take_all);

for_each_owning!(
    it_destroys_what_it_counts,
    a_chain_goes_by_instalments,
    a_destructor_may_panic,
);

/// 61, 187: Of handles that do not notify, it looks at a bounded part of the table, and the next at the next part.
#[test]
fn each_sweeps_a_part() {
    let lives: Vec<Rc<usize>> = new_lives(8 * MANY);
    let mut all: WeakSet<_> = lives.iter().collect();
    // One pass.
    let around = all.capacity() * 8 / 7 / 16;
    let mut calls = 0;
    for life in lives.into_iter().take(10) {
        drop(life);
        let before = calls;
        while all.purge_some(1) == 0 {
            calls += 1;
        }
        assert!(calls - before <= around);
    }
    assert!(calls > around / 2, "{calls} of 10 times {around}");
}
