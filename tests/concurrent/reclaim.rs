//! N185: When what dead entries own is dropped.

use std::sync::{Arc, Mutex};
use std::thread::{self};

use weakly::Reclaim::{OnRequest, OnUse};
use weakly::Strong;
use weakly::concurrent::WeakValueMap;

use crate::common::custom::{Custom, On};
use crate::common::scaled;
use crate::faces::*;

for_each_owning!(
    kit: no_other_operation_drops,
    its_end_drops_what_is_kept,
    small_threads_drop_only_on_request,
);

/// More than one turn reclaims.
const MANY: usize = scaled(100, 40);

/// A collection that reclaims on request, with the entries `0..n`, and their lives.
fn on_request<D: Collection + ?Sized>(kit: Kit<D>, n: usize, ends: &Ends) -> (Box<D>, Vec<Handle>) {
    let lives = kit.lives(n);
    let all = kit.empty();
    assert_eq!(all.reclaim(), OnUse);
    all.set_reclaim(OnRequest);
    assert_eq!(all.reclaim(), OnRequest);
    lives.iter().for_each(|life| _ = all.enter(life, ends));
    (all, lives)
}

/// 185: Everything that may unlink dead entries, except the operations that drop what they own.
fn no_other_operation_drops(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let ends = count.ends();
    let (all, dead) = on_request(kit, MANY, &ends);
    drop(dead);
    // In the places of the dead, most of which are still there; and more.
    let mut lives = kit.lives(10 * MANY);
    lives
        .iter()
        .for_each(|life| assert!(all.enter(life, &ends)));
    assert_eq!(count.get(), 0, "replaced, drained");
    let mut removed = 0;
    let mut step = |change: &mut dyn FnMut(&Handle), goes: usize| {
        let life = lives.pop().unwrap();
        drop(lives.pop());
        change(&life);
        removed += goes;
        assert_eq!(count.get(), removed, "only what lived");
    };
    step(&mut |life| assert!(all.leave(life)), 1);
    step(&mut |life| assert!(all.leave_if(life, &mut || true)), 1);
    step(&mut |life| all.retain(&mut |number| number != **life), 1);
    step(&mut |life| assert!(!all.enter(life, &ends)), 1);
    assert_eq!(all.len_live(), lives.len());
    drop(lives);
    let other = kit.life(7);
    assert!(all.enter(&other, &ends));
    assert_eq!(count.get(), removed);
    all.purge();
    assert_eq!((all.counts(), count.get()), ((1, 1, 0), 11 * MANY + 1));
}

/// 185: `purge`, `clear`, the end of the collection, and the end of the policy.
fn its_end_drops_what_is_kept(kit: Kit<dyn Changing>) {
    let ways: [fn(Box<dyn Changing>); 4] = [
        drop,
        |all| _ = all.purge(),
        |all| {
            all.clear();
            assert_eq!((all.reclaim(), all.counts()), (OnRequest, (0, 0, 0)));
        },
        |all| {
            all.set_reclaim(OnRequest); // again: no effect
            assert_ne!(all.pending_dead(), 0);
            all.set_reclaim(OnUse);
            assert_eq!(all.reclaim(), OnUse);
            assert_eq!(all.pending_dead(), 0);
        },
    ];
    for end in ways {
        let count = Count::default();
        let (all, dead) = on_request(kit, MANY, &count.ends());
        drop(dead);
        // Unlinks some of the dead, or all if they are swept.
        for life in kit.lives(if kit.notifies { 1 } else { MANY }) {
            all.enter(&life, &quietly());
        }
        assert_eq!(count.get(), 0);
        end(all);
        assert_eq!(count.get(), MANY);
    }
}

/// 185: Threads insert, replace and kill at once: nothing is dropped before it is requested, and everything once.
fn small_threads_drop_only_on_request(kit: Kit<dyn Changing>) {
    let rounds = scaled(200, 6);
    let count = Count::default();
    let ends = count.ends();
    let (all, _) = on_request(kit, 0, &ends);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (all, ends, count) = (&all, &ends, &count);
            scope.spawn(move || {
                for round in 0..rounds {
                    // Names of this thread's own: no other thread replaces live ones.
                    let life = kit.life(thread + 4 * (round % 8));
                    assert!(all.enter(&life, ends));
                    assert!(all.has(&life));
                    drop(life);
                    assert_eq!(count.get(), 0);
                }
            });
        }
    });
    assert_eq!((all.len_live(), count.get()), (0, 0));
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0));
    // With more threads inside than slots, some may have to wait for the end of the collection.
    drop(all);
    assert_eq!(count.get(), 4 * rounds);
}

/// 185: The value is dead for the map when its destructor runs, and its death is not notified yet: the key that a new
/// entry replaces there is kept.
#[test]
fn a_key_replaced_in_the_destructor_is_kept() {
    let count = Count::default();
    let map = Arc::new(WeakValueMap::<Custom, Strong<Custom>>::new());
    map.set_reclaim(OnRequest);
    let (all, next) = (map.clone(), Mutex::new(None));
    let value = Strong::new(Custom::from(1).on(On::Drop, move |_| {
        let value = Strong::new(Custom::from(2));
        assert!(all.insert(0.into(), &value).is_none());
        *next.lock().unwrap() = Some(value);
    }));
    let counts = count.clone();
    map.insert(
        Custom::from(0).on(On::Drop, move |_| _ = counts.add()),
        &value,
    );
    drop(value);
    assert_eq!(count.get(), 0);
    map.purge();
    assert_eq!((count.get(), map.len(), map.pending_dead()), (1, 0, 0));
}
