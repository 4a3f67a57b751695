//! Anchors among threads: the first watch from several at once, deaths on other threads, lookups meanwhile.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Barrier, Mutex};
use std::thread;

use weakly::{Anchor, Attribute, WeakMap, concurrent};

use crate::common::scaled;

const THREADS: usize = scaled(4, 3);

/// They all get the same identity.
#[test]
fn small_the_first_watch_from_several_threads() {
    for _ in 0..scaled(200, 6) {
        let (anchor, barrier) = (Anchor::new(), Barrier::new(THREADS));
        let map = concurrent::WeakMap::new();
        let weak: HashSet<_> = thread::scope(|scope| {
            let watch = |n| {
                barrier.wait();
                match n % 3 {
                    0 => drop(anchor.finalize(|| ())),
                    1 => _ = map.insert(&anchor, n),
                    _ => {}
                }
                anchor.downgrade()
            };
            let threads = [(); THREADS].map(|()| 0);
            let threads: Vec<_> = (0..threads.len())
                .map(|n| scope.spawn(move || watch(n)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!((weak.len(), map.len()), (1, 1));
        drop(anchor);
        assert!(weak.iter().all(|weak| weak.is_expired()) && map.is_empty());
    }
}

/// 160: Anchors die on other threads; the map's owner gets the notices.
#[test]
fn small_anchors_that_die_on_other_threads() {
    let mut map = WeakMap::<Anchor, _>::new();
    let boxes: Vec<_> = (0..scaled(1000, 20))
        .map(|_| Box::new(Anchor::new()))
        .collect();
    for (n, anchor) in boxes.iter().enumerate() {
        map.insert(anchor, n);
    }
    let half = boxes.len() / 2;
    let boxes = Mutex::new(boxes);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..half / 2 {
                    let anchor = boxes.lock().unwrap().pop();
                    drop(anchor);
                }
            });
        }
    });
    assert_eq!((map.len(), map.pending_dead()), (half, half));
    let mut dead: Vec<_> = map.drain_dead().collect();
    dead.sort_unstable();
    assert!(dead.into_iter().eq(half..2 * half));
}

/// 159, 161: Each thread makes and drops anchors of its own in an attribute that all share, while others look them
/// up by weak handles: they find the value of that anchor or nothing.
#[test]
fn small_a_static_attribute_that_all_threads_use() {
    static NUMBERS: Attribute<Anchor, usize> = Attribute::new();
    let seen = Mutex::new(Vec::new());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (1..THREADS)
            .map(|writer| {
                let seen = &seen;
                scope.spawn(move || {
                    let mut arena = Vec::new();
                    for n in 0..scaled(2000, 15) {
                        let number = writer * 1_000_000 + n;
                        let anchor = Anchor::new();
                        NUMBERS.insert(&anchor, number);
                        if n % 7 == 0 {
                            *seen.lock().unwrap() = vec![(number, anchor.downgrade())];
                        }
                        arena.push((number, anchor));
                        if arena.len() == 20 {
                            arena.retain(|(number, anchor)| {
                                assert_eq!(NUMBERS.get(anchor), Some(*number));
                                number % 3 == 0
                            });
                            arena.truncate(10);
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Acquire) {
                let known = seen.lock().unwrap().clone();
                for (number, weak) in known {
                    let was_dead = weak.is_expired();
                    let found = NUMBERS.get(&weak);
                    assert!(found.is_none_or(|found| found == number && !was_dead));
                }
            }
        });
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        done.store(true, Release);
    });
    assert_eq!(NUMBERS.len(), 0);
    NUMBERS.purge();
    assert_eq!(NUMBERS.pending_dead(), 0);
}
