//! What a thread destroys when it leaves, and what it leaves to others.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::mpsc::channel;
use std::thread;

use weakly::{Reclaim, Strong};

use crate::common::{scaled, sized};
use crate::faces::{Count, Ends, Maps, ending, owned, token};

std::thread_local! {
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// C41: A thread that removes an entry while it reads another destroys nothing before it has read, not even what
/// others have removed and are about to destroy.
#[test]
fn no_destructor_runs_while_its_thread_reads() {
    let inside = Arc::new(AtomicUsize::new(0));
    let ends: Ends = {
        let inside = inside.clone();
        Arc::new(move |_| _ = inside.fetch_add(usize::from(READS.get()), Relaxed))
    };
    let map = Maps::new();
    let read = Strong::new(0);
    map.insert(&read, owned(0, &ends));
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
                map.insert(&own, owned(1, &ends));
                map.remove_if(&own, |_| true);
            }
        });
        let own = Strong::new(2);
        for _ in 0..sized(100_000, 20_000, 100) {
            map.insert(&own, owned(1, &ends));
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
    let [flag, seen] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    // (It does not wait: only this thread would end that.)
    let waits = {
        let (flag, seen) = (flag.clone(), seen.clone());
        ending(move || seen.store(flag.load(Acquire), Release))
    };
    let sets = ending(move || flag.store(true, Release));
    let map = Maps::new();
    let keys = [Strong::new(1), Strong::new(2)];
    map.insert(&keys[0], waits);
    map.insert(&keys[1], sets);
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

/// 185: What waits for a thread that is inside is counted until it is destroyed, however it has gone: dead, removed or
/// replaced. What never was an entry is not: arrays of a table that grows, flights.
#[test]
fn what_waits_for_a_thread_is_counted() {
    const MANY: usize = scaled(1_000, 100);
    let map = Maps::new();
    let (read, own) = (Strong::new(0), Strong::new(1));
    map.insert(&read, token());
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        let dropped = Count::default();
        let ends = dropped.ends();
        let counts = || (map.len(), map.pending_dead(), dropped.get());
        map.set_reclaim(reclaim);
        map.with(&read, |_| {
            let keys: Vec<_> = (0..MANY).map(Strong::new).collect();
            for key in &keys {
                map.insert(key, owned(0, &ends));
            }
            drop(keys);
            map.purge();
            assert_eq!(counts(), (1, MANY, 0), "dead");
            map.insert(&own, owned(0, &ends));
            map.insert(&own, owned(0, &ends));
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
