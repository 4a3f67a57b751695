//! Purges in instalments.

use std::cell::Cell;
use std::rc::Rc;

use weakly::Reclaim::{OnRequest, OnUse};
use weakly::WeakSet;

use crate::collections::*;
use crate::common::instalments::{self, MANY, each_takes_its_share, one_may_take_all};
use crate::common::{Counter, panics, quiet_panic};

for_each_collection!(kit: none_allocates);
for_each_collection!(each_takes_its_share, one_may_take_all);

for_each_owning!(it_destroys_what_it_counts);
for_each_owning!(
    kit: a_chain_goes_by_instalments,
    a_destructor_may_panic,
);

/// 202: Where there never was an entry.
fn none_allocates(kit: Kit) {
    let mut empty = kit.empty();
    assert_eq!((empty.purge_some(1), empty.capacity()), (0, 0));
}

/// 202: A removal that finds nothing takes some out.
fn it_destroys_what_it_counts<C: Single>() {
    instalments::it_destroys_what_it_counts::<C>(|all, _| {
        assert!(!all.leave(&C::Life::from(2 * MANY)));
    });
}

/// 187: So many buckets, of 16 entries at most 7 of 8 full.
#[test]
fn each_sweeps_a_part() {
    instalments::each_sweeps_a_part::<WeakSet<Rc<usize>>>(|all| all.capacity() * 8 / 7 / 16);
}

/// 53, 202: What dies of an instalment belongs to it, if there is room, or to the next.
fn a_chain_goes_by_instalments(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let (mut all, head) = chain(kit, MANY, &counted(&counter));
    drop(head);
    let mut gone = 0;
    while gone < MANY {
        let purged = all.purge_some(30);
        gone += purged;
        assert_eq!(counter.get(), gone);
        assert!(purged == 30.min(MANY + purged - gone) || !kit.notifies);
    }
    assert_eq!((all.counts(), all.purge_some(30)), ((0, 0, 0), 0));
}

/// 65, 202: A destructor that panics ends the instalment; the next goes on with the rest.
fn a_destructor_may_panic(kit: Kit<dyn Owning>) {
    for reclaim in [OnUse, OnRequest] {
        let counter = Counter::default();
        let (fuse, ends) = (Rc::new(Cell::new(true)), counted(&counter));
        let bomb: Ends = Rc::new(move |number| {
            ends(number);
            if fuse.take() {
                quiet_panic();
            }
        });
        let mut lives = kit.lives(2 * MANY);
        let mut all = kit.of(&lives, &bomb);
        lives.truncate(MANY);
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
