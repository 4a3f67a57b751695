//! Purges in instalments.

use std::rc::Rc;

use weakly::WeakSet;

use crate::collections::*;
use crate::common::Counter;
use crate::common::instalments::{self, MANY, each_takes_its_share, one_may_take_all};

for_each_collection!(kit: none_allocates);
for_each_owning!(
    each_takes_its_share,
    one_may_take_all,
    it_destroys_what_it_counts,
);
for_each_owning!(kit: a_chain_goes_by_instalments);

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
