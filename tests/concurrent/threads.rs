//! L. Many threads, one collection.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::reference::WeakRef;

use crate::bags::BAG;
use crate::common::scaled;
use crate::faces::*;
use crate::for_each_pointer;

for_each_collection!(
    kit: small_a_key_may_die_on_a_thread_without_the_collection,
    objects_die_elsewhere_while_many_come,
    small_a_collection_is_dropped_while_its_objects_die,
    objects_may_die_while_their_thread_exits,
    a_collection_may_be_used_last_by_an_exiting_thread,
    threads_come_and_go,
    iteration_against_deaths_and_insertions,
    collections_do_not_wait_for_each_other,
);

for_each_changing!(
    kit: threads_change_entries_of_their_own,
    small_threads_change_the_same_entries,
);

for_each_pointer!(
    small_a_lookup_against_a_death_finds_its_value_or_none,
    small_two_drain_what_a_third_lets_die,
);

const MANY: usize = scaled(2_000, 12);

/// L157: Each thread changes entries of its own.
fn threads_change_entries_of_their_own(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let all = kit.empty();
    thread::scope(|scope| {
        for thread in 0..4 {
            let (all, count) = (&all, &count);
            scope.spawn(move || {
                let lives: Vec<Handle> = (0..MANY).map(|n| kit.life(thread * MANY + n)).collect();
                for life in &lives {
                    assert!(!all.has(life));
                    assert!(all.enter(life, &count.ends()));
                    assert!(all.has(life));
                }
                for (n, life) in lives.iter().enumerate() {
                    assert_eq!((n % 2 == 0) && all.leave(life), n % 2 == 0);
                    assert_eq!(all.has(life), n % 2 != 0);
                }
            });
        }
    });
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0));
    assert_eq!(count.get(), kit.owned(4 * MANY));
}

/// L157: Of the threads that remove the same entry, one gets it; an entry that was inserted more often than it
/// was removed is there.
fn small_threads_change_the_same_entries(kit: Kit<dyn Changing>) {
    let (threads, turns) = (scaled(4, 2), scaled(2_000, 8));
    let count = Count::default();
    let all = kit.empty();
    let lives = kit.lives(2);
    let (entered, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..threads {
            let (all, lives, count) = (&all, &lives, &count);
            let (entered, left) = (&entered, &left);
            scope.spawn(move || {
                for turn in 0..turns {
                    let life = &lives[(turn + thread) % lives.len()];
                    if all.enter(life, &count.ends()) {
                        entered.fetch_add(1, Relaxed);
                    }
                    all.has(life);
                    if all.leave(life) {
                        left.fetch_add(1, Relaxed);
                    }
                }
            });
        }
    });
    // Each has removed after it has inserted. Where nothing has a destructor, that may wait in the threads' bags.
    assert!(all.counts().2 <= threads * BAG);
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0));
    assert_eq!(entered.load(Relaxed), left.load(Relaxed));
    // No thread is inside any more. (A set may have kept an element that was there.)
    assert_eq!(count.get(), kit.owned(threads * turns));
}

/// L160: The death is notified, and what the entry owns is dropped where the collection is used.
fn small_a_key_may_die_on_a_thread_without_the_collection(kit: Kit) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ends: Ends = {
        let seen = seen.clone();
        Arc::new(move |_| seen.lock().unwrap().push(thread::current().id()))
    };
    let lives = kit.lives(4);
    let all = kit.of(&lives, &ends);
    thread::spawn(move || drop(lives)).join().unwrap();
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(all.counts(), (4 - kit.notified(4), 0, kit.notified(4)));
    all.purge();
    let here = thread::current().id();
    assert_eq!(*seen.lock().unwrap(), vec![here; kit.owned(4)]);
}

