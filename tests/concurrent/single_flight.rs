//! `get_or_insert_with`: of the threads that ask at the same time, one computes the value.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::custom::{Custom, On};
use crate::common::{panics, quiet_panic, scaled, watchdog};
use crate::dynamic::*;
use crate::faces::Count;
use crate::get_or_insert::{GetOrInsert, New, Shared, Value, for_each_making};

for_each_making!(
    small_all_get_the_value_that_one_computes,
    small_waiters_share_an_error,
    to_ask_for_a_value_while_computing_it_is_an_error,
    small_a_cycle_over_threads_is_an_error,
    an_entry_removed_in_flight_is_not_inserted,
    a_condition_is_not_asked_of_an_entry_in_flight,
    a_value_set_in_flight_stays,
);

/// L158: Of many threads that ask at the same time, one computes the value, and all get it.
fn small_all_get_the_value_that_one_computes(new: New) {
    let threads = scaled(8, 3);
    for _ in 0..scaled(50, 1) {
        let (map, made, barrier) = (new(), Count::default(), Barrier::new(threads));
        let got: Vec<Value> = thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                map.ask(1, || {
                    made.add();
                    thread::yield_now();
                    7
                })
            };
            let askers: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!((made.get(), map.len()), (1, 1));
        assert!(got.iter().all(|it| it.is(&got[0])));
    }
}

/// 473: Each caller gets the error of the making for which it has waited, or its own: the same object, made once. Nothing is
/// kept, and who comes later makes the value anew.
fn small_waiters_share_an_error(new: New) {
    let _watched = watchdog::watched("a waiter waits for an error");
    let (threads, rounds, mut shared) = (scaled(8, 3), scaled(50, 1), 0);
    for _ in 0..rounds {
        let (map, made, barrier) = (new(), Count::default(), Barrier::new(threads));
        let got: Vec<Shared> = thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                let fail = &mut || {
                    made.add();
                    thread::yield_now();
                    Err(Shared::new("no"))
                };
                map.share_for(1, fail).map(|_| ()).unwrap_err()
            };
            let askers: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let mut errors: Vec<_> = got.iter().map(Arc::as_ptr).collect();
        errors.sort_unstable();
        errors.dedup();
        assert_eq!(errors.len(), made.get());
        shared += threads - made.get();
        assert_eq!((map.len(), map.get(1).is_none()), (0, true));
        let made = map.share_for(1, &mut || Ok(7)).unwrap();
        assert!(map.get(1).is_some_and(|there| there.is(&made)));
    }
    assert!(shared != 0 || rounds == 1, "no caller has waited");
}

/// M174: The call would wait for itself. Afterwards the map is as before.
fn to_ask_for_a_value_while_computing_it_is_an_error(new: New) {
    let map = new();
    assert!(panics(|| drop(map.ask(1, || map.ask(1, || 2).number()))));
    assert_eq!(map.len(), 0);
    let through_another = || map.ask(2, || map.ask(1, || 3).number()).number();
    assert!(panics(|| drop(map.ask(1, through_another))));
    assert_eq!(map.len(), 0);
    let first = map.ask(1, || 7);
    // A caller that catches the panic may continue.
    let value = map.ask(2, || {
        assert!(panics(|| drop(map.ask(2, || 4))));
        8
    });
    assert_eq!((first.number(), value.number(), map.len()), (7, 8, 2));
}

/// 174: Threads, each of which needs the value that the next computes: at least one gets an error, and no thread waits for ever.
fn small_a_cycle_over_threads_is_an_error(new: New) {
    for threads in [2, 3].repeat(scaled(25, 1)) {
        let (map, barrier) = (new(), Barrier::new(threads));
        let refused: Vec<bool> = thread::scope(|scope| {
            let askers: Vec<_> = (0..threads)
                .map(|mine| {
                    let (map, barrier) = (&map, &barrier);
                    scope.spawn(move || {
                        panics(|| {
                            map.ask(mine, || {
                                barrier.wait();
                                // If the other got its error before this call, this call computes the value.
                                1 + map.ask((mine + 1) % threads, || 10).number()
                            });
                        })
                    })
                })
                .collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(refused.contains(&true), "each waited for the other");
        for key in 0..threads {
            assert!(
                map.ask(key, || 7).number() >= 7,
                "nothing is left in flight"
            );
        }
    }
}

/// L158: The caller gets the value; the map does not contain it.
fn an_entry_removed_in_flight_is_not_inserted(new: New) {
    let map = new();
    for remove in [
        |map: &dyn GetOrInsert| assert!(!map.remove(1)),
        |map: &dyn GetOrInsert| map.clear(),
    ] {
        let value = map.ask(1, || {
            remove(&*map);
            7
        });
        assert_eq!(value.number(), 7);
        assert!(map.get(1).is_none());
        assert_eq!(map.len(), 0);
    }
    // `retain` does not remove an entry that is in flight.
    let value = map.ask(1, || {
        map.retain(false);
        8
    });
    assert!(map.get(1).is_some_and(|got| got.is(&value)));
}

/// L270: A condition is about a value. An entry in flight has none, so its computation goes on, and is kept.
fn a_condition_is_not_asked_of_an_entry_in_flight(new: New) {
    let map = new();
    let value = map.ask(1, || {
        assert!(!map.remove_if(1, &mut || unreachable!("there is no value")));
        7
    });
    assert!(map.get(1).is_some_and(|got| got.is(&value)));
    assert!(!map.remove_if(1, &mut || false) && map.remove_if(1, &mut || true));
    assert!(map.get(1).is_none());
}

/// L158: The value that was set stays; the caller that computed another keeps that for itself.
fn a_value_set_in_flight_stays(new: New) {
    let map = new();
    let set = map.value(3);
    let made = map.ask(1, || {
        assert!(map.set(1, &set), "there was none");
        assert!(map.get(1).is_some());
        assert_eq!(map.ask(1, || unreachable!()).number(), 3);
        7
    });
    assert_eq!(made.number(), 7);
    assert!(map.get(1).is_some_and(|got| got.is(&set)));
    assert_eq!(map.len(), 1);
}

/// D65, L158: If the destructor of a value that is not inserted panics, the panic comes from the call that has
/// computed it, not from a later one.
#[test]
fn small_the_panic_of_a_discarded_value_surfaces_at_once() {
    let (map, key) = (WeakMap::new(), Strong::new(Custom::from(1)));
    let fuse = Arc::new(AtomicBool::new(false));
    let bomb = || {
        let fuse = fuse.clone();
        Custom::from(1).on(On::Drop, move |_| {
            if fuse.swap(false, SeqCst) {
                quiet_panic();
            }
        })
    };
    assert!(panics(|| _ = map.get_or_insert_dyn(&key, &mut || {
        map.clear();
        fuse.store(true, SeqCst);
        bomb()
    })));
    assert!(!fuse.load(SeqCst));
    assert!(!map.contains_key(&key));
    _ = map.get_or_insert_dyn(&key, &mut || bomb());
    assert_eq!(map.len(), 1);
}
