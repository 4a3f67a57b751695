//! L. Many threads, one collection.

use std::cell::RefCell;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::concurrent::WeakMap;

use crate::common::scaled;
use crate::faces::*;
use crate::for_each_pointer;

for_each_collection!(
    kit: small_a_key_may_die_on_a_thread_without_the_collection,
    small_a_collection_is_dropped_while_its_objects_die,
    objects_may_die_while_their_thread_exits,
    a_collection_may_be_used_last_by_an_exiting_thread,
    iteration_against_deaths_and_insertions,
    collections_do_not_wait_for_each_other,
);

for_each_changing!(
    kit: );

for_each_pointer!(small_two_drain_what_a_third_lets_die,);

const MANY: usize = scaled(2_000, 12);

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

/// 119, 162: An iterator shows every entry that lives throughout, and none twice.
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
