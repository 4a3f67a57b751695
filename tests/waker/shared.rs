//! Wakers of collections that threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::mpsc::channel;
use std::task::Wake;
use std::thread::{self, Thread};

use weakly::concurrent::WeakMap;
use weakly::{Reclaim, Strong};

use crate::common::watchdog::watched;
use crate::{Calls, SharedMap, idle, owns, value};

const OBJECTS: usize = if cfg!(miri) { 20 } else { 2_000 };

fn map_of(count: usize) -> (SharedMap, Vec<Strong<usize>>) {
    let (map, keys) = (
        WeakMap::new(),
        (0..count).map(Strong::new).collect::<Vec<_>>(),
    );
    keys.iter().for_each(|key| _ = map.insert(key, idle()));
    (map, keys)
}

/// 590, 61: Nor is it called before that.
#[test]
fn small_a_drain_that_leaves_something_does_not_arm_it() {
    let (calls, (map, mut keys)) = (Calls::new(), map_of(40));
    map.set_waker(calls.waker());
    keys.truncate(20);
    assert_eq!(calls.take(), 1);
    map.insert(&keys[0], idle());
    assert_eq!(map.pending_dead(), 4);
    drop(keys.pop());
    assert_eq!(calls.take(), 0, "something was pending");
    map.purge();
    drop(keys.pop());
    assert_eq!(calls.take(), 1);
}

/// 363: A death calls it, and so does what is kept when nothing was kept before.
#[test]
fn small_on_request() {
    let (calls, (map, mut keys)) = (Calls::new(), map_of(3));
    map.set_reclaim(Reclaim::OnRequest);
    map.set_waker(calls.waker());
    for is_kept in [false, true] {
        drop(keys.pop());
        assert_eq!(calls.take(), 1);
        map.insert(&keys[0], idle());
        assert_ne!(map.pending_dead(), 0, "it is kept");
        assert_eq!(calls.take(), usize::from(!is_kept));
    }
}

/// 590: What the end of a collection destroys may kill its other keys.
#[test]
fn small_the_end_of_a_collection_does_not_call_it() {
    let (calls, map) = (Calls::new(), SharedMap::new());
    map.set_waker(calls.waker());
    let mut last = None;
    for number in 0..10 {
        let key = Strong::new(number);
        map.insert(&key, owns(last.take()));
        last = Some(key);
    }
    let first = Strong::new(10);
    map.insert(&first, owns(last));
    drop(map);
    assert_eq!((calls.take(), Arc::strong_count(&calls)), (0, 1));
}

/// 590: Objects that different threads have inserted, and so of different stripes, count as one collection.
#[test]
fn small_all_stripes_have_one_waker() {
    let (calls, map) = (Calls::new(), SharedMap::new());
    map.set_waker(calls.waker());
    for _ in 0..2 {
        let insert = || {
            let keys = [0, 1].map(Strong::new);
            keys.iter().for_each(|key| _ = map.insert(key, idle()));
            keys
        };
        let there = thread::scope(|scope| scope.spawn(insert).join().unwrap());
        let here = insert();
        drop((there, here));
        assert_eq!(calls.take(), 1);
        map.purge();
    }
}

pub(crate) struct Unpark(pub(crate) Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// 237: No wake-up of a thread is lost that only purges.
#[test]
fn small_a_thread_purges_when_it_is_woken() {
    destroys_everything_when_it_is_woken(|map| _ = map.purge());
}

/// 237, 202: Nor if it purges in instalments.
#[test]
fn small_a_thread_purges_in_instalments_when_it_is_woken() {
    destroys_everything_when_it_is_woken(|map| while map.purge_some(2) != 0 {});
}

/// Tells a thread that something is pending.
struct Announced(Thread, AtomicBool);

impl Wake for Announced {
    fn wake(self: Arc<Self>) {
        self.1.store(true, Release);
        self.0.unpark();
    }
}

/// A thread that sleeps until it is woken, and purges only then, destroys everything: no wake-up is lost.
fn destroys_everything_when_it_is_woken(purge: fn(&SharedMap)) {
    let _watched = watched("the thread that purges when it is woken");
    let (alive, done) = (Arc::new(AtomicUsize::new(0)), &AtomicBool::new(false));
    let map = SharedMap::new();
    let announced = Arc::new(Announced(thread::current(), AtomicBool::new(false)));
    map.set_waker(Some(announced.clone().into()));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = None;
                    for number in 0..OBJECTS {
                        let key = Strong::new(number);
                        alive.fetch_add(1, Relaxed);
                        let counted = alive.clone();
                        let end = move || _ = counted.fetch_sub(1, Relaxed);
                        map.insert(&key, value(end));
                        drop(last.replace(key));
                    }
                })
            })
            .collect();
        let this = thread::current();
        scope.spawn(move || {
            workers
                .into_iter()
                .for_each(|worker| worker.join().unwrap());
            done.store(true, Release);
            this.unpark();
        });
        loop {
            // A call after the look at the announcement comes before the end.
            let is_done = done.load(Acquire);
            if announced.1.swap(false, Acquire) {
                purge(&map);
            } else if is_done {
                break;
            } else {
                thread::park();
            }
        }
    });
    // A worker that was inside may have left an entry to the next thread that leaves.
    assert!(map.get(&Strong::new(0)).is_none());
    assert_eq!((alive.load(Relaxed), map.len()), (0, 0));
}

/// 237: One death at a time, on another thread, while this thread purges again and again: each that is left is announced.
#[test]
fn small_each_death_is_purged_or_announced() {
    let (map, woken) = (WeakMap::new(), Calls::new());
    map.set_waker(woken.waker());
    for number in 0..OBJECTS {
        let keys = [number, number].map(Strong::new);
        let [a, b] = keys;
        map.insert(&a, idle());
        thread::scope(|scope| {
            scope.spawn(|| map.insert(&b, idle())).join().unwrap();
        });
        thread::scope(|scope| {
            scope.spawn(move || drop(a));
            scope.spawn(move || drop(b));
            woken.take();
            if number % 2 == 0 {
                map.purge();
            } else {
                while map.purge_some(1) != 0 {}
            }
        });
        assert!(map.pending_dead() == 0 || woken.take() > 0);
        map.purge();
    }
}

/// 590: A finalizer takes long. Meanwhile the map is purged, and another object dies on another thread: that wakes.
#[test]
fn small_a_death_does_not_wait_for_the_finalizers_of_another() {
    let (map, mut keys) = map_of(2);
    let woken = Calls::new();
    map.set_waker(woken.waker());
    let (running, is_running) = channel();
    let (finish, may_finish) = channel::<()>();
    Strong::finalize(&keys[0], move || {
        running.send(()).unwrap();
        _ = may_finish.recv();
    });
    let other = keys.pop();
    thread::scope(|scope| {
        scope.spawn(move || drop(keys));
        is_running.recv().unwrap();
        map.purge();
        woken.take();
        drop(other);
        let calls = woken.take();
        drop(finish);
        assert_eq!((calls, map.pending_dead()), (1, 1));
    });
    assert_eq!(woken.take(), 1, "that of the first");
}
