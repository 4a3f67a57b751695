//! Computations that ask for others, and computations that need their own result.

use std::sync::Barrier;
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakMap;

use crate::asked::Memo;
use crate::common::{panics, place_of_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, message, objects};

for_each_pointer!(needing_itself_is_an_error, a_cycle_of_three_is_an_error,);

/// 174: A panic that names both types; the key can be used afterwards, on this thread and others.
fn needing_itself_is_an_error<P: Pointer>() {
    let (memo, input) = (Memo::<P, Doomed>::new(), P::from(1));
    let cycle = message(|| {
        memo.get_or_compute(&input, |_| memo.get_or_compute(&input, |_| unreachable!()));
    });
    let cycle = cycle.expect("it panics");
    for name in [std::any::type_name::<P>(), "doomed::Doomed"] {
        assert!(cycle.contains(name), "{cycle}");
    }
    let through_failure = panics(|| {
        _ = memo.try_get_or_compute(&input, |_| {
            memo.try_get_or_compute::<()>(&input, |_| unreachable!())
        });
    });
    assert!(through_failure);
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (0, 4));
    assert_eq!(
        (statistics.loads, statistics.failures, memo.len()),
        (2, 2, 0)
    );
    let elsewhere = thread::scope(|scope| {
        let ask = || memo.get_or_compute(&input, |_| 7.into());
        scope.spawn(ask).join().unwrap()
    });
    assert_eq!(elsewhere, 7);
    assert_eq!(memo.get_or_compute(&input, |_| unreachable!()), 7);
}

/// 174: The panic's location is the place in the caller's code that asked for the result.
#[test]
fn the_location_of_a_cycle_is_the_callers() {
    let object = Strong::new(1);
    let sizes = Memo::<Strong<usize>, usize>::new();
    let depths = WeakMap::<Strong<usize>, usize>::new();
    let cycles: [&dyn Fn(); 3] = [
        &|| _ = sizes.get_or_compute(&object, |_| sizes.get_or_compute(&object, |_| 1)),
        &|| {
            let inner = || sizes.try_get_or_compute(&object, |_| Ok::<_, ()>(1));
            _ = sizes.try_get_or_compute(&object, |_| inner());
        },
        &|| _ = depths.get_or_insert_with(&object, |_| depths.get_or_insert_with(&object, |_| 1)),
    ];
    for cycle in cycles {
        let (file, _) = place_of_panic(cycle);
        assert!(file.ends_with("cycles.rs"), "{file}");
    }
}

/// Threads, each of which computes one key and, once all have begun, needs that of the next. At least one gets
/// an error; no thread waits forever, and all keys can be used again. Returns how many got one.
fn cycle_of<P: Pointer>(threads: usize, wants: impl Fn(usize) -> usize + Sync) -> usize {
    let (memo, inputs) = (Memo::<P, usize>::new(), objects::<P>(threads));
    let barrier = Barrier::new(threads);
    let refused = Count::default();
    thread::scope(|scope| {
        for at in 0..threads {
            let (memo, inputs, barrier, refused, wants) =
                (&memo, &inputs, &barrier, &refused, &wants);
            scope.spawn(move || {
                let cycle = message(|| {
                    memo.get_or_compute(&inputs[at], |_| {
                        barrier.wait();
                        memo.get_or_compute(&inputs[wants(at)], |_| 0) + 1
                    });
                });
                if let Some(cycle) = cycle {
                    assert!(cycle.contains("cycle"), "{cycle}");
                    refused.add();
                }
            });
        }
    });
    for input in &inputs {
        memo.get_or_compute(input, |_| 0);
    }
    assert_eq!(memo.len(), threads);
    let statistics = memo.statistics();
    assert_eq!(statistics.loads, threads as u64 + statistics.failures);
    refused.get()
}

/// 174: Likewise; a thread that waits for a cycle without being part of it gets no error.
fn a_cycle_of_three_is_an_error<P: Pointer>() {
    for _ in 0..scaled(200, 3) {
        assert_ne!(cycle_of::<P>(3, |at| (at + 1) % 3), 0);
        // 3 waits for 0, which is in a cycle with 1 and 2.
        let refused = cycle_of::<P>(4, |at| if at == 3 { 0 } else { (at + 1) % 3 });
        assert!((1..=3).contains(&refused), "{refused}");
    }
}

/// 174: Over several collections, of several kinds.
#[test]
fn a_cycle_over_collections_is_an_error() {
    let object = Strong::new(1);
    let sizes = Memo::<Strong<usize>, usize>::new();
    let depths = WeakMap::<Strong<usize>, usize>::new();
    let names = WeakMap::<Strong<usize>, usize>::new();
    let make = |map: &WeakMap<_, usize>, value: &dyn Fn() -> usize| {
        map.get_or_insert_with(&object, |_| value())
    };
    let ask = |turn: usize| match turn {
        0 => sizes.get_or_compute(&object, |_| {
            make(&depths, &|| {
                make(&names, &|| {
                    sizes.get_or_compute(&object, |_| unreachable!())
                })
            })
        }),
        1 => make(&depths, &|| 1),
        2 => make(&names, &|| 2),
        _ => sizes.get_or_compute(&object, |_| 3),
    };
    let cycle = message(|| _ = ask(0)).expect("it panics");
    assert!(cycle.contains("cycle"), "{cycle}");
    assert!(sizes.is_empty() && depths.is_empty() && names.is_empty());
    assert_eq!([ask(1), ask(2), ask(3)], [1, 2, 3]);
}
