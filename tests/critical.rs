//! N310: Under a lock of ours, or while a thread-local of ours is borrowed, nothing is allocated or freed: an allocator is user
//! code, and may use a collection. A program of its own, for its allocator, which asks each time. (A release build does not
//! know, so there only `critical/inside.rs` shows something.) And a death allocates nothing:
//!
//! * `critical/locks.rs`: all that takes a lock, or borrows a thread-local.
//! * `critical/inside.rs`: an allocator that uses the collections.
//! * `critical/visits.rs`: whatever looks at entries, or changes them.
//! * `critical/deaths.rs`: deaths, on whatever thread.

mod common;
#[path = "critical/deaths.rs"]
mod deaths;
#[path = "critical/inside.rs"]
mod inside;
#[path = "critical/locks.rs"]
mod locks;
#[path = "critical/visits.rs"]
mod visits;
#[path = "critical/world.rs"]
mod world;

use std::alloc::Layout;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hasher};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use common::heap::{Heap, Watcher};
use common::{in_time, scaled};
use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakValueMap};

const MANY: usize = scaled(600, 24);
const ROUNDS: usize = scaled(4, 1);

/// How often memory was allocated and freed under a lock, on any thread.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicUsize = AtomicUsize::new(0);

struct Asking;

#[global_allocator]
static HEAP: Heap<Asking> = Heap(Asking);

impl Watcher for Asking {
    fn allocates(&self, _: Layout) -> bool {
        ALLOCATED.fetch_add(weakly::__in_critical_section().into(), Relaxed);
        deaths::allocates();
        inside::is_called();
        true
    }

    fn frees(&self, _: Layout) {
        FREED.fetch_add(weakly::__in_critical_section().into(), Relaxed);
        inside::is_called();
    }
}

/// Hashes numbers to as few hashes as this says, one after the other. So they share a few long chains, and a longer
/// array divides a chain into two long ones.
#[derive(Clone, Copy)]
struct Crowded(u64);

struct Remainder(u64, u64);

impl BuildHasher for Crowded {
    type Hasher = Remainder;

    fn build_hasher(&self) -> Remainder {
        Remainder(self.0, 0)
    }
}

impl Hasher for Remainder {
    fn finish(&self) -> u64 {
        self.1 % self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are numbers")
    }

    fn write_usize(&mut self, number: usize) {
        self.1 = number as u64;
    }
}

fn objects() -> Vec<Strong<usize>> {
    (0..MANY).map(Strong::new).collect()
}

/// Those that stay before a map shrinks: too many of each hash for one bucket.
fn stays(number: usize) -> bool {
    number < 64 && number % 4 == 0
}

/// All that changes buckets, on as many threads at once: a function of this name.
macro_rules! script {
    ($name:ident: $map:ty, |$into:ident, $object:ident| $insert:expr) => {
        fn $name(threads: usize, hashes: u64) {
            let map = <$map>::with_hasher(Crowded(hashes));
            let insert = |$object: &Strong<usize>| {
                let $into = &map;
                _ = $insert;
            };
            let objects = objects();
            let together = Barrier::new(threads);
            let run = || {
                for _ in 0..ROUNDS {
                    together.wait();
                    // It grows, and then all are replaced.
                    objects.iter().chain(&objects).for_each(insert);
                    map.retain(|key, _| *Borrow::<usize>::borrow(key) % 3 != 1);
                    objects.iter().for_each(insert);
                    for number in (0..MANY).filter(|number| !stays(*number)) {
                        map.remove(&number);
                    }
                    map.shrink_to_fit();
                    // It grows by what dies soon.
                    self::objects().iter().for_each(insert);
                    map.purge();
                    objects.iter().for_each(insert);
                    together.wait();
                    assert_eq!(map.len(), MANY);
                    together.wait();
                    map.clear();
                    map.shrink_to_fit();
                }
            };
            thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(run)));
        }
    };
}

script!(keys: WeakHashMap<Strong<usize>, Box<usize>, Crowded>, |map, object| {
    map.insert(object, Box::new(1))
});
script!(values: WeakValueMap<usize, Strong<usize>, Crowded>, |map, object| {
    map.insert(**object, object)
});

fn nothing_under_a_lock(script: fn(usize, u64), threads: usize) {
    // One hash; and two for each bucket of the shortest array, which longer ones divide.
    for hashes in [1, 8] {
        in_time(move || script(threads, hashes));
    }
    nothing_found();
}

fn nothing_found() {
    let found = (ALLOCATED.load(Relaxed), FREED.load(Relaxed));
    assert_eq!(found, (0, 0), "allocated and freed under a lock");
}

/// 310
#[test]
fn keys_by_one_thread() {
    nothing_under_a_lock(keys, 1);
}

/// 310
#[test]
fn keys_by_two_threads() {
    nothing_under_a_lock(keys, 2);
}

/// 310
#[test]
fn values_by_one_thread() {
    nothing_under_a_lock(values, 1);
}

/// 310
#[test]
fn values_by_two_threads() {
    nothing_under_a_lock(values, 2);
}
