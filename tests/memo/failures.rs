//! Computations that panic, fail, or are cancelled: no result is stored, and no thread waits forever.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;

use crate::asked::Memo;
use crate::common::{panics, quiet_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Pointer};

for_each_pointer!(
    nothing_is_kept_of_a_panic,
    nothing_is_kept_of_a_failure,
    a_thread_that_waits_for_a_failure_tries_itself,
    many_wait_for_one_that_panics,
    a_result_removed_meanwhile_is_not_stored,
    a_result_of_another_thread_stays,
);

/// 175: The next call computes.
fn nothing_is_kept_of_a_panic<P: Pointer>() {
    let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
    for turn in 1..4 {
        assert!(panics(|| _ = memo.get_or_compute(&input, |_| quiet_panic())));
        assert_eq!((memo.get(&input), memo.len()), (None, 0));
        let statistics = memo.statistics();
        assert_eq!((statistics.misses, statistics.failures), (turn, turn));
    }
    assert_eq!(memo.get_or_compute(&input, |_| 7), 7);
    assert_eq!((memo.len(), memo.statistics().misses), (1, 4));
}

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

/// 175: Each caller by itself, until one succeeds.
fn a_thread_that_waits_for_a_failure_tries_itself<P: Pointer>() {
    let threads = scaled(6, 3);
    for _ in 0..scaled(100, 2) {
        let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
        let (barrier, tried) = (Barrier::new(threads), Count::default());
        let ask = || {
            barrier.wait();
            memo.try_get_or_compute(&input, |_| {
                thread::yield_now();
                match tried.add() {
                    last if last == threads => Ok(7),
                    turn => Err(turn),
                }
            })
        };
        let mut got: Vec<_> = thread::scope(|scope| {
            let askers: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|it| it.join().unwrap()).collect()
        });
        got.sort_unstable_by_key(|got| got.map_or_else(|turn| turn, |_| usize::MAX));
        // Each has tried once and got its own error.
        let errors = (1..threads).map(Err);
        assert!(got.into_iter().eq(errors.chain([Ok(7)])));
        assert_eq!((memo.get(&input), tried.get()), (Some(7), threads));
        let statistics = memo.statistics();
        assert_eq!(
            (statistics.misses, statistics.failures),
            (threads as u64, threads as u64 - 1)
        );
    }
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

/// 176: By this thread or another.
fn a_result_removed_meanwhile_is_not_stored<P: Pointer>() {
    for (elsewhere, call_off) in cancels::<P>()
        .into_iter()
        .flat_map(|it| [(false, it), (true, it)])
    {
        let (memo, input) = (Memo::<P, usize>::new(), P::from(1));
        let result = memo.get_or_compute(&input, |_| {
            if elsewhere {
                thread::scope(|scope| _ = scope.spawn(|| call_off(&memo, &input)));
            } else {
                call_off(&memo, &input);
            }
            7
        });
        assert_eq!((result, memo.get(&input), memo.len()), (7, None, 0));
        let statistics = memo.statistics();
        assert_eq!((statistics.misses, statistics.invalidated), (1, 1));
        assert_eq!(memo.get_or_compute(&input, |_| 8), 8);
        assert_eq!((memo.get(&input), memo.len()), (Some(8), 1));
    }
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

/// 175: A computation panics while other threads have got errors about cycles, or wait in turn for its waiters.
#[test]
fn a_panic_at_the_end_of_a_chain_of_waiters() {
    let memo = Memo::<weakly::Strong<usize>, usize>::new();
    let inputs: Vec<_> = (0..4).map(weakly::Strong::new).collect();
    let (begun, begins) = channel();
    let (ready, go) = channel::<()>();
    thread::scope(|scope| {
        let (memo, inputs) = (&memo, &inputs);
        let last = scope.spawn({
            let begun = begun.clone();
            move || {
                panics(|| {
                    memo.get_or_compute(&inputs[0], |_| {
                        begun.send(()).unwrap();
                        go.recv().unwrap();
                        quiet_panic()
                    });
                })
            }
        });
        begins.recv().unwrap();
        let mut line = Vec::new();
        for at in 1..4 {
            let begun = begun.clone();
            line.push(scope.spawn(move || {
                memo.get_or_compute(&inputs[at], |_| {
                    begun.send(()).unwrap();
                    1 + memo.get_or_compute(&inputs[at - 1], |_| 10)
                })
            }));
            begins.recv().unwrap();
        }
        ready.send(()).unwrap();
        assert!(last.join().unwrap());
        // (The thread that waited for the last computes it instead.)
        for (one, wanted) in line.into_iter().zip(11..) {
            assert_eq!(one.join().unwrap(), wanted);
        }
    });
    let statistics = memo.statistics();
    assert_eq!(
        (memo.len(), statistics.misses, statistics.failures),
        (4, 5, 1)
    );
}