/// L159, C57: Objects die on other threads while more are inserted; the capacity does not grow, and everything
/// is dropped once.
fn objects_die_elsewhere_while_many_come(kit: Kit) {
    let count = Count::default();
    let all = kit.empty();
    let rounds = scaled(100, 3);
    let each = 40;
    thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::sync_channel::<Vec<Handle>>(4);
        scope.spawn(move || receive.into_iter().for_each(drop));
        for round in 0..rounds {
            let lives: Vec<Handle> = (0..each).map(|n| kit.life(round * each + n)).collect();
            for life in &lives {
                all.enter(life, &count.ends());
            }
            assert!(lives.iter().all(|life| all.has(life)));
            // Seven rounds may be alive, and as many dead, not yet drained or swept.
            assert!(all.len() <= 7 * each * 4, "{}", all.len());
            send.send(lives).unwrap();
        }
    });
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0));
    assert_eq!(count.get(), kit.owned(rounds * each));
}

/// L161: A lookup finds the value of its key, or nothing once the key is dead.
fn small_a_lookup_against_a_death_finds_its_value_or_none<P: Kind>() {
    for n in 0..scaled(400, 3) {
        let map = WeakMap::<Life<P>, usize>::new();
        let key = Life::<P>::from(n);
        map.insert(&key, n);
        let weak = <Life<P> as weakly::reference::WeakKey>::downgrade(&key);
        thread::scope(|scope| {
            scope.spawn(move || drop(key));
            scope.spawn(|| map.purge());
            while let Some(found) = map.get(&weak) {
                assert_eq!(found, n);
                thread::yield_now();
            }
            assert!(weak.upgrade().is_none());
        });
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}

/// L162: An iterator shows every entry that lives throughout, and none twice.
fn iteration_against_deaths_and_insertions(kit: Kit) {
    let all = kit.empty();
    let steady = kit.lives(scaled(50, 4));
    for life in &steady {
        all.enter(life, &quietly());
    }
    let over = Over::default();
    thread::scope(|scope| {
        for thread in 1..3 {
            let (all, over) = (&all, &over);
            scope.spawn(move || {
                let mut n = thread * 1_000_000;
                while !over.is_near() {
                    let some: Vec<Handle> = (n..n + 8).map(|n| kit.life(n)).collect();
                    some.iter().for_each(|life| _ = all.enter(life, &quietly()));
                    n += 8;
                }
            });
        }
        let _end = over.at_the_end();
        for _ in 0..scaled(100, 3) {
            let numbers = all.numbers();
            assert!(numbers.windows(2).all(|two| two[0] < two[1]), "twice");
            assert!(
                numbers
                    .iter()
                    .take(steady.len())
                    .eq(steady.iter().map(|life| &**life))
            );
        }
    });
    all.purge();
    assert_eq!(all.counts(), (steady.len(), steady.len(), 0));
}

/// L163: The end of a collection races with the deaths of its objects, on two threads; what it owns is dropped
/// once.
fn small_a_collection_is_dropped_while_its_objects_die(kit: Kit) {
    for _ in 0..scaled(100, 2) {
        let count = Count::default();
        let mut some = kit.lives(8);
        let all = kit.of(&some, &count.ends());
        let others = some.split_off(4);
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            for lives in [some, others] {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    drop(lives);
                });
            }
            barrier.wait();
            drop(all);
        });
        assert_eq!(count.get(), kit.owned(8));
    }
}

thread_local! {
    static KEPT: RefCell<Option<Box<dyn std::any::Any>>> = const { RefCell::new(None) };
}

/// D73, L165: A handle in a thread-local, which is dropped at the end of its thread.
fn objects_may_die_while_their_thread_exits(kit: Kit) {
    let count = Count::default();
    let lives = kit.lives(20);
    let all = kit.of(&lives, &count.ends());
    thread::spawn(move || KEPT.set(Some(Box::new(lives))))
        .join()
        .unwrap();
    assert_eq!((all.len_live(), all.pending_dead()), (0, kit.notified(20)));
    all.purge();
    assert_eq!((all.counts(), count.get()), ((0, 0, 0), kit.owned(20)));
}

