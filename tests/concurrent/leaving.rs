//! What a thread destroys when it leaves, and what it leaves to others.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::mpsc::channel;
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::{AttributeKey, Attributes, Memo, Reclaim, Strong};

use crate::common::{scaled, sized};

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
        for _ in 0..sized(100_000, 20_000, 100) {
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
                // (It does not wait: only this thread would end that.)
                Value::Waits(flag, seen) => seen.store(flag.load(Acquire), Release),
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

/// What waits for a thread that is inside is counted until it is destroyed, however it has gone: dead, removed or
/// replaced. What never was an entry is not: arrays of a table that grows, flights.
#[test]
fn what_waits_for_a_thread_is_counted() {
    struct Value<'c>(&'c AtomicUsize);
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    const MANY: usize = scaled(1_000, 100);
    let dropped = AtomicUsize::new(0);
    let map = WeakMap::new();
    let counts = || (map.len(), map.pending_dead(), dropped.load(Relaxed));
    let (read, own) = (Strong::new(0), Strong::new(1));
    map.insert(&read, Value(&dropped));
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        dropped.store(0, Relaxed);
        map.set_reclaim(reclaim);
        map.with(&read, |_| {
            let keys: Vec<_> = (0..MANY).map(Strong::new).collect();
            for key in &keys {
                map.insert(key, Value(&dropped));
            }
            drop(keys);
            map.purge();
            assert_eq!(counts(), (1, MANY, 0), "dead");
            map.insert(&own, Value(&dropped));
            map.insert(&own, Value(&dropped));
            assert_eq!(counts(), (2, MANY + 1, 0), "replaced");
            assert!(map.remove_if(&own, |_| true));
            assert_eq!(counts(), (1, MANY + 2, 0), "removed");
            map.shrink_to_fit();
            assert_eq!(counts(), (1, MANY + 2, 0), "an array");
        });
        let kept = if reclaim == Reclaim::OnUse { 0 } else { MANY };
        assert_eq!(counts(), (1, kept, MANY + 2 - kept));
        map.purge();
        assert_eq!(counts(), (1, 0, MANY + 2));
    }
}

/// Likewise of attributes and of results, whose computations do not count.
#[test]
fn so_are_attributes_and_results() {
    #[derive(PartialEq, Eq, Hash)]
    struct Number;
    impl AttributeKey for Number {
        type Value = usize;
    }
    let (read, dead) = (Strong::new(0_usize), Strong::new(1));
    let all = Attributes::new();
    let memo = Memo::<Strong<usize>, WhenCloned>::new();
    for object in [&read, &dead] {
        all.insert(object, Number, 0_usize);
    }
    let while_read = all.with(&read, Number, |_| {
        drop(dead);
        all.purge();
        all.pending_dead()
    });
    assert_eq!(while_read, Some(1));
    assert_eq!(all.pending_dead(), 0);

    type Action = dyn Fn() + Send + Sync;
    struct WhenCloned(Arc<Action>);
    impl Clone for WhenCloned {
        fn clone(&self) -> Self {
            (self.0)();
            WhenCloned(Arc::clone(&self.0))
        }
    }
    let memo = Arc::new(memo);
    let seen = Arc::new(AtomicUsize::new(0));
    let act = {
        let (memo, seen) = (Arc::downgrade(&memo), Arc::clone(&seen));
        move || {
            let memo = memo.upgrade().expect("it is asked");
            let before = memo.pending_dead();
            let dead = Strong::new(2_usize);
            memo.get_or_compute(&dead, |_| WhenCloned(Arc::new(|| ())));
            drop(dead);
            memo.purge();
            seen.store(memo.pending_dead() - before, Relaxed);
        }
    };
    memo.get_or_compute(&read, |_| WhenCloned(Arc::new(act)));
    assert!(memo.get(&read).is_some());
    assert_eq!((seen.load(Relaxed), memo.pending_dead()), (1, 0));
}
