//! Results that are asked for, and removed, from the end of an object.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::memo::Value;

use crate::asked::{Memo, Parts};
use crate::common::scaled;
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, objects};

for_each_pointer!(
    each_result_of_the_object_goes,
    a_computation_under_way_is_delivered,
    a_destructor_may_ask_again,
    an_old_result_never_takes_the_place_of_its_mark,
);

/// 201: As any part of the key, in a list, or declared; each once, and no other.
fn each_result_of_the_object_goes<P: Pointer>() {
    let (memo, results) = (Memo::<Parts<P>, Doomed>::new(), Count::default());
    let all = objects::<P>(4);
    let [object, a, b, c] = [&all[0], &all[1], &all[2], &all[3]];
    assert_eq!(memo.invalidate(object), 0);
    let compute = |list: &[&P], parameter: usize, last: &P, declared: &[&P]| {
        drop(memo.get_or_compute((list, "text", last, &parameter), |cx| {
            declared.iter().for_each(|object| cx.depends_on(*object));
            results.doomed()
        }));
    };
    for parameter in 0..3 {
        compute(&[a, b], parameter, c, &[]);
        compute(&[object], parameter, c, &[]);
        compute(&[a, object, object], parameter, object, &[object]);
        compute(&[a], parameter, object, &[]);
        compute(&[b], parameter, c, &[a, object]);
        compute(&[c], parameter, c, &[a]);
    }
    assert_eq!((memo.len(), results.get()), (18, 0));
    assert_eq!(memo.invalidate(object), 12);
    assert_eq!((memo.len(), results.get()), (6, 12));
    assert!(memo.get((&[object], "text", c, &0)).is_none());
    assert!(memo.get((&[a, b], "text", c, &0)).is_some());
    let statistics = memo.statistics();
    assert_eq!((statistics.invalidated, statistics.live), (12, 6));
    assert_eq!((memo.invalidate(object), memo.invalidate(b)), (0, 3));
    compute(&[object], 1, c, &[]);
    assert_eq!(memo.invalidate(c), 4);
    assert!(memo.is_empty());
}

/// 201: Of the key, and of what it has declared, also if that is all of an object's results.
fn a_computation_under_way_is_delivered<P: Pointer>() {
    let memo = Memo::<(P, Value<usize>), usize>::new();
    let all = objects::<P>(3);
    let [key, declared, other] = [&all[0], &all[1], &all[2]];
    for invalidated in [key, declared, other] {
        let result = memo.get_or_compute((key, &1), |cx| {
            cx.depends_on(declared);
            assert_eq!(memo.invalidate(invalidated), 0);
            1
        });
        assert_eq!(result, 1);
        // Nobody knows what depends on objects that do not notify.
        let kept = P::NOTIFIES && std::ptr::eq(invalidated, other);
        assert_eq!(memo.get((key, &1)), kept.then_some(1));
        assert_eq!(memo.remove((key, &1)).is_some(), kept);
    }
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.invalidated), (3, 3));
    // What it declares later, it reads later.
    let result = memo.get_or_compute((key, &1), |cx| {
        if P::NOTIFIES {
            assert_eq!(memo.invalidate(declared), 0);
        }
        cx.depends_on(declared);
        2
    });
    assert_eq!((result, memo.get((key, &1))), (2, Some(2)));
    assert_eq!(memo.invalidate(declared), 1);
}

/// 201, 13: What a result owns is destroyed when all are removed; its destructor may ask, insert and invalidate.
fn a_destructor_may_ask_again<P: Pointer>() {
    type Results<P> = Memo<(P, Value<String>), Doomed>;
    let (memo, ends) = (Arc::new(Results::<P>::new()), Count::default());
    let object = P::from(1);
    for (parameter, other) in [("0", "3"), ("1", "4"), ("2", "5")] {
        let (within, ends, its) = (Arc::downgrade(&memo), ends.clone(), object.clone());
        let end = move || {
            let memo = within.upgrade().expect("it is in use");
            assert!(
                ["0", "1", "2"]
                    .iter()
                    .all(|at| memo.get((&its, *at)).is_none())
            );
            drop(memo.insert((&its, other), Doomed::default()));
            memo.invalidate(&its);
            ends.add();
        };
        drop(memo.get_or_compute((&object, parameter), |_| Doomed::new(end)));
    }
    assert_eq!(memo.invalidate(&object), 3);
    assert_eq!((ends.get(), memo.len()), (3, 0));
}

/// 201: Nor one that is computed while its mark is being removed, by an invalidation or with all others.
fn an_old_result_never_takes_the_place_of_its_mark<P: Pointer>() {
    for clear in [false, true] {
        let (memo, version) = (Memo::<(P, Value<usize>), usize>::new(), Mutex::new(0));
        let (object, done) = (P::from(1), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    memo.get_or_compute((&object, &1), |_| *version.lock().unwrap());
                }
            });
            for now in 1..=scaled(60_000, 60) {
                *version.lock().unwrap() = now;
                if clear {
                    memo.clear();
                } else {
                    memo.invalidate(&object);
                }
                let found = memo.get((&object, &1));
                if found.is_some_and(|found| found < now) {
                    done.store(true, Relaxed);
                    panic!("an old result: {found:?} of {now}, {clear}");
                }
            }
            done.store(true, Relaxed);
        });
    }
}
