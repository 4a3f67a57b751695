//! Destructors that bring what comes next, deep and at the end of what kept them.

use std::sync::{Arc, Mutex};

use weakly::Strong;
use weakly::concurrent::{KeepAlive, WeakMap, WeakValueMap};
use weakly::keep::Limit;

use crate::common::nested::inside_purges;
use crate::common::{Count, in_time, on_a_stack_of, scaled};
use crate::tools::{Doomed, Object, Objects, lives, object};

/// More frames than the stack of [`on_a_small_stack`] has room for.
const LONG: usize = scaled(100_000, 100);

fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    in_time(|| on_a_stack_of(256 << 10, f));
}

type Keeps = dyn Fn(usize, &Object) + Send + Sync;

/// Brings an object into what keeps it alive; its destructor brings the next, and evicts that. (Not while it has a handle to
/// it: then it would die by that, in the destructor's own frame.)
fn bring(keep: &Arc<Keeps>, kept: &KeepAlive<Object>, number: usize, ended: &Count) {
    let (next, floor, count) = (keep.clone(), kept.clone(), ended.clone());
    let object = object(move || {
        count.add();
        if number != 1 {
            bring(&next, &floor, number - 1, &count);
            floor.shrink_to(0);
        }
    });
    keep(number, &object);
}

fn a_chain(keep: Arc<Keeps>, kept: &KeepAlive<Object>) {
    let ended = Count::default();
    bring(&keep, kept, LONG, &ended);
    while !kept.is_empty() {
        kept.shrink_to(0);
    }
    assert_eq!(ended.get(), LONG);
}

/// O223: A destructor that a floor runs brings the next, and evicts it, and so on. None of it recurses.
#[test]
fn a_chain_through_a_floor() {
    on_a_small_stack(|| {
        let map = Arc::new(Objects::new());
        let kept = map.set_keep_alive(Limit::entries(3), |_| 1);
        let all = map.clone();
        a_chain(
            Arc::new(move |number, object| _ = all.insert(number, object)),
            &kept,
        );
        map.purge();
        assert_eq!(map.len(), 0);
    });
}

/// O223: The same through a ceiling: a value that goes brings the next.
#[test]
fn a_chain_through_a_ceiling() {
    type Map = WeakMap<Strong<usize>, Doomed>;
    fn bring(map: &Arc<Map>, keys: &Arc<[Strong<usize>; 2]>, number: usize, ended: &Count) {
        let (next, next_keys, count) = (Arc::downgrade(map), keys.clone(), ended.clone());
        let value = Doomed::new(move || {
            count.add();
            if let Some(map) = next.upgrade().filter(|_| number + 2 < LONG) {
                bring(&map, &next_keys, number + 2, &count);
            }
        });
        map.insert(&keys[number % 2], value);
    }
    on_a_small_stack(|| {
        let (map, ended) = (Arc::new(Map::new()), Count::default());
        let keys = Arc::new([0, 1].map(Strong::new));
        map.set_ceiling(Limit::entries(1), |_| 1);
        bring(&map, &keys, 0, &ended);
        bring(&map, &keys, 1, &ended);
        assert!(map.len() <= 1);
        map.clear();
        assert_eq!(
            (ended.get(), map.len(), map.retained_weight()),
            (LONG, 0, 0)
        );
    });
}

/// O223: A victim drops the last handle to its collection, and one to the floor. What is left there goes once.
#[test]
fn a_victim_drops_the_collection() {
    let ended = Count::default();
    let budget = KeepAlive::new(Limit::entries(4));
    let map = Arc::new(Objects::new());
    map.keep_in(&budget);
    let (count, owned) = (
        ended.clone(),
        Mutex::new(Some((map.clone(), budget.clone()))),
    );
    let first = object(move || {
        count.add();
        let (map, budget) = owned.lock().unwrap().take().unwrap();
        budget.advance();
        assert!(map.get(&0).is_none());
        drop((map, budget));
    });
    map.insert(0, &first);
    let weak = Strong::downgrade(&first);
    drop((first, map));
    assert!(lives(&weak));
    for _ in 0..3 {
        let count = ended.clone();
        budget.keep(&object(move || _ = count.add()), 1);
    }
    assert_eq!(budget.shrink_to(0), 4);
    assert_eq!((ended.get(), budget.len()), (4, 0));
}

/// O225: A limit holds, however deep in the destructors of other collections something is inserted.
#[test]
fn a_limit_holds_deep_in_destructors_of_others() {
    let ceiling = Arc::new(WeakMap::<Strong<usize>, usize>::new());
    ceiling.set_ceiling(Limit::entries(3), |_| 1);
    let floor = Arc::new(WeakValueMap::<usize, Strong<usize>>::new());
    let kept = floor.set_keep_alive(Limit::entries(3), |_| 1);
    let keys: Arc<Vec<_>> = Arc::new((0..100).map(Strong::new).collect());
    inside_purges(40, {
        let (ceiling, floor, keys) = (ceiling.clone(), floor.clone(), keys.clone());
        move || {
            for key in keys.iter() {
                ceiling.insert(key, **key);
                floor.insert(**key, &Strong::new(**key));
            }
        }
    });
    assert_eq!((ceiling.len(), floor.len(), kept.len()), (3, 3, 3));
}
