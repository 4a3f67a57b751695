//! The counts of shared collections: which calls count where.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use weakly::concurrent::{
    Interner, KeepAlive, WeakHashMap, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::keep::Limit;
use weakly::{Memo, MemoryUsage, Statistics, Strong};

/// The hits, misses, loads and failures.
fn counts(statistics: Statistics) -> [u64; 4] {
    let Statistics {
        hits,
        misses,
        loads,
        failures,
        ..
    } = statistics;
    [hits, misses, loads, failures]
}

/// 630: Without a limit, each call that may load is a hit or a miss, and nothing else counts.
#[test]
fn without_a_limit_calls_that_may_load_count() {
    let (key, other) = (Strong::new(1), Strong::new(2));
    let map = WeakMap::<Strong<i32>, i32>::new();
    let values = WeakValueMap::<i32, Strong<i32>>::new();
    let pairs = WeakPairMap::<Strong<i32>, Strong<i32>>::new();
    let contents = WeakHashMap::<Strong<i32>, i32>::new();
    // Nothing is there, then the value is there.
    for round in 0..2 {
        map.get(&key);
        assert_eq!(map.contains_key(&key), round == 1);
        map.get_or_insert_with(&key, |_| 1);
        assert!(values.get(&1).is_some() == (round == 1));
        _ = values.get_or_insert_with(1, |_| other.clone());
        _ = pairs.get_or_insert_with(&key, |_| other.clone());
        pairs.get(&key);
        contents.get_or_insert_with(&key, |_| 1);
        contents.get(&1);
    }
    map.insert(&other, 1);
    map.compute(&other, |value| value.map(|value| value + 1));
    map.remove(&other);
    assert_eq!((map.iter().count(), map.statistics().live), (1, 1));
    for statistics in [
        map.statistics(),
        values.statistics(),
        pairs.statistics(),
        contents.statistics(),
    ] {
        let shown =
            "1 hits, 1 misses, 1 loads, 0 failures, 0 evicted, 0 invalidated, 1 live, weight 0";
        assert_eq!(statistics.to_string(), shown);
    }
    let names = Interner::<Strong<str>>::new();
    let name = names.intern_ref("name");
    assert!(Strong::ptr_eq(&name, &names.intern_ref("name")));
    let live = Statistics {
        live: 1,
        ..Statistics::default()
    };
    assert_eq!(names.statistics(), live);
}

