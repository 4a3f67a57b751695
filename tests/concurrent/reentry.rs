//! Destructors and closures that use the collection that runs them, and those that panic.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};

use weakly::concurrent::{WeakMap, WeakValueMap};

use crate::common::custom::Custom;
use crate::common::subject::Life as _;
use crate::common::{in_time, panics, quiet_panic};
use crate::dynamic::*;
use crate::faces::*;
use crate::for_each_pointer;

for_each_owning!(
    kit: destructors_may_use_the_collection,
    a_destructor_that_panics_leaves_the_collection_usable,
);

for_each_pointer!(
    a_value_may_be_replaced_while_it_is_read,
    a_closure_may_do_anything_else,
    a_value_may_own_the_map,
);

/// What a destructor does to its collection.
type Act = fn(Kit<dyn Changing>, &dyn Changing, &Handle);

/// What makes a destructor run.
type Cause = fn(&dyn Changing, Vec<Handle>);

fn acts() -> [Act; 8] {
    [
        |_, all, life| _ = all.enter(life, &quietly()),
        |_, all, life| _ = all.leave(life),
        |_, all, _| _ = all.purge(),
        |_, all, _| assert!(all.purge_some(3) <= 3),
        |_, all, _| all.clear(),
        |_, all, _| all.retain(&mut |number| number % 2 == 0),
        |_, all, life| _ = all.has(life) || all.iter().count() > all.len_live(),
        |kit, all, life| {
            let new = kit.life(**life + 1);
            all.enter(&new, &quietly());
            assert!(all.has(&new));
        },
    ]
}

fn causes() -> [Cause; 6] {
    [
        |all, lives| {
            drop(lives);
            all.purge();
        },
        |all, lives| {
            drop(lives);
            // 0 only means that it has found none on its way.
            while all.purge_some(3) != 0 || all.len() != all.len_live() {}
        },
        |all, lives| all.retain(&mut |number| lives.len() < number),
        |all, lives| lives.iter().for_each(|life| _ = all.leave(life)),
        |all, lives| {
            for life in lives {
                all.enter(&life, &quietly());
            }
        },
        |all, _| all.clear(),
    ]
}

/// D64: Whatever makes it run, and whatever it does: each value is dropped once, and the collection stays
/// usable.
fn destructors_may_use_the_collection(kit: Kit<dyn Changing>) {
    for cause in causes() {
        for act in acts() {
            let count = Count::default();
            let kept = kit.life(1_000);
            let all = Arc::<dyn Changing>::from(kit.empty());
            let ends: Ends = {
                let (all, kept, count) = (Arc::downgrade(&all), kept.clone(), count.clone());
                Arc::new(move |_| {
                    count.add();
                    act(kit, &*all.upgrade().expect("it is there"), &kept);
                })
            };
            let lives = kit.lives(20);
            for life in &lives {
                all.enter(life, &ends);
            }
            cause(&*all, lives);
            all.purge();
            assert_eq!(count.get(), 20);
            all.enter(&kept, &quietly());
            assert!(all.has(&kept));
            drop(kept);
            all.clear();
            assert_eq!(all.counts(), (0, 0, 0));
        }
    }
}

/// D65: The panic surfaces in the operation that has caused the drop; nothing is dropped twice, the collection's
/// counts are right, and it stays usable.
fn a_destructor_that_panics_leaves_the_collection_usable(kit: Kit<dyn Changing>) {
    for cause in causes() {
        for culprit in [0, 7, 19] {
            let ended = Arc::new([const { AtomicUsize::new(0) }; 20]);
            let all = kit.empty();
            let ends: Ends = {
                let ended = ended.clone();
                Arc::new(move |number| {
                    ended[number].fetch_add(1, SeqCst);
                    if number == culprit {
                        quiet_panic();
                    }
                })
            };
            let lives = kit.lives(20);
            for life in &lives {
                all.enter(life, &ends);
            }
            assert!(panics(|| cause(&*all, lives)));
            all.purge();
            let counts = all.counts();
            assert_eq!((counts.0, counts.2), (counts.1, 0));
            assert!(all.numbers().len() <= counts.0);
            let count = Count::default();
            let more = kit.lives(40);
            for life in &more {
                all.enter(life, &count.ends());
                assert!(all.has(life));
            }
            drop(more);
            all.purge();
            all.clear();
            assert_eq!((all.counts(), count.get()), ((0, 0, 0), 40));
            let times = ended.each_ref().map(|times| times.load(SeqCst));
            assert!(times.iter().all(|times| *times <= 1), "{times:?}");
            assert_eq!(times[culprit], 1);
        }
    }
}

/// D63: The closure can use the value to its end, whatever it does to the entry.
fn a_value_may_be_replaced_while_it_is_read<P: Kind>() {
    let count = Count::default();
    let map = WeakMap::new();
    let key = Life::<P>::from(1);
    let value = |number| owned(number, &count.ends());
    map.insert(&key, value(1));
    let number = map.with(&key, |shown| {
        map.insert(&key, value(2));
        map.with(&key, |new| assert_eq!(new.number, 2));
        assert!(map.remove_if(&key, |_| true));
        map.purge();
        assert_eq!((map.len(), count.get()), (0, 0));
        shown.number
    });
    assert_eq!((number, count.get()), (Some(1), 2));
    // Even if the key dies with it.
    let last = Mutex::new(Some(Life::<P>::from(2)));
    let key = last.lock().unwrap().clone().unwrap();
    map.insert(&key, value(3));
    let weak = <Life<P> as weakly::reference::WeakKey>::downgrade(&key);
    drop(key);
    let number = map.with(&weak, |shown| {
        last.lock().unwrap().take();
        map.purge();
        shown.number
    });
    assert_eq!((number, count.get(), map.len()), (Some(3), 3, 0));
}

/// 157: It may set other entries, even of equal hash, and remove this one.
fn a_closure_may_do_anything_else<P: Kind>() {
    in_time(|| {
        let values = [0, 1, 2].map(|n| P::Custom::from(Custom::from(n)));
        let map = WeakValueMap::<Custom, _>::new();
        for turn in 0..3 {
            let got = map.compute_dyn(0.into(), &mut |_| {
                map.insert(1.into(), &values[1]);
                _ = map.compute_dyn(2.into(), &mut |_| Some(values[2].clone()));
                map.remove(&Custom::from(turn));
                Some(values[0].clone())
            });
            assert!(got.is_some_and(|got| got.is(&values[0])));
            assert!(map.get(&Custom::from(0)).is_some());
        }
    });
}

/// D64, K147: The value that is dropped last owns the map, and drops it.
fn a_value_may_own_the_map<P: Kind>() {
    let count = Count::default();
    let keys = lives::<P>(20);
    let map = Arc::new(Maps::<Life<P>>::new());
    for key in &keys {
        let (owned, count) = (Mutex::new(Some(map.clone())), count.clone());
        let owner = ending(move || {
            count.add();
            drop(owned.lock().unwrap().take());
        });
        map.insert(key, owner);
    }
    assert_eq!(Arc::strong_count(&map), 21);
    drop(keys);
    map.purge();
    assert_eq!((Arc::strong_count(&map), count.get()), (1, 20));
}
