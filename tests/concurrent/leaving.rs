//! What a thread destroys when it leaves, and what it leaves to others.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::common::scaled;

std::thread_local! {
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// A value that counts how often it is destroyed by a thread that reads an entry.
struct Value<'c>(&'c AtomicUsize);

impl Drop for Value<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(usize::from(READS.get()), Relaxed);
    }
}

/// C41: A thread that removes an entry while it reads another destroys nothing before it has read, not even what
/// others have removed and are about to destroy.
#[test]
fn no_destructor_runs_while_its_thread_reads() {
    let inside = AtomicUsize::new(0);
    let map = WeakMap::new();
    let read = Strong::new(0_u64);
    map.insert(&read, Value(&inside));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                map.with(&read, |_| thread::yield_now());
            }
        });
        scope.spawn(|| {
            let own = Strong::new(1);
            while !done.load(Relaxed) {
                map.insert(&own, Value(&inside));
                map.remove_if(&own, |_| true);
            }
        });
        let own = Strong::new(2);
        for _ in 0..scaled(100_000, 100) {
            map.insert(&own, Value(&inside));
            map.with(&read, |_| {
                READS.set(true);
                map.remove_if(&own, |_| true);
                READS.set(false);
            });
        }
        done.store(true, Relaxed);
    });
    assert_eq!(inside.load(Relaxed), 0);
}

/// C41: What waits for a thread goes before what that thread destroys itself, whose destructor may wait for it.
#[test]
fn what_waits_for_a_thread_goes_first() {
    enum Value<'f> {
        Waits(&'f AtomicBool, &'f AtomicBool),
        Sets(&'f AtomicBool),
    }
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            match self {
                Value::Sets(flag) => flag.store(true, Release),
                Value::Waits(flag, seen) => {
                    let begin = Instant::now();
                    while !flag.load(Acquire) && begin.elapsed() < Duration::from_secs(2) {
                        thread::yield_now();
                    }
                    seen.store(flag.load(Acquire), Release);
                }
            }
        }
    }
    let (flag, seen) = (AtomicBool::new(false), AtomicBool::new(false));
    let map = WeakMap::new();
    let keys = [Strong::new(1_u64), Strong::new(2)];
    map.insert(&keys[0], Value::Waits(&flag, &seen));
    map.insert(&keys[1], Value::Sets(&flag));
    let ((inside, enters), (removed, removal)) = (channel(), channel());
    thread::scope(|scope| {
        let (map, key) = (&map, &keys[1]);
        scope.spawn(move || {
            enters.recv().expect("it enters");
            assert!(map.remove_if(key, |_| true));
            removed.send(()).expect("it waits");
        });
        map.remove_if(&keys[0], |_| {
            inside.send(()).expect("it waits");
            removal.recv().expect("it removes");
            true
        });
    });
    assert!(seen.load(Acquire), "each waited for the other");
}
