//! Threads that use objects and maps while these are purged of cycles.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};

use weakly::{
    Strong, WeakMap, concurrent,
    cycles::{Cycles, Trace, Tracer},
    impl_trace,
};

use crate::tools::{Shared, shared};

/// Objects that lead to each other in a ring.
fn ring(length: usize) -> Vec<Strong<Shared>> {
    let ring: Vec<_> = (0..length).map(shared).collect();
    for (at, node) in ring.iter().enumerate() {
        assert!(node.own.set(ring[(at + 1) % length].clone()).is_ok());
    }
    ring
}

fn rounds() -> usize {
    if cfg!(miri) { 3 } else { 300 }
}

/// A thread always has a pointer to some object of a ring that leads to all keys: nobody takes them for the ring's alone
/// before its end. (The pointers to the ring are in the values, so all of them are shown.)
#[test]
fn small_a_thread_that_wanders() {
    for round in 0..rounds() {
        let nodes = ring(4);
        let mut map = WeakMap::new();
        for (at, node) in nodes.iter().enumerate() {
            map.insert(node, nodes[(at + 2) % nodes.len()].clone());
        }
        let start = nodes[0].clone();
        drop(nodes);
        let stop = AtomicBool::new(false);
        let here = std::thread::scope(|scope| {
            let wanderer = scope.spawn(|| {
                let mut here = start;
                while !stop.load(Relaxed) {
                    let next = here.own.get().unwrap().clone();
                    here = next;
                }
                here
            });
            let purged: Vec<_> = (0..10).map(|_| map.purge_cycles()).collect();
            // Before anything fails: the scope waits for it.
            stop.store(true, Relaxed);
            for purged in purged {
                assert_eq!((purged.removed, purged.kept), (0, 0), "{round}");
            }
            wanderer.join().unwrap()
        });
        assert!(here.number < 4);
        drop(here);
        // The ring leads to itself: it leaks, with its entries.
        let purged = map.purge_cycles();
        assert_eq!((purged.removed, purged.kept, map.len()), (0, 4, 4));
    }
}

/// Objects that own each other keep their entries while threads purge, also if all know them weakly only.
#[test]
fn small_threads_find_what_lives() {
    let map = concurrent::WeakMap::new();
    let nodes = ring(4);
    for node in &nodes {
        map.insert(node, node.clone());
    }
    let weak: Vec<_> = nodes.iter().map(Strong::downgrade).collect();
    drop(nodes);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (map, weak) = (&map, &weak);
            scope.spawn(move || {
                for round in 0..rounds() {
                    let node = weak[(round + thread) % weak.len()].upgrade().unwrap();
                    assert!(map.contains_key(&node));
                    drop(node);
                    if round % 4 == thread {
                        assert_eq!(map.purge_cycles().removed, 0);
                    }
                }
            });
        }
    });
    // (It leaks.)
    assert_eq!(map.purge_cycles().kept, 4);
}

/// Threads insert into shared maps, look up, and purge, at the same time. What is held stays, with its entry.
#[test]
fn small_threads_purge_shared_maps() {
    let (one, other) = (concurrent::WeakMap::new(), concurrent::WeakMap::new());
    let held: Vec<_> = (0..10).map(shared).collect();
    for key in &held {
        one.insert(key, (*key).clone());
    }
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (one, other, held) = (&one, &other, &held);
            scope.spawn(move || {
                for round in 0..rounds() {
                    let (a, b) = (shared(round), shared(round));
                    one.insert(&a, b.clone());
                    other.insert(&b, a.clone());
                    let seen = Strong::clone(&a);
                    drop((a, b));
                    if round % 8 == thread {
                        _ = Cycles::new().with(one).with(other).purge();
                    }
                    assert_eq!(one.get(&seen).map(|it| it.number), Some(round));
                    let key = &held[round % held.len()];
                    assert!(one.contains_key(key));
                }
            });
        }
    });
    _ = Cycles::new().with(&one).with(&other).purge();
    assert_eq!((one.len(), other.len()), (held.len(), 0));
    for key in &held {
        assert_eq!(one.get(key).map(|it| it.number), Some(key.number));
    }
    one.clear();
}

/// Shows nothing; the search stops there until the test lets it go on.
struct Gate<'a>(&'a Barrier);

impl Trace for Gate<'_> {
    fn trace(&self, _: &mut Tracer<'_>) {
        self.0.wait();
        self.0.wait();
    }
}

struct Locked {
    lock: Mutex<Option<Strong<Shared>>>,
    gate: Gate<'static>,
}

impl_trace!(Locked: lock, gate);

/// A lock behind an `Rc` that a shared map's value owns: `with` lends it to another thread, which moves a pointer out of
/// it after the search has passed. Its object lives, and keeps its entry.
#[test]
fn what_is_behind_the_value_of_a_shared_map_is_shared() {
    static GATE: Barrier = Barrier::new(2);
    let map = concurrent::WeakMap::<Strong<Shared>, Rc<Locked>>::new();
    let key = shared(1);
    let lock = Mutex::new(Some(key.clone()));
    map.insert(
        &key,
        Rc::new(Locked {
            lock,
            gate: Gate(&GATE),
        }),
    );
    let weak = Strong::downgrade(&key);
    let moved_out = map.with(&weak, |value| {
        drop(key);
        let lock = &value.lock;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                GATE.wait();
                let key = lock.lock().unwrap().take();
                GATE.wait();
                key
            });
            assert_eq!(map.purge_cycles().removed, 0);
            other.join().unwrap()
        })
    });
    assert!(
        moved_out
            .flatten()
            .is_some_and(|key| map.contains_key(&key))
    );
}
