//! All who wait own the computation.

use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use weakly::Strong;
use weakly::concurrent::WeakValueMap;

use super::common::heap;
use super::numbers::*;
use super::tools::*;

/// 240: However many tasks ask, one computes, and all get the result, which is kept.
#[test]
fn one_computes_for_all() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (event, begun) = (Event::new(), Arc::new(AtomicUsize::new(0)));
    let ask = |answer| {
        let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
        memo.get_or_compute_async(&text, move |_, _| async move {
            begun.fetch_add(1, SeqCst);
            event.wait().await;
            answer
        })
    };
    let mut all = tasks((0..5).map(ask));
    assert_eq!(begun.load(SeqCst), 0, "it does nothing until it is polled");
    assert!(all.iter_mut().all(|task| task.poll().is_pending()));
    assert_eq!((memo.len(), memo.get(&text)), (0, None));
    event.happen();
    assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(0)));
    assert_eq!(
        (begun.load(SeqCst), memo.len(), memo.get(&text)),
        (1, 1, Some(0))
    );
    assert_eq!(block_on(ask(7)), 0);
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (5, 1));
    drop(text);
    assert!(memo.is_empty());
}

/// 177: Of two tasks the one that has not passed the closure polls it to its end: that is a hit, and the other one the miss.
#[test]
fn a_task_that_ends_anothers_computation_is_a_hit() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let ask = || {
        let event = Arc::clone(&event);
        Task::pending(memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            4
        }))
    };
    let (mut own, mut other) = (ask(), ask());
    event.happen();
    assert_eq!(other.poll(), Poll::Ready(4));
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 1));
    assert_eq!(own.poll(), Poll::Ready(4));
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 1));
}

/// 240: A hit allocates nothing. A task that waits allocates its computation or the means to begin one, whatever that costs.
#[test]
fn a_hit_allocates_nothing() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let names = WeakValueMap::<usize, Strong<usize>>::new();
    let kept = Strong::new(1);
    memo.insert(&text, 4);
    names.insert(1, &kept);
    let mut context = Context::from_waker(Waker::noop());
    let mut ask = || {
        let mut of_text =
            pin!((*memo).get_or_compute_async(&text, |_, _| async { unreachable!() }));
        assert_eq!(of_text.as_mut().poll(&mut context), Poll::Ready(4));
        let mut named = pin!(names.get_or_insert_async(1, |_| async { unreachable!() }));
        assert!(named.as_mut().poll(&mut context).is_ready());
    };
    ask();
    let before = heap::allocations();
    ask();
    assert_eq!(heap::allocations(), before);
}

/// 241: Whoever goes hands nothing over: the computation goes on where it was, also if it was begun by who goes. (What
/// pingora #931 and async_singleflight #8 are about.)
#[test]
fn a_cancelled_leader_stalls_nobody() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (event, begun) = (Event::new(), Arc::new(AtomicUsize::new(0)));
    let ask = || {
        let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
        memo.get_or_compute_async(&text, move |_, _| async move {
            let number = begun.fetch_add(1, SeqCst);
            event.wait().await;
            event.wait().await;
            number
        })
    };
    let first = Task::pending(ask());
    let mut second = Task::pending(ask());
    event.happen();
    drop(first);
    assert!(second.poll().is_pending());
    event.happen();
    assert_eq!(second.poll(), Poll::Ready(0));
    assert_eq!(begun.load(SeqCst), 1);
}

/// 242: One that is never polled again stalls nobody: others poll, and are woken. (moka #240: the one that computes waits for
/// a lock that one has which waits for the result.)
#[test]
fn one_that_is_not_polled_again_stalls_nobody() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let ask = || {
        memo.get_or_compute_async(&text, |_, _| async {
            yields(3).await;
            4
        })
    };
    let stalled = Task::pending(ask());
    assert_eq!(block_on(ask()), 4);
    drop(stalled);
    assert_eq!(memo.get(&text), Some(4));

    let other = Strong::new(5_usize);
    let ask = || {
        memo.get_or_compute_async(&other, |_, _| async {
            yields(3).await;
            5
        })
    };
    mem::forget(Task::pending(ask()));
    assert_eq!(
        block_on(ask()),
        5,
        "what a forgotten one has begun is polled"
    );
}

/// 243: With the last who waits goes the computation, and nothing is left.
#[test]
fn nothing_is_left_of_what_nobody_waits_for() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (event, destroyed) = (Event::new(), Arc::new(AtomicUsize::new(0)));
    let ask = || {
        let (event, counts) = (Arc::clone(&event), Counts(Arc::clone(&destroyed)));
        memo.get_or_compute_async(&text, move |_, _| async move {
            let _counts = counts;
            event.wait().await;
            4
        })
    };
    let (first, second) = (Task::pending(ask()), Task::pending(ask()));
    let unpolled = ask();
    drop(first);
    assert_eq!(destroyed.load(SeqCst), 0);
    drop(second);
    assert_eq!(
        destroyed.load(SeqCst),
        2,
        "what has begun, and the closure of the second"
    );
    assert_eq!((memo.len(), memo.statistics().discarded), (0, 1));
    assert_eq!(
        memo.get_or_compute(&text, |_| 5),
        5,
        "nobody waits for what is gone"
    );
    drop(unpolled);
    assert_eq!(destroyed.load(SeqCst), 3);
}

/// 243: The destructor of a computation that nobody waits for may ask for the same key, or any: it is not at work any more.
#[test]
fn the_destructor_of_a_computation_may_ask_again() {
    static MEMO: Numbers = Numbers::new();
    struct Asks(Strong<usize>, bool);
    impl Drop for Asks {
        fn drop(&mut self) {
            let found = if self.1 {
                block_on(MEMO.get_or_compute_async(&self.0, |_, _| async { 7 }))
            } else {
                MEMO.get_or_compute(&self.0, |_| 7)
            };
            assert_eq!(found, 7);
        }
    }
    for by_task in [false, true] {
        let text: Strong<usize> = Strong::new(4_usize);
        let asks = Asks(text.clone(), by_task);
        let event = Event::new();
        let task = Task::pending(MEMO.get_or_compute_async(&text, move |_, _| async move {
            let _asks = asks;
            event.wait().await;
            4
        }));
        drop(task);
        assert_eq!(MEMO.get(&text), Some(7));
    }
}

/// 256: A flight is polled once to its end.
#[test]
#[should_panic = "polled after it was ready"]
fn a_flight_has_one_end() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let mut task = Task::new(memo.get_or_compute_async(&text, |_, _| async { 4 }));
    assert_eq!(task.poll(), Poll::Ready(4));
    _ = task.poll();
}
