//! `get_or_insert_racing`: each of the threads that ask at the same time makes a value, and none waits.

use std::convert::Infallible;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use weakly::Strong;
use weakly::concurrent::WeakMap;
use weakly::keep::Limit;

use crate::common::{panics, quiet_panic, scaled, watchdog};
use crate::dynamic::*;
use crate::get_or_insert::{GetOrInsert, New, Value, for_each_making};

for_each_making!(
    small_all_make_a_value_and_get_the_first,
    small_waiters_get_what_is_raced_beside_a_reservation,
    a_value_whose_own_making_is_asked_for,
    what_is_removed_meanwhile_is_not_kept,
    a_race_that_fails_leaves_nothing,
);

fn race(map: &dyn GetOrInsert, key: usize, make: impl FnOnce() -> usize) -> Value {
    let Ok(made) = map.race(key, || Ok::<_, Infallible>(make()));
    made
}

/// 280: All threads are in their closures at once, which none could be if it waited for another.
fn small_all_make_a_value_and_get_the_first(new: New) {
    let _watched = watchdog::watched("a thread waits for another that makes the same value");
    let threads = scaled(6, 3);
    for _ in 0..scaled(20, 1) {
        let (map, all_make) = (new(), Barrier::new(threads));
        let got: Vec<Value> = thread::scope(|scope| {
            let ask = |number| {
                let (map, all_make) = (&*map, &all_make);
                move || {
                    race(map, 1, || {
                        all_make.wait();
                        number
                    })
                }
            };
            let askers: Vec<_> = (0..threads).map(|n| scope.spawn(ask(n))).collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(got.iter().all(|it| it.is(&got[0])), "of the first");
        assert!(map.get(1).is_some_and(|there| there.is(&got[0])));
        assert_eq!(map.len(), 1);
    }
}

/// 280, 470: The waiter goes on while the other value is still being made. The thread that makes that gets the first.
fn small_waiters_get_what_is_raced_beside_a_reservation(new: New) {
    let _watched = watchdog::watched("a waiter waits for the value that was overtaken");
    for _ in 0..scaled(20, 2) {
        let map = new();
        let ((begun, begins), (go, goes)) = (channel(), channel::<()>());
        thread::scope(|scope| {
            let map = &*map;
            let leader = scope.spawn(move || {
                map.ask(1, || {
                    begun.send(()).unwrap();
                    _ = goes.recv();
                    7
                })
            });
            begins.recv().unwrap();
            let waiter = scope.spawn(|| map.ask(1, || panic!("another makes it")));
            // (It may wait by now or not: it gets the same.)
            thread::yield_now();
            let raced = race(map, 1, || 8);
            assert_eq!(raced.number(), 8);
            assert!(waiter.join().unwrap().is(&raced));
            drop(go);
            assert!(leader.join().unwrap().is(&raced));
            assert!(map.get(1).is_some_and(|there| there.is(&raced)));
            assert_eq!(map.len(), 1);
        });
    }
}

/// 280: It is no cycle: the inner one is first.
fn a_value_whose_own_making_is_asked_for(new: New) {
    let map = new();
    let mut inner = None;
    let outer = race(&*map, 1, || {
        inner = Some(race(&*map, 1, || 7));
        8
    });
    assert!(outer.is(&inner.unwrap()));
    // Nor is it one beside the reservation of this thread.
    let mut inner = None;
    let reserved = map.ask(2, || {
        inner = Some(race(&*map, 2, || 7));
        8
    });
    assert!(reserved.is(&inner.unwrap()) && reserved.number() == 7);
    assert_eq!(map.len(), 2);
}

/// 471
fn what_is_removed_meanwhile_is_not_kept(new: New) {
    let map = new();
    let made = race(&*map, 1, || {
        assert!(!map.remove(1));
        7
    });
    assert_eq!((made.number(), map.get(1).is_none()), (7, true));
    // Nor is what another makes who has joined before.
    let mut inner = None;
    let outer = race(&*map, 1, || {
        inner = Some(race(&*map, 1, || {
            assert!(!map.remove(1));
            8
        }));
        9
    });
    assert_eq!((inner.unwrap().number(), outer.number()), (8, 9));
    assert_eq!((map.len(), race(&*map, 1, || 10).number()), (0, 10));
}

/// 472: Alone, beside a race that goes on, and beside an owner; and an owner beside a race.
fn a_race_that_fails_leaves_nothing(new: New) {
    let map = new();
    let fails = |key| {
        assert!(map.race(key, || Err::<_, ()>(())).is_err());
        assert!(panics(|| _ = race(&*map, key, || quiet_panic())));
    };
    fails(1);
    assert_eq!(map.len(), 0);
    let first = race(&*map, 1, || 7);
    let raced = race(&*map, 2, || {
        fails(2);
        assert!(panics(|| _ = map.ask(2, || quiet_panic())));
        8
    });
    let owned = map.ask(3, || {
        fails(3);
        9
    });
    assert_eq!(map.len(), 3);
    assert_eq!([first, raced, owned].map(|it| it.number()), [7, 8, 9]);
}

/// 280: The operation that inserts the value panics when the value is in its place: a listener does.
#[test]
fn small_waiters_go_on_if_the_operation_panics() {
    let _watched = watchdog::watched("a waiter waits for the value that was overtaken");
    for _ in 0..scaled(20, 2) {
        let (map, [evicted, key]) = (WeakMap::new(), [1_usize, 2].map(Strong::new));
        map.set_ceiling(Limit::entries(1), |_: &usize| 1);
        map.set_listener(|_, _, _| quiet_panic());
        map.insert(&evicted, 1_usize);
        let ((begun, begins), (go, goes)) = (channel(), channel::<()>());
        thread::scope(|scope| {
            let (map, key) = (&map, &key);
            let leader = scope.spawn(move || {
                map.get_or_insert_dyn(key, &mut || {
                    begun.send(()).unwrap();
                    _ = goes.recv();
                    7
                })
            });
            begins.recv().unwrap();
            let waiter = scope.spawn(|| map.get_or_insert_dyn(key, &mut || quiet_panic()));
            // (It hardly ever waits by then otherwise. While it looks, it would destroy the evicted entry.)
            thread::sleep(Duration::from_millis(if cfg!(miri) { 500 } else { 5 }));
            assert!(panics(|| _ = map.insert(key, 8)));
            assert_eq!(waiter.join().unwrap(), 8);
            drop(go);
            assert_eq!(leader.join().unwrap(), 7);
        });
    }
}