/// 630: A failure, a panic, a race, and a caller that waits: each call counts once, on whatever thread.
#[test]
fn each_call_that_may_load_counts_once() {
    let map = WeakValueMap::<i32, Strong<i32>>::new();
    assert!(map.try_get_or_insert_with(1, |_| Err(())).is_err());
    assert_eq!(counts(map.statistics()), [0, 1, 1, 1]);
    let panics = thread::scope(|scope| {
        let panics = || _ = map.get_or_insert_with(1, |_| std::panic::resume_unwind(Box::new(1)));
        scope.spawn(panics).join().is_err()
    });
    assert!(panics);
    assert_eq!(counts(map.statistics()), [0, 2, 2, 2]);
    // Both race: the second loses.
    let kept = map.get_or_insert_racing(1, |_| map.get_or_insert_racing(1, |_| Strong::new(2)));
    assert_eq!(counts(map.statistics()), [0, 4, 4, 2]);
    let waits = Cell::new(None);
    let made = map.get_or_insert_with(2, |_| {
        let map = &map;
        waits.set(Some(thread::scope(|scope| {
            scope
                .spawn(|| map.get_or_insert_racing(1, |_| unreachable!()))
                .join()
                .unwrap()
        })));
        Strong::new(3)
    });
    assert!(Strong::ptr_eq(&waits.take().unwrap(), &kept));
    assert_eq!(counts(map.statistics()), [1, 5, 5, 2]);
    // A task that waits for a task finds what the other made.
    let mut context = Context::from_waker(Waker::noop());
    let ready = &Cell::new(false);
    let make = |_| async move {
        std::future::poll_fn(|_| {
            if ready.get() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        Strong::new(4)
    };
    let mut tasks = [(); 2].map(|()| Box::pin(map.get_or_insert_async(3, make)));
    assert!(
        tasks
            .iter_mut()
            .all(|task| task.as_mut().poll(&mut context).is_pending())
    );
    ready.set(true);
    let found = tasks.map(|mut task| match task.as_mut().poll(&mut context) {
        Poll::Ready(found) => found,
        Poll::Pending => unreachable!("it is made"),
    });
    assert!(Strong::ptr_eq(&found[0], &found[1]));
    assert_eq!(counts(map.statistics()), [2, 6, 6, 2]);
    drop((made, found, kept));
}

/// 631: With a limit, lookups that find an entry count, too; changes and iterators do not.
#[test]
fn with_a_limit_lookups_count() {
    let map = WeakValueMap::<i32, Strong<i32>>::new();
    map.get(&1);
    let floor = map.set_keep_alive(Limit::entries(2), |value| **value as usize);
    assert!(map.get(&1).is_none() && !map.contains_key(&1));
    assert_eq!(counts(map.statistics()), [0; 4]);
    for n in 1..=3 {
        map.insert(n, &Strong::new(n));
    }
    assert!(map.get(&3).is_some() && map.contains_key(&3) && map.get(&7).is_none());
    assert_eq!((map.iter().count(), map.remove(&7)), (2, None));
    _ = map.get_or_insert_with(3, |_| unreachable!());
    let told = Statistics {
        hits: 3,
        evicted: 1,
        live: 2,
        retained_weight: floor.retained_weight() as u64,
        ..Statistics::default()
    };
    assert_eq!(map.statistics(), told);
    // What is released is not evicted; what is shrunk is.
    assert_eq!(floor.shrink_to(floor.retained_weight() - 1), 1);
    floor.clear();
    let told = map.statistics();
    assert_eq!((told.evicted, told.live, told.retained_weight), (2, 0, 0));

    let names = Interner::<Strong<str>>::new();
    names.set_keep_alive(Limit::entries(1), |_| 5);
    for name in ["one", "one", "other"] {
        _ = names.intern_ref(name);
    }
    let shown = "1 hits, 2 misses, 0 loads, 0 failures, 1 evicted, 0 invalidated, 1 live, weight 5";
    assert_eq!(names.statistics().to_string(), shown);

    let (keys, map) = ([1, 2].map(Strong::new), WeakMap::new());
    map.set_ceiling(Limit::entries(1), |_| 3);
    keys.iter().for_each(|key| _ = map.insert(key, **key));
    assert_eq!(keys.each_ref().map(|key| map.get(key)), [None, Some(2)]);
    let shown = "1 hits, 0 misses, 0 loads, 0 failures, 1 evicted, 0 invalidated, 1 live, weight 3";
    assert_eq!(map.statistics().to_string(), shown);

    let memo = Memo::<Strong<i32>, i32>::new();
    memo.set_ceiling(Limit::entries(1), |_| 1);
    keys.iter()
        .for_each(|key| _ = memo.get_or_compute(key, |_| 1));
    assert_eq!(keys.each_ref().map(|key| memo.get(key)), [None, Some(1)]);
    drop(keys);
    let shown = "1 hits, 2 misses, 2 loads, 0 failures, 1 evicted, 1 invalidated, 0 live, weight 0";
    memo.purge();
    assert_eq!(memo.statistics().to_string(), shown);
}

/// 632: A floor that collections share tells each of them the same, and the counts are exact when the threads are done.
#[test]
fn threads_and_a_shared_floor() {
    let floor = KeepAlive::new(Limit::entries(4));
    let maps = Arc::new([(); 2].map(|()| WeakValueMap::<i32, Strong<i32>>::new()));
    maps.iter().for_each(|map| map.keep_in(&floor));
    let (threads, each) = (4, 50);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for n in 0..each {
                    _ = maps[n as usize % 2].get_or_insert_with(n % 10, |n| Strong::new(*n));
                    _ = maps[0].get(&100);
                }
            });
        }
    });
    let told = maps.each_ref().map(WeakValueMap::statistics);
    assert_eq!(told[0].retained_weight, 4);
    assert_eq!(
        (told[0].evicted, told[0].retained_weight),
        (told[1].evicted, told[1].retained_weight)
    );
    for told in &told {
        assert_eq!(told.hits + told.misses, (threads * each) as u64 / 2);
        assert_eq!(told.misses, told.loads);
    }
    // Each object that was loaded is in the floor, or was evicted, once or more often.
    assert!(told[0].evicted + 4 >= told[0].loads + told[1].loads);
}

/// 633: Sets have no statistics, and each collection tells its memory.
#[test]
fn the_memory_of_the_ring() {
    let set = WeakSet::<Strong<i32>>::new();
    assert_eq!(set.memory_usage(), MemoryUsage::default());
    let map = WeakValueMap::<i32, Strong<i32>>::new();
    let floor = map.set_keep_alive(Limit::none(), |_| 1);
    assert_eq!(map.memory_usage().rings, 0);
    for n in 0..100 {
        map.insert(n, &Strong::new(n));
    }
    let rings = map.memory_usage().rings;
    assert!((2_000..=10_000).contains(&rings), "{rings}");
    floor.clear();
    assert!(map.memory_usage().rings < rings);
}
