//! Purges in instalments.

use std::sync::Arc;
use std::thread;

use weakly::concurrent::WeakSet;

use crate::common::instalments::{self, MANY, each_takes_its_share, one_may_take_all};
use crate::faces::*;

for_each_collection!(each_takes_its_share, one_may_take_all);

for_each_owning!(it_destroys_what_it_counts);

for_each_owning!(
    kit: threads_share_the_work,
);

/// 202: A removal that is refused takes some out.
fn it_destroys_what_it_counts<C: Shared<Life: Known> + Changing>() {
    instalments::it_destroys_what_it_counts::<C>(|all, life| {
        assert!(!all.leave_if(&life.clone().handle(), &mut || false));
    });
}

/// A collection with this many dead entries and as many live ones, whose lives are returned.
fn half_dead(kit: Kit<dyn Changing>, ends: &Ends) -> (Box<dyn Changing>, Vec<Handle>) {
    let mut lives = kit.lives(2 * MANY);
    let all = kit.of(&lives, ends);
    lives.truncate(MANY);
    (all, lives)
}

/// 187: A bucket has four to eight entries.
#[test]
fn each_sweeps_a_part() {
    instalments::each_sweeps_a_part::<WeakSet<Arc<usize>>>(|_| 2 * MANY);
}

/// 71, 202: Of threads that purge at once, each entry is destroyed and counted by one.
fn threads_share_the_work(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let (all, _lives) = half_dead(kit, &count.ends());
    let purged: usize = thread::scope(|scope| {
        let work = || {
            let mut purged = 0;
            while count.get() < MANY {
                purged += all.purge_some(5);
            }
            purged
        };
        let workers = [(); 3].map(|()| scope.spawn(work));
        workers.map(|worker| worker.join().unwrap()).iter().sum()
    });
    assert_eq!((purged, count.get()), (MANY, MANY));
    assert_eq!(all.counts(), (MANY, MANY, 0));
}