/// Uses a collection when it is dropped.
struct UsesOnDrop(Arc<dyn Collection>, Vec<Handle>, Count);

impl Drop for UsesOnDrop {
    fn drop(&mut self) {
        let UsesOnDrop(all, lives, count) = self;
        for life in lives.drain(..) {
            all.enter(&life, &count.ends());
            assert!(all.has(&life));
        }
        all.purge();
        all.clear();
    }
}

/// L165: A thread uses a collection while its thread-locals are destroyed; whichever of ours are gone by then.
fn a_collection_may_be_used_last_by_an_exiting_thread(kit: Kit) {
    for used_before in [false, true] {
        let count = Count::default();
        let all = Arc::<dyn Collection>::from(kit.empty());
        let uses_on_drop = UsesOnDrop(all.clone(), kit.lives(20), count.clone());
        thread::spawn(move || {
            // Before or after the collection's own thread-locals.
            if used_before {
                uses_on_drop.0.enter(&uses_on_drop.1[0], &quietly());
                uses_on_drop.0.purge();
            }
            KEPT.set(Some(Box::new(uses_on_drop)));
        })
        .join()
        .unwrap();
        assert_eq!((all.counts(), count.get()), ((0, 0, 0), kit.owned(20)));
        assert_eq!(Arc::strong_count(&all), 1);
    }
}

/// L165: Other threads find what a thread that has ended leaves behind.
fn threads_come_and_go(kit: Kit) {
    let count = Count::default();
    let all = kit.empty();
    let mut lives = Vec::new();
    for n in 0..scaled(50, 4) {
        let (all, count) = (&all, &count);
        let life = thread::scope(|scope| {
            let come = scope.spawn(move || {
                let some: [Handle; 2] = [2 * n, 2 * n + 1].map(|n| kit.life(n));
                some.iter()
                    .for_each(|life| _ = all.enter(life, &count.ends()));
                let [stays, _goes] = some;
                stays
            });
            come.join().unwrap()
        });
        lives.push(life);
    }
    assert!(lives.iter().all(|life| all.has(life)));
    all.purge();
    assert_eq!(all.counts(), (lives.len(), lives.len(), 0));
    assert_eq!(count.get(), kit.owned(lives.len()));
}

/// D71, L159: Two threads drain while a third kills: what each entry owns is dropped once.
fn small_two_drain_what_a_third_lets_die<P: Kind>() {
    let count = Count::default();
    let map = Maps::<Life<P>>::new();
    let lives = lives::<P>(MANY);
    for life in &lives {
        map.insert(life, owned(**life, &count.ends()));
    }
    let over = Over::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.is_near() {
                    map.purge();
                    assert!(map.pending_dead() <= MANY);
                    thread::yield_now();
                }
            });
        }
        let _end = over.at_the_end();
        lives.into_iter().for_each(drop);
    });
    map.purge();
    assert_eq!((map.len(), map.pending_dead(), count.get()), (0, 0, MANY));
}

/// L164: A thread that stays inside one collection delays no thread in another, nor the drops there.
fn collections_do_not_wait_for_each_other(kit: Kit) {
    let count = Count::default();
    let (one, other) = (WeakMap::new(), kit.empty());
    let key = weakly::Strong::new(1_usize);
    one.insert(&key, 1_usize);
    one.with(&key, |_| {
        let lives = kit.lives(20);
        for life in &lives {
            other.enter(life, &count.ends());
        }
        drop(lives);
        other.purge();
        assert_eq!((other.counts(), count.get()), ((0, 0, 0), kit.owned(20)));
    });
}

/// What the chapter *costs* says of an empty collection.
#[test]
#[cfg(target_pointer_width = "64")]
fn small_an_empty_collection_takes_one_or_two_cache_lines() {
    assert_eq!(size_of::<WeakMap<weakly::Strong<u8>, u8>>(), 64);
    assert_eq!(
        size_of::<weakly::concurrent::WeakHashMap<weakly::Strong<u8>, u8>>(),
        128
    );
}
