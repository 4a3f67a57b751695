//! A computation by tasks depends on the results that it asks for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use weakly::memo::untracked_async;
use weakly::{Memo, Strong};

use super::numbers::*;
use super::tools::*;

type Load = Pin<Box<dyn Future<Output = ()> + Send>>;
type Asked<'a> = Pin<Box<dyn Future<Output = usize> + Send + 'a>>;
type Ask = for<'a> fn(&'a Numbers, &'a Strong<usize>) -> Asked<'a>;

static MEMO: Numbers = Numbers::new();

/// All ways to ask for the result of a key, which is 7.
fn ways() -> [Ask; 6] {
    [
        |memo, key| memo.get_or_compute_async(key, |_, _| async { 7 }),
        |memo, key| {
            memo.get_or_compute_async(key, |_, _| async {
                yields(2).await;
                7
            })
        },
        |memo, key| Box::pin(async move { memo.get_or_compute_racing(key, |_| 7) }),
        |memo, key| Box::pin(async move { memo.get_or_compute(key, |_| 7) }),
        |memo, key| {
            Box::pin(async move {
                let shared =
                    memo.try_get_or_compute_shared_async(key, |_, _| async { Ok::<_, ()>(7) });
                shared.await.unwrap()
            })
        },
        |_, key| {
            Box::pin(async move {
                let load = |_, _| async {
                    yields(1).await;
                    7
                };
                Memo::get_or_compute_spawned(&*MEMO, key, load, |load: Load| {
                    thread::spawn(|| block_on(load)).join().unwrap();
                })
                .await
            })
        },
    ]
}

/// 523: By each way, for a result that is there, and for one that is made now: by the poll that gets it. The same is true of
/// a computation by a thread.
#[test]
fn each_way_to_ask_is_a_dependence() {
    let (sums, other) = (Numbers::new(), Strong::new(2));
    for (at, ask) in ways().into_iter().enumerate() {
        for (there, by_thread) in [(true, false), (false, false), (true, true), (false, true)] {
            let (key, sums, other) = (Strong::new(1), &sums, &other);
            if there {
                MEMO.get_or_compute(&key, |_| 7);
            }
            let of_key = &key;
            let sum = match by_thread {
                true => sums.get_or_compute(other, |_| block_on(ask(&MEMO, of_key)) + 1),
                false => block_on(sums.get_or_compute_async(other, |_, _| async move {
                    yields(1).await;
                    ask(&MEMO, of_key).await + 1
                })),
            };
            assert_eq!(
                (sum, sums.get(other)),
                (8, Some(8)),
                "{at} {there} {by_thread}"
            );
            assert_eq!(MEMO.remove(&key), Some(7));
            assert_eq!(sums.get(other), None, "{at} {there} {by_thread}");
        }
    }
}

/// 523: A task that waits for another task depends on what it gets; and only a computation that is polled has what it asks
/// for: the code between its polls is another's.
#[test]
fn who_waits_depends_and_who_is_not_polled_does_not() {
    let (memo, sums) = (Numbers::new(), Numbers::new());
    let (key, third, event) = (Strong::new(1), Strong::new(3), Event::new());
    let others = [Strong::new(2), Strong::new(3)];
    let (memo, event, key) = (&memo, &event, &key);
    let mut all = tasks(others.iter().map(|other| {
        sums.get_or_compute_async(other, move |_, _| {
            memo.get_or_compute_async(key, move |_, _| async move {
                event.wait().await;
                7
            })
        })
    }));
    assert!(all.iter_mut().all(|task| task.poll().is_pending()));
    memo.get_or_compute(&third, |_| 1);
    event.happen();
    assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(7)));
    memo.remove(&third);
    assert_eq!(sums.len(), 2);
    memo.remove(key);
    assert_eq!(sums.len(), 0);
}

