//! Many threads at once, compared with the ground truth.

use std::collections::HashMap;
use std::thread;

use super::*;
use crate::panics::FirstPanic;

const THREADS: u64 = if cfg!(miri) { 3 } else { 6 };

fn steps() -> u64 {
    let steps = std::env::var("WEAKLY_STRESS").ok();
    steps
        .and_then(|steps| steps.parse().ok())
        .unwrap_or(if cfg!(miri) { 40 } else { 5_000 })
}

/// Runs threads. Each thread has keys of its own, which no other thread changes, and knows their
/// values. Other threads read the keys, and all threads take turns at common keys. The value of an
/// entry contains its key, so a mismatch is detected. Each entry counts its end.
fn stress<const PROMPT: bool>(hash: impl Fn(u64) -> u64 + Sync, keys: u64) {
    let ends = Arc::new(AtomicUsize::new(0));
    let made = AtomicUsize::new(0);
    let table = RawTable::<Node<PROMPT>>::new();
    let make = |key: u64, version: u64| {
        made.fetch_add(1, Relaxed);
        let mut node = Node::counted(hash(key), key, &ends);
        node.value = key << 32 | version;
        node
    };
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (table, make, hash) = (&table, &make, &hash);
            scope.spawn(move || {
                let mut truth = HashMap::new();
                let mut random = Random(me + 1);
                let own = |n: u64| n * (THREADS + 1) + me;
                for step in 0..steps() {
                    let n = random.below(keys);
                    match random.below(10) {
                        0..=2 => {
                            let key = own(n);
                            let old = table.insert(make(key, step));
                            assert_eq!(old, truth.insert(key, key << 32 | step));
                        }
                        3..=5 => {
                            let key = own(n);
                            assert_eq!(table.take(hash(key), key), truth.remove(&key));
                        }
                        6 => {
                            let key = own(n);
                            assert_eq!(table.value(hash(key), key), truth.get(&key).copied());
                        }
                        // A key of any thread.
                        7 => {
                            let key = n * (THREADS + 1) + random.below(THREADS + 1);
                            let value = table.value(hash(key), key);
                            assert!(value.is_none_or(|value| value >> 32 == key));
                        }
                        8 => {
                            let key = n * (THREADS + 1) + THREADS;
                            let old = table.insert(make(key, step));
                            assert!(old.is_none_or(|value| value >> 32 == key));
                        }
                        _ => {
                            let key = n * (THREADS + 1) + THREADS;
                            let old = table.take(hash(key), key);
                            assert!(old.is_none_or(|value| value >> 32 == key));
                        }
                    }
                    if step % 256 == 100 {
                        table.write().shrink_to_fit();
                    }
                    if step % 1024 == 7 {
                        let reader = table.read();
                        let mut mine = 0;
                        for node in reader.entries() {
                            if node.key % (THREADS + 1) == me {
                                assert_eq!(truth.get(&node.key), Some(&node.value));
                                mine += 1;
                            }
                        }
                        assert_eq!(mine, truth.len(), "each of them, once");
                    }
                }
            });
        }
    });
    let there = table.read().entries().len();
    assert_eq!(there, table.len());
    // No thread is inside, but entries may wait in bags.
    table.empty_bags(true, usize::MAX, &mut FirstPanic::default());
    drop(table.write());
    assert_eq!(made.load(Relaxed) - ends.load(Relaxed), there);
    drop(table);
    assert_eq!(made.load(Relaxed), ends.load(Relaxed));
}

#[test]
fn small() {
    stress::<true>(spread, 4);
}

#[test]
fn growing() {
    stress::<true>(spread, if cfg!(miri) { 30 } else { 5000 });
}

#[test]
fn without_destructors() {
    stress::<false>(spread, 100);
}

#[test]
fn equal_hashes() {
    stress::<true>(|_| 1, 5);
}

#[test]
fn equal_tags() {
    stress::<true>(|key| key, 60);
}
