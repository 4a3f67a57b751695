//! Purges in instalments: alike in both families.

use weakly::Reclaim::{OnRequest, OnUse};

use super::subject::{Subject, Upkeep, new_lives};
use super::{Count, scaled};

pub const MANY: usize = scaled(1_000, 50);

/// A collection with this many dead entries and as many live ones, whose lives are returned.
pub fn half_dead<C: Subject>(of: impl FnOnce(&[C::Life]) -> C) -> (C, Vec<C::Life>) {
    let mut lives = new_lives::<C::Life>(2 * MANY);
    let all = of(&lives);
    lives.truncate(MANY);
    (all, lives)
}

/// 61, 202: Each takes its share, until nothing is left; what lives stays. Of one owner, an entry whose sides have both died
/// counts twice: the notices of one side are taken first, and those of the other come late.
pub fn each_takes_its_share<C: Subject>() {
    for reclaim in [OnUse, OnRequest] {
        let (mut all, lives) = half_dead(C::uncounted);
        all.set_reclaim(reclaim);
        takes_its_share(&mut all, C::NOTIFIES, C::COUNTED);
        assert_eq!(all.reclaim(), reclaim);
        assert!(lives.iter().all(|life| all.has(life)));
    }
}

fn takes_its_share(all: &mut dyn Upkeep, notifies: bool, counted: usize) {
    let (before, reclaim) = (all.counts(), all.reclaim());
    assert_eq!((all.purge_some(0), all.counts()), (0, before));
    let mut left = counted * MANY;
    // Where deaths are not notified, an instalment may find none on its way.
    while left != 0 {
        let purged = all.purge_some(7);
        assert!(purged <= 7);
        left -= purged;
        if notifies {
            let late = (counted - 1) * MANY;
            assert_eq!(purged, 7.min(left + purged));
            assert_eq!(all.counts(), (MANY, MANY, left.saturating_sub(late)));
        }
        assert_eq!((all.len_live(), all.reclaim()), (MANY, reclaim));
    }
    assert_eq!(all.counts(), (MANY, MANY, 0));
    assert_eq!((all.purge_some(7), all.purge_some(usize::MAX)), (0, 0));
}

/// 202: One without a bound takes all. A sweep of what threads share leaves some of a long chain to the next: how long they
/// are depends on the seeds of a hasher.
pub fn one_may_take_all<C: Subject>() {
    let (mut all, _lives) = half_dead(C::uncounted);
    takes_all(&mut all, &mut C::default(), C::NOTIFIES, C::COUNTED);
}

fn takes_all(all: &mut dyn Upkeep, empty: &mut dyn Upkeep, notifies: bool, counted: usize) {
    let passes = if notifies { 1 } else { 10 };
    let purged: usize = (0..passes).map(|_| all.purge_some(usize::MAX)).sum();
    assert_eq!(purged, counted * MANY);
    assert_eq!(all.counts(), (MANY, MANY, 0));
    assert_eq!((empty.purge_some(1), empty.counts()), (0, (0, 0, 0)));
}

/// 39, 185, 202: What it returns is how many it has destroyed, of those that are dead and those that are kept. `touch` is
/// another operation, which takes some out.
pub fn it_destroys_what_it_counts<C: Subject>(touch: impl Fn(&mut C, &C::Life)) {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let (mut all, lives) = half_dead(|lives| C::counted(lives, &count));
        all.set_reclaim(reclaim);
        touch(&mut all, &lives[0]);
        destroys_what_it_counts(&mut all, &count);
    }
}

fn destroys_what_it_counts(all: &mut dyn Upkeep, count: &Count) {
    let mut gone = count.get();
    while gone < MANY {
        gone += all.purge_some(30);
        assert_eq!(count.get(), gone);
    }
    assert_eq!((gone, all.purge_some(1)), (MANY, 0));
}

/// 61, 187: Of handles that do not notify, it looks at a bounded part of the table, and the next at the next part. A pass
/// over the table takes at most so many calls as `around` says, and at least half of them.
pub fn each_sweeps_a_part<C: Subject>(around: impl FnOnce(&C) -> usize) {
    let lives: Vec<C::Life> = new_lives(8 * MANY);
    let mut all = C::uncounted(&lives);
    let around = around(&all);
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
