//! H. Entries of two weak sides (items 114, 115, 118).

use std::sync::Barrier;
use std::thread;

use weakly::{Strong, WeakPairMap};

use crate::common::scaled;

/// H115, H118: The sides of a pair die on two threads at once: the entry is counted, and reclaimed, once.
#[test]
fn both_sides_of_a_pair_may_die_at_once_on_two_threads() {
    for _ in 0..scaled(300, 10) {
        let keys: Vec<_> = (0..20).map(Strong::new).collect();
        let values: Vec<_> = (0..20).map(Strong::new).collect();
        let kept = (Strong::new(100_usize), Strong::new(100_usize));
        let mut map: WeakPairMap<_, _> = keys.iter().zip(&values).collect();
        map.insert(&kept.0, &kept.1);
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            for side in [keys, values] {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    drop(side);
                });
            }
            barrier.wait();
            assert!(map.remove(&Strong::new(5_usize)).is_none());
            assert!((1..=21).contains(&map.len()));
        });
        assert_eq!((map.len(), map.len_live()), (1, 1));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (1, 0));
    }
}

/// What refers to two objects after a change, and whether these may be changed then.
fn counts_until(entries: usize, change: impl FnOnce(&mut [Strong<usize>; 2])) {
    let mut survivors = [1_usize, 2].map(Strong::new);
    let places = [0, 1].map(|at| Strong::as_ptr(&survivors[at]));
    change(&mut survivors);
    assert_eq!(survivors.each_ref().map(Strong::weak_count), [entries; 2]);
    let granted = survivors.each_mut().map(|it| Strong::get_mut(it).is_some());
    assert_eq!(granted, [entries == 0; 2]);
    let made = survivors
        .each_mut()
        .map(|it| &raw const *Strong::make_mut(it));
    assert_eq!(made == places, entries == 0);
}

/// H118: A pair of which one side has died counts as a weak pointer to the other until its map next changes: `get_mut`
/// refuses, and `make_mut` makes another object.
#[test]
fn half_a_pair_counts_until_the_map_changes() {
    let mut map = WeakPairMap::new();
    for purge in [false, true] {
        counts_until(usize::from(!purge), |[key, value]| {
            let dies = Strong::new(3_usize);
            map.insert(key, &dies);
            map.insert(&Strong::new(4_usize), value);
            map.insert(&dies, value);
            drop(dies);
            assert_eq!((map.len(), map.get(key)), (0, None));
            if purge {
                map.purge();
            }
        });
    }
}

/// H118: The same where threads share it, and of the results of two objects.
#[cfg(feature = "std")]
#[test]
fn half_a_pair_counts_until_what_threads_share_changes() {
    use weakly::{Memo, concurrent};

    let map = concurrent::WeakPairMap::new();
    let memo = Memo::<(Strong<usize>, Strong<usize>), usize>::new();
    for purge in [false, true] {
        counts_until(usize::from(!purge), |[key, value]| {
            let [one, other] = [3_usize, 4].map(Strong::new);
            map.insert(key, &one);
            map.insert(&other, value);
            drop((one, other));
            assert_eq!((map.len(), map.get(key)), (0, None));
            if purge {
                map.purge();
            }
        });
        counts_until(usize::from(!purge), |[key, value]| {
            let [one, other] = [3_usize, 4].map(Strong::new);
            memo.get_or_compute((&*key, &one), |_| 5);
            memo.get_or_compute((&other, &*value), |_| 5);
            drop((one, other));
            assert_eq!(memo.get((&*key, &Strong::new(3_usize))), None);
            if purge {
                memo.purge();
            }
        });
    }
}
