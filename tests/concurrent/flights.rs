//! `get_or_insert_with`: of those who ask at once, one makes it.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::{explode, panics, scaled};
use crate::faces::Count;
use crate::makings::{Making, is_same};

macro_rules! for_each_making {
    (@one $test:ident $($name:ident: $map:ident),*) => {$(
        mod $name {
            use $crate::flights as tests;
            use $crate::makings::$map;
            use $crate::faces::{Ours, Std};
            #[test]
            fn strong() {
                tests::$test::<$map<Ours>>();
            }
            #[test]
            fn arc() {
                tests::$test::<$map<Std>>();
            }
        }
    )*};
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            for_each_making!(@one $test weak_map: Maps, weak_value_map: Values,
                weak_hash_map: HashMaps, weak_pair_map: Pairs);
        }
    )*};
}

for_each_making!(
    a_value_is_made_once,
    small_all_get_what_one_makes,
    small_a_panic_lets_another_try,
    all_may_panic_but_the_last,
    to_ask_for_what_one_makes_is_an_error,
    other_keys_may_be_asked_for_meanwhile,
    small_a_circle_over_threads_is_an_error,
    a_circle_of_three_is_an_error,
    what_is_removed_in_flight_is_not_kept,
    what_is_set_in_flight_stays,
    waiters_get_what_was_set_in_flight,
    waiters_make_it_again_when_it_was_removed,
    what_is_in_flight_is_not_there_yet,
    the_count_is_right_while_one_flies,
);

/// L158: And is there afterwards.
fn a_value_is_made_once<M: Making>() {
    let map = M::new();
    let made = map.ask(1, || 7);
    assert_eq!((*made, map.len()), (7, 1));
    let again = map.ask(1, || panic!("it is there"));
    assert!(is_same::<M>(&made, &again));
    assert!(map.get(1).is_some_and(|got| is_same::<M>(&made, &got)));
    assert!(map.remove(1));
    assert_eq!(*map.ask(1, || 8), 8);
}

/// L158: Of many threads that ask at once, one makes it, and all get that.
fn small_all_get_what_one_makes<M: Making>() {
    let threads = scaled(8, 3);
    for _ in 0..scaled(50, 1) {
        let (map, made, barrier) = (M::new(), Count::default(), Barrier::new(threads));
        let got: Vec<M::Value> = thread::scope(|scope| {
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
        assert!(got.iter().all(|it| is_same::<M>(it, &got[0])));
    }
}

/// K175: Nothing is kept of an attempt that panics, and who waits tries again.
fn small_a_panic_lets_another_try<M: Making>() {
    let map = M::new();
    let (started, starts) = channel();
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            panics(|| {
                map.ask(1, || {
                    started.send(()).unwrap();
                    // (Perhaps the other waits by now: it is told in any case.)
                    thread::yield_now();
                    explode()
                });
            })
        });
        starts.recv().unwrap();
        let value = map.ask(1, || 8);
        assert_eq!((*value, map.len()), (8, 1));
        assert!(first.join().unwrap());
    });
}

/// K175: However many fail.
fn all_may_panic_but_the_last<M: Making>() {
    let threads = scaled(8, 3);
    for _ in 0..scaled(50, 1) {
        let (map, tries, barrier) = (M::new(), Count::default(), Barrier::new(threads));
        let got: Vec<Option<M::Value>> = thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                let mut got = None;
                panics(|| {
                    got = Some(map.ask(1, || {
                        tries.add();
                        if tries.get() < threads { explode() } else { 7 }
                    }));
                });
                got
            };
            let askers: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!((tries.get(), map.len()), (threads, 1));
        assert_eq!(got.iter().flatten().count(), 1);
    }
}

/// K174: It would wait for itself. The map is as if nothing had been asked.
fn to_ask_for_what_one_makes_is_an_error<M: Making>() {
    let map = M::new();
    assert!(panics(|| drop(map.ask(1, || *map.ask(1, || 2)))));
    assert_eq!(map.len(), 0);
    let through_another = || *map.ask(2, || *map.ask(1, || 3));
    assert!(panics(|| drop(map.ask(1, through_another))));
    assert_eq!(map.len(), 0);
    let first = map.ask(1, || 7);
    // Who catches it may go on.
    let value = map.ask(2, || {
        assert!(panics(|| drop(map.ask(2, || 4))));
        8
    });
    assert_eq!((*first, *value, map.len()), (7, 8, 2));
}

/// K174: Other values may be made meanwhile, and looked at.
fn other_keys_may_be_asked_for_meanwhile<M: Making>() {
    fn sum<M: Making>(map: &M, n: usize, kept: &mut Vec<M::Value>) -> usize {
        let mut inner = Vec::new();
        let value = map.ask(n, || match n {
            0 => 0,
            _ => n + sum(map, n - 1, &mut inner),
        });
        kept.append(&mut inner);
        kept.push(value.clone());
        *value
    }
    let (map, mut kept) = (M::new(), Vec::new());
    assert_eq!(sum(&map, 7, &mut kept), 28);
    assert_eq!((map.len(), kept.len()), (8, 8));
    assert!((0..8).all(|n| map.get(n).is_some_and(|sum| *sum == n * (n + 1) / 2)));
}

/// K174: Two threads, each of which wants what the other makes: one at least is told, the other need not
/// be, and nobody waits for ever.
fn small_a_circle_over_threads_is_an_error<M: Making>() {
    circles::<M>(2, scaled(50, 1));
}

