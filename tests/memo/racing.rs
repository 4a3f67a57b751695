//! `get_or_compute_racing`: each of the threads that ask at the same time computes, and none waits.

use std::convert::Infallible;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;

use weakly::memo::{Computation, Value};

use crate::asked::Memo;
use crate::common::{quiet_panic, scaled, watchdog};
use crate::for_each_pointer;
use crate::tools::{Pointer, objects};

for_each_pointer!(
    all_compute_and_get_the_first,
    waiters_get_what_is_raced,
    it_depends_on_what_it_declares,
    what_is_invalidated_meanwhile_is_not_kept,
    what_fails_is_not_kept,
);

fn race<P: Pointer>(
    memo: &Memo<P, usize>,
    key: &P,
    compute: impl FnOnce(&Computation<'_>) -> usize,
) -> usize {
    memo.get_or_compute_racing(key, compute)
}

/// 280: All threads are in their closures at once.
fn all_compute_and_get_the_first<P: Pointer>() {
    let _watched = watchdog::watched("a thread waits for another that computes the same result");
    let threads = scaled(6, 3);
    let (memo, all) = (Memo::<P, usize>::new(), objects::<P>(1));
    let all_compute = Barrier::new(threads);
    let got: Vec<usize> = thread::scope(|scope| {
        let ask = |number| {
            let (memo, key, all_compute) = (&memo, &all[0], &all_compute);
            move || {
                race(memo, key, |_| {
                    all_compute.wait();
                    number
                })
            }
        };
        let askers: Vec<_> = (0..threads).map(|n| scope.spawn(ask(n))).collect();
        askers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(got.iter().all(|it| *it == got[0]), "of the first: {got:?}");
    assert_eq!((memo.get(&all[0]), memo.len()), (Some(got[0]), 1));
    let statistics = memo.statistics();
    assert_eq!([statistics.misses, statistics.loads], [threads as u64; 2]);
    // Who loses has not failed, and nothing was invalidated.
    assert_eq!([statistics.failures, statistics.invalidated], [0, 0]);
    assert_eq!(race(&memo, &all[0], |_| quiet_panic()), got[0]);
}

/// 280, 470: The waiter goes on while the other result is still being computed. Who computes that gets the first.
fn waiters_get_what_is_raced<P: Pointer>() {
    let _watched = watchdog::watched("a waiter waits for the result that was overtaken");
    let (memo, all) = (&Memo::<P, usize>::new(), objects::<P>(1));
    let (key, (begun, begins), (go, goes)) = (&all[0], channel(), channel::<()>());
    thread::scope(|scope| {
        let leader = scope.spawn(move || {
            memo.get_or_compute(key, |_| {
                begun.send(()).unwrap();
                _ = goes.recv();
                7
            })
        });
        begins.recv().unwrap();
        let waiter = scope.spawn(|| memo.get_or_compute(key, |_| quiet_panic()));
        thread::yield_now();
        assert_eq!(race(memo, key, |_| 8), 8);
        assert_eq!(waiter.join().unwrap(), 8);
        drop(go);
        assert_eq!(leader.join().unwrap(), 8);
    });
    assert_eq!((memo.get(key), memo.len()), (Some(8), 1));
}

/// 280
fn it_depends_on_what_it_declares<P: Pointer>() {
    let memo = Memo::<P, usize>::new();
    let mut all = objects::<P>(2);
    race(&memo, &all[0], |cx| {
        cx.depends_on(&all[1]);
        1
    });
    assert_eq!(memo.get(&all[0]), Some(1));
    drop(all.pop());
    assert_eq!(memo.get(&all[0]), None);
}

/// 280, 471: By the key, by what was declared, by a removal, by clearing.
fn what_is_invalidated_meanwhile_is_not_kept<P: Pointer>() {
    type Key<P> = (P, Value<usize>);
    let (memo, all) = (Memo::<Key<P>, usize>::new(), objects::<P>(2));
    let (key, declared) = (&all[0], &all[1]);
    let changes: [&dyn Fn(); 4] = [
        &|| _ = memo.invalidate(key),
        &|| _ = memo.invalidate(declared),
        &|| _ = memo.remove((key, &1)),
        &|| memo.clear(),
    ];
    for (number, change) in changes.iter().enumerate() {
        let got = memo.get_or_compute_racing((key, &1), |cx| {
            cx.depends_on(declared);
            change();
            number
        });
        assert_eq!((got, memo.get((key, &1))), (number, None));
    }
    if P::NOTIFIES {
        // Of other keys, it may be anything.
        let other = &objects::<P>(1)[0];
        let got = memo.get_or_compute_racing((key, &2), |_| {
            memo.insert((other, &1), 7);
            assert_eq!((memo.invalidate(other), memo.remove((key, &3))), (1, None));
            8
        });
        assert_eq!((got, memo.get((key, &2))), (8, Some(8)));
    }
    // What begins after that is kept.
    assert_eq!(memo.get_or_compute_racing((key, &1), |_| 9), 9);
    assert_eq!(memo.get((key, &1)), Some(9));
}

fn what_fails_is_not_kept<P: Pointer>() {
    let (memo, all) = (Memo::<P, usize>::new(), objects::<P>(1));
    assert!(
        memo.try_get_or_compute_racing(&all[0], |_| Err("no"))
            .is_err()
    );
    assert!(memo.is_empty());
    let Ok(seven) = memo.try_get_or_compute_racing(&all[0], |_| Ok::<_, Infallible>(7));
    assert_eq!((seven, memo.get(&all[0])), (7, Some(7)));
}
