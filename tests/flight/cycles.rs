//! Computations that come to need themselves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use weakly::Strong;

use super::numbers::*;
use super::tools::*;

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[track_caller]
fn is_cycle<T>(run: impl FnOnce() -> T) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else {
        panic!("no cycle was found")
    };
    let text = message(payload);
    assert!(
        text.starts_with("a cycle: making the value (usize)"),
        "{text}"
    );
}

/// 248: A computation that needs itself panics, by `await` as by a blocking call.
#[test]
fn a_computation_that_needs_itself_panics() {
    static MEMO: Numbers = Numbers::new();
    let one = leaked(Strong::new(1));
    is_cycle(|| {
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move {
            yields(2).await;
            MEMO.get_or_compute_async(one, move |_, _| async move { 1 })
                .await
        }))
    });
    is_cycle(|| {
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move {
            yields(2).await;
            MEMO.get_or_compute(one, |_| 1)
        }))
    });
    is_cycle(|| {
        MEMO.get_or_compute(one, |_| {
            block_on(MEMO.get_or_compute_async(one, move |_, _| async move { 1 }))
        })
    });
    assert_eq!(
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move { 2 })),
        2
    );
}

/// 248: One that needs another, and one that needs what is there, do not.
#[test]
fn what_nests_is_no_cycle() {
    static MEMO: Numbers = Numbers::new();
    let [one, two, three] = [1, 2, 3].map(|number| leaked(Strong::new(number)));
    let sum = block_on(MEMO.get_or_compute_async(three, move |_, _| async move {
        let two = MEMO.get_or_compute_async(two, move |_, _| async move {
            yields(1).await;
            MEMO.get_or_compute_async(one, move |_, _| async move { 1 })
                .await
                + 2
        });
        two.await + MEMO.get_or_compute(one, |_| unreachable!())
    }));
    assert_eq!(sum, 4);
}

/// 248: Two computations that need each other, of two threads: each finds the cycle, and nobody waits for ever.
#[test]
fn two_that_need_each_other_panic() {
    fn need(
        memo: &'static Numbers,
        of: &'static [Strong<usize>; 2],
        at: usize,
        meet: &'static AtomicUsize,
    ) -> Running {
        Box::pin(async move {
            meet.fetch_add(1, SeqCst);
            for _ in 0..20_000 {
                if meet.load(SeqCst) >= 2 {
                    break;
                }
                std::hint::spin_loop();
            }
            memo.get_or_compute_async(&of[1 - at], move |_, _| need(memo, of, 1 - at, meet))
                .await
        })
    }
    type Running = std::pin::Pin<Box<dyn Future<Output = usize> + Send>>;
    for _ in 0..if cfg!(miri) { 5 } else { 500 } {
        let (memo, of) = (leaked(Numbers::new()), leaked([1, 2].map(Strong::new)));
        let meet = leaked(AtomicUsize::new(0));
        let run = move |at: usize| {
            is_cycle(|| {
                block_on(memo.get_or_compute_async(&of[at], move |_, _| need(memo, of, at, meet)))
            });
        };
        let other = thread::spawn(move || run(1));
        run(0);
        other.join().unwrap();
    }
}

/// 248: Threads that block, and tasks that compute, in one cycle: a task awaits what a thread makes, which asks for the task's.
#[test]
fn a_thread_and_a_task_that_need_each_other_panic() {
    for late in [false, true] {
        let (memo, [one, two]) = (leaked(Numbers::new()), leaked([1, 2].map(Strong::new)));
        let (begun, polled) = (leaked(Barrier::new(2)), leaked(Barrier::new(2)));
        // The thread makes `one`, and needs `two`.
        let thread = thread::spawn(move || {
            catch_unwind(AssertUnwindSafe(|| {
                memo.get_or_compute(one, |_| {
                    begun.wait();
                    if late {
                        polled.wait();
                    }
                    memo.get_or_compute(two, |_| 20) + 1
                })
            }))
        });
        begun.wait();
        // The task makes `two`, and needs `one`.
        let task = catch_unwind(AssertUnwindSafe(|| {
            let event = late.then_some(polled);
            let mut flight = Task::new(memo.get_or_compute_async(two, move |_, _| async move {
                memo.get_or_compute_async(one, move |_, _| async move { 10 })
                    .await
                    + 2
            }));
            let first = flight.poll();
            if let Some(event) = event {
                event.wait();
            }
            match first {
                std::task::Poll::Ready(value) => value,
                std::task::Poll::Pending => {
                    block_on(std::future::poll_fn(|context| flight.poll_by(context)))
                }
            }
        }));
        let thread = thread.join().unwrap();
        let found = thread.is_err() || task.is_err();
        // Otherwise the thread may have been first, and made both.
        let both = matches!((&thread, &task), (Ok(21), Ok(20)));
        assert!(found || !late && both, "{thread:?} {task:?}");
        for found in [thread, task].into_iter().filter_map(Result::err) {
            assert!(message(found).starts_with("a cycle"));
        }
    }
}

/// 248: A computation that blocks, on a thread that polls it, for what a thread makes that needs it.
#[test]
fn a_poll_that_blocks_is_in_the_cycle() {
    let (memo, [one, two]) = (leaked(Numbers::new()), leaked([1, 2].map(Strong::new)));
    let begun = leaked(Barrier::new(2));
    let thread = thread::spawn(move || {
        catch_unwind(AssertUnwindSafe(|| {
            memo.get_or_compute(one, |_| {
                begun.wait();
                memo.get_or_compute(two, |_| 20) + 1
            })
        }))
    });
    let task = catch_unwind(AssertUnwindSafe(|| {
        block_on(memo.get_or_compute_async(two, move |_, _| async move {
            begun.wait();
            memo.get_or_compute(one, |_| 10) + 2
        }))
    }));
    let thread = thread.join().unwrap();
    assert!(thread.is_err() || task.is_err(), "{thread:?} {task:?}");
    for found in [thread, task].into_iter().filter_map(Result::err) {
        assert!(message(found).starts_with("a cycle"));
    }
}