/// 524: A subtask enters the computation, on any thread, until the end of the computation. It panics if it needs the result.
#[test]
fn subtasks_enter_the_computation() {
    let (memo, sums) = (Numbers::new(), Numbers::new());
    let (key, other, late) = (Strong::new(1), Strong::new(2), Strong::new(3));
    let (memo, key, late) = (&memo, &key, &late);
    let kept: Arc<Mutex<Option<Asked<'_>>>> = Arc::default();
    for enters in [true, false] {
        let keep = Arc::clone(&kept);
        let sum = block_on(sums.get_or_compute_async(&other, move |_, on| async move {
            let part = async move { memo.get_or_compute(key, |_| 7) };
            let done = thread::scope(|scope| {
                let part = match enters {
                    true => scope.spawn(|| block_on(on.enter(part))),
                    false => scope.spawn(|| block_on(part)),
                };
                part.join().unwrap()
            });
            let late = on.enter(async move { memo.get_or_compute(late, |_| 7) });
            *keep.lock().unwrap() = Some(Box::pin(late));
            done
        }));
        assert_eq!((sum, sums.len()), (7, 1));
        assert_eq!(kept.lock().unwrap().take().map(block_on), Some(7));
        memo.remove(late);
        assert_eq!(sums.len(), 1, "it was late");
        memo.remove(key);
        assert_eq!(sums.len(), usize::from(!enters));
        sums.clear();
    }
    let (sums, other) = (&sums, &other);
    let sum = block_on(sums.get_or_compute_async(other, |_, on| async move {
        let part = on.enter(async { sums.get_or_compute(other, |_| 0) });
        let mut part = pin!(part);
        let poll = || _ = part.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        usize::from(catch_unwind(AssertUnwindSafe(poll)).is_err())
    }));
    assert_eq!((sum, sums.len()), (1, 0));
}

/// 525: A computation that has asked for a result that was not kept is not kept: by tasks, too. A request that is dropped
/// is no question.
#[test]
fn what_asks_for_what_is_not_kept() {
    let (memo, sums) = (Numbers::new(), Numbers::new());
    let (key, other) = (Strong::new(1), Strong::new(2));
    let (memo, key) = (&memo, &key);
    type Asks<'a> = &'a (dyn Fn() -> Asked<'a> + Sync);
    let asks: [(Asks<'_>, bool); 3] = [
        (
            &|| {
                Box::pin(async {
                    let failed = memo.try_get_or_compute_async(key, |_, _| async { Err(7) });
                    failed.await.unwrap_err()
                })
            },
            false,
        ),
        (
            &|| {
                memo.get_or_compute_async(key, |_, _| async {
                    memo.remove(key);
                    7
                })
            },
            false,
        ),
        (
            &|| {
                Box::pin(async {
                    let dropped = memo.get_or_compute_async(key, |_, _| std::future::pending());
                    let mut dropped = pin!(dropped);
                    assert!(
                        dropped
                            .as_mut()
                            .poll(&mut Context::from_waker(Waker::noop()))
                            .is_pending()
                    );
                    7
                })
            },
            true,
        ),
    ];
    for (at, (ask, kept)) in asks.into_iter().enumerate() {
        let sum = block_on(sums.get_or_compute_async(&other, |_, _| ask()));
        assert_eq!((sum, sums.len()), (7, usize::from(kept)), "{at}");
        sums.clear();
        memo.clear();
    }
}

/// 526: `untracked_async` acts in each poll of its future, and not between the polls.
#[test]
fn apart_in_each_poll() {
    let (memo, sums) = (Numbers::new(), Numbers::new());
    let (key, third, other) = (Strong::new(1), Strong::new(3), Strong::new(2));
    let (memo, key, third) = (&memo, &key, &third);
    let sum = block_on(sums.get_or_compute_async(&other, |_, _| async move {
        let apart = untracked_async(async {
            let first = memo.get_or_compute_async(key, |_, _| async { 1 }).await;
            yields(3).await;
            first + memo.get_or_compute(key, |_| 1)
        });
        apart.await + memo.get_or_compute(third, |_| 1)
    }));
    assert_eq!(sum, 3);
    memo.remove(key);
    assert_eq!(sums.get(&other), Some(3));
    memo.remove(third);
    assert_eq!(sums.get(&other), None);
}
