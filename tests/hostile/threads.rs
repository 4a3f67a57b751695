//! Objects die on other threads while a collection is used.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::common::scaled;
use crate::common::subject::Single;
use crate::common::subject::single::quietly;
use crate::common::wild::{Code, Wild, wilds};
use crate::lists::{PairsTwice, for_each_that_crosses};
use crate::rest;
use weakly::Strong;

const MANY: usize = scaled(2_000, 6);

/// D70, 76: Uses a collection until all of these, which another thread drops, are dead.
fn deaths_elsewhere<F: Single<Wild>>()
where
    F::Life: Send,
{
    let objects = wilds::<F::Life>(0..MANY);
    let mine = wilds::<F::Life>(MANY..MANY + 4);
    let mut face = F::of(objects.iter().chain(&mine), &quietly());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // What threads need is compiled once, and not for each closure.
        let kill: Box<dyn FnOnce() + Send> = Box::new(|| {
            objects.into_iter().for_each(drop);
            done.store(true, Relaxed);
        });
        scope.spawn(kill);
        let mut turn = 0;
        while !done.load(Relaxed) {
            let mine = &mine[turn % mine.len()];
            assert!(face.has(mine));
            // Each count is exact only for a moment: they need not agree.
            for count in [face.len(), face.len_live()] {
                assert!((4..=MANY + 4).contains(&count), "{count}");
            }
            match turn % 4 {
                0 => _ = face.purge(),
                // It is there, and stays the only one, as the end shows.
                1 => _ = face.enter(mine, &quietly()),
                2 => face.reserve(MANY),
                _ => face.shrink_to_fit(),
            }
            turn += 1;
        }
    });
    assert_eq!(rest(&mut face), (4, 4, 0));
    drop(mine);
    assert_eq!(rest(&mut face), (0, 0, 0));
}

for_each_that_crosses!(<crate::common::wild::Wild> deaths_elsewhere);

/// The keys die on one thread and the values on another, while entries are removed, replaced and drained: each
/// is counted once, and later operations find no trace of it.
#[test]
fn both_sides_of_pairs_die_elsewhere() {
    type Pairs = PairsTwice<Strong<Wild>>;
    type Acts = fn(&mut Pairs, &[Strong<Wild>; 2]);
    let acts: [Acts; 6] = [
        |map, _| _ = map.purge(),
        |map, _| drop(map.pop()),
        |map, [key, value]| drop(map.insert(key, value)),
        |map, [key, _]| drop(map.remove(key)),
        |map, _| map.retain(|key, _| key.number % 3 != 0),
        |map, _| *map = map.drain().collect(),
    ];
    for act in acts {
        let [keys, values] = [0; 2].map(|_| wilds::<Strong<Wild>>(0..MANY));
        let mine = [MANY; 2].map(|number| Strong::new(Wild::new(number)));
        let mut map: Pairs = keys.iter().zip(&values).collect();
        thread::scope(|scope| {
            scope.spawn(|| keys.into_iter().for_each(drop));
            scope.spawn(|| values.into_iter().rev().for_each(drop));
            for _ in 0..scaled(200, 4) {
                act(&mut map, &mine);
                assert!(map.len() <= MANY + 1 && map.pending_dead() <= MANY);
            }
        });
        map.purge();
        assert_eq!((map.pending_dead(), map.len()), (0, map.len_live()));
        map.insert(&mine[0], &mine[1]);
        assert_eq!(map.len(), 1);
        drop(mine);
        assert_eq!((map.len(), map.pending_dead()), (0, 1));
    }
}

/// The map is dropped while both sides of its entries die: each object does, once, and no notice keeps its memory.
#[test]
fn the_end_of_a_map_of_pairs_against_deaths() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Code for Counted {
        fn drop(&self, _: &Wild) {
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    for _ in 0..scaled(50, 4) {
        ALIVE.store(8, Relaxed);
        let object = |number| Strong::new(Wild::with(&Counted, number, 0));
        let objects = || -> Vec<_> { (0..4).map(object).collect() };
        let (keys, values) = (objects(), objects());
        let watches: Vec<_> = keys.iter().chain(&values).map(Strong::downgrade).collect();
        let map: PairsTwice<_> = keys.iter().zip(&values).collect();
        thread::scope(|scope| {
            scope.spawn(|| drop(keys));
            scope.spawn(|| drop(values));
            drop(map);
        });
        assert_eq!(ALIVE.load(Relaxed), 0);
        assert!(watches.iter().all(|watch| watch.upgrade().is_none()));
    }
}
