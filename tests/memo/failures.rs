//! Computations that panic, fail, or are cancelled: no result is stored, and no thread waits forever.

use std::thread;

use crate::asked::Memo;
use crate::common::{panics, quiet_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer};

for_each_pointer!(
    nothing_is_kept_of_a_failure,
    many_wait_for_one_that_panics,
    a_result_of_another_thread_stays,
);

/// 175: Its dependencies are deregistered too.
fn nothing_is_kept_of_a_failure<P: Pointer>() {
    let (memo, input, dependency) = (Memo::<P, usize>::new(), P::from(1), P::from(2));
    let failed = memo.try_get_or_compute(&input, |cx| {
        cx.depends_on(&dependency);
        Err("no")
    });
    assert_eq!((failed, memo.get(&input), memo.len()), (Err("no"), None, 0));
    assert_eq!(memo.try_get_or_compute(&input, |_| Ok::<_, ()>(7)), Ok(7));
    let kept = memo.try_get_or_compute(&input, |_| Err("not asked"));
    assert_eq!(kept, Ok(7));
    drop(dependency);
    assert_eq!((memo.get(&input), memo.pending_dead()), (Some(7), 0));
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 2));
    assert_eq!((statistics.invalidated, statistics.failures), (0, 1));
}

/// 175: Repeatedly, while many wait.
fn many_wait_for_one_that_panics<P: Pointer>() {
    let threads = scaled(6, 3);
    let failures = scaled(300, 5);
    let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
    let tried = Count::default();
    let ask = || {
        let mut panicked = 0;
        loop {
            let mut got = None;
            if !panics(|| {
                got = Some(memo.get_or_compute(&input, |_| {
                    let turn = tried.add();
                    thread::yield_now();
                    if turn <= failures {
                        quiet_panic()
                    } else {
                        turn
                    }
                }));
            }) {
                assert_eq!(got, Some(failures + 1));
                return panicked;
            }
            panicked += 1;
        }
    };
    let panicked: usize = thread::scope(|scope| {
        let askers: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
        askers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(
        (panicked, tried.get(), memo.len()),
        (failures, failures + 1, 1)
    );
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.failures),
        (failures as u64 + 1, failures as u64)
    );
    assert_eq!(statistics.hits, threads as u64 - 1);
}

type Cancel<P> = fn(&Memo<P, usize>, &P);

/// Both ways to cancel a computation.
fn cancels<P: Pointer>() -> [Cancel<P>; 2] {
    [
        |memo, input| assert!(memo.remove(input).is_none(), "it is not present yet"),
        |memo, _| memo.clear(),
    ]
}

/// 176: A computation that was cancelled does not replace the result that another thread has computed since.
fn a_result_of_another_thread_stays<P: Pointer>() {
    for call_off in cancels::<P>() {
        let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
        let result = memo.get_or_compute(&input, |_| {
            call_off(&memo, &input);
            // It is requested again, and no thread is computing it.
            thread::scope(|scope| {
                let other = scope.spawn(|| memo.get_or_compute(&input, |_| 8));
                assert_eq!(other.join().unwrap(), 8);
            });
            assert_eq!(memo.len(), 1);
            7
        });
        assert_eq!((result, memo.get(&input), memo.len()), (7, Some(8), 1));
        let statistics = memo.statistics();
        assert_eq!((statistics.misses, statistics.invalidated), (2, 1));
    }
}