/// K174
fn a_circle_of_three_is_an_error<M: Making>() {
    circles::<M>(3, scaled(50, 1));
}

fn circles<M: Making>(threads: usize, rounds: usize) {
    for _ in 0..rounds {
        let (map, barrier) = (M::new(), Barrier::new(threads));
        let told: Vec<bool> = thread::scope(|scope| {
            let askers: Vec<_> = (0..threads)
                .map(|mine| {
                    let (map, barrier) = (&map, &barrier);
                    scope.spawn(move || {
                        panics(|| {
                            map.ask(mine, || {
                                barrier.wait();
                                // If the other has been told before we ask, this makes it.
                                1 + *map.ask((mine + 1) % threads, || 10)
                            });
                        })
                    })
                })
                .collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(told.contains(&true), "each waited for the other");
        for key in 0..threads {
            assert!(*map.ask(key, || 7) >= 7, "nothing is left in flight");
        }
    }
}

/// L158: Who makes it gets it, and it is not there.
fn what_is_removed_in_flight_is_not_kept<M: Making>() {
    let map = M::new();
    for remove in [|map: &M| assert!(!map.remove(1)), |map: &M| map.clear()] {
        let value = map.ask(1, || {
            remove(&map);
            7
        });
        assert_eq!(*value, 7);
        assert!(map.get(1).is_none());
        assert_eq!(map.len(), 0);
    }
    // To look through is not to remove.
    let value = map.ask(1, || {
        map.retain(false);
        8
    });
    assert!(map.get(1).is_some_and(|got| is_same::<M>(&got, &value)));
}

/// L158: What was set stays, and who has made another keeps that for himself.
fn what_is_set_in_flight_stays<M: Making>() {
    let (map, set) = (M::new(), M::value(3));
    let made = map.ask(1, || {
        assert!(map.set(1, &set), "there was none");
        assert!(map.get(1).is_some());
        assert_eq!(*map.ask(1, || unreachable!()), 3);
        7
    });
    assert_eq!(*made, 7);
    assert!(map.get(1).is_some_and(|got| is_same::<M>(&got, &set)));
    assert_eq!(map.len(), 1);
}

/// A flight on another thread, during which `meanwhile` happens when somebody may be waiting; what the
/// waiter gets, who makes 8.
fn wait_through<M: Making>(map: &M, meanwhile: impl FnOnce() + Send) -> M::Value {
    let (started, starts) = channel();
    let (asking, asks) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let made = map.ask(1, || {
                started.send(()).unwrap();
                asks.recv().unwrap();
                thread::yield_now();
                meanwhile();
                7
            });
            assert_eq!(*made, 7);
        });
        starts.recv().unwrap();
        asking.send(()).unwrap();
        map.ask(1, || 8)
    })
}

/// L158
fn waiters_get_what_was_set_in_flight<M: Making>() {
    for _ in 0..scaled(50, 2) {
        let (map, set) = (M::new(), M::value(3));
        let got = wait_through(&map, || _ = map.set(1, &set));
        assert!(is_same::<M>(&got, &set));
    }
}

/// L158: They ask anew.
fn waiters_make_it_again_when_it_was_removed<M: Making>() {
    for _ in 0..scaled(50, 2) {
        let map = M::new();
        let got = wait_through(&map, || _ = map.remove(1));
        assert_eq!(*got, 8);
        assert!(map.get(1).is_some_and(|there| is_same::<M>(&there, &got)));
        assert_eq!(map.len(), 1);
    }
}

/// L158: It is not found, nor counted, before it is made.
fn what_is_in_flight_is_not_there_yet<M: Making>() {
    let map = M::new();
    let value = map.ask(1, || {
        assert!(map.get(1).is_none());
        assert_eq!(map.len(), 0);
        7
    });
    assert_eq!((*value, map.len()), (7, 1));
}

/// E81: What flies does not count, nor does it count off what is there when it was taken out of the map.
fn the_count_is_right_while_one_flies<M: Making>() {
    let (map, other) = (M::new(), M::value(2));
    map.set(0, &other);
    let take_out: [fn(&M); 2] = [|map| _ = map.remove(1), |map| _ = map.set(1, &M::value(3))];
    for take_out in take_out {
        let value = map.ask(1, || {
            assert_eq!(map.len(), 1);
            take_out(&map);
            // (A weak value that nobody keeps is gone at once.)
            let set = usize::from(map.get(1).is_some());
            if set == 0 {
                map.remove(1);
            }
            assert_eq!(map.len(), 1 + set);
            7
        });
        assert_eq!(*value, 7);
        map.remove(1);
        assert_eq!(map.len(), 1);
    }
}

/// D65, L158: If the destructor of what is not kept panics, that comes out of the call that has made it, and not of
/// one that follows.
#[test]
fn small_the_panic_of_what_is_not_kept_comes_out_at_once() {
    #[derive(Clone)]
    struct Bomb(Arc<AtomicBool>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0.swap(false, SeqCst) {
                explode();
            }
        }
    }
    let (map, key) = (WeakMap::new(), Strong::new(1));
    let fuse = Arc::new(AtomicBool::new(false));
    let bomb = || Bomb(fuse.clone());
    assert!(panics(|| _ = map.get_or_insert_with(&key, || {
        map.clear();
        fuse.store(true, SeqCst);
        bomb()
    })));
    assert!(!fuse.load(SeqCst));
    assert!(!map.contains_key(&key));
    _ = map.get_or_insert_with(&key, bomb);
    assert_eq!(map.len(), 1);
}
