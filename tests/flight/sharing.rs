//! One of those who ask computes for all.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use weakly::concurrent::WeakValueMap;
use weakly::{Memo, Strong};

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

/// 241: If the leader is dropped, the computation is dropped, all waiters are woken, and the first one that is polled computes
/// anew. A caller that arrives meanwhile may be that one.
#[test]
fn the_next_computes_after_a_dropped_leader() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (event, begun) = (Event::new(), Arc::new(AtomicUsize::new(0)));
    let ask = |_| {
        let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
        memo.get_or_compute_async(&text, move |_, _| async move {
            let number = begun.fetch_add(1, SeqCst);
            event.wait().await;
            number
        })
    };
    let mut all: Vec<_> = (0..4).map(ask).map(Task::pending).collect();
    drop(all.remove(0));
    assert!(all.iter().all(|task| task.woken() == 1));
    assert_eq!((memo.len(), memo.statistics().failures), (0, 1));
    assert!(all[1].poll().is_pending() && all[0].poll().is_pending());
    assert_eq!(begun.load(SeqCst), 2);
    drop(all.remove(1));
    let mut arrives = Task::pending(ask(4));
    event.happen();
    assert_eq!((arrives.woken(), arrives.poll()), (1, Poll::Ready(2)));
    assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(2)));
}

/// 242: A waiter that was woken, and is dropped, or kept and never polled again, stalls nobody.
#[test]
fn a_waiter_that_is_not_polled_again_stalls_nobody() {
    for drops in [false, true] {
        let (memo, text) = (Numbers::new(), Strong::new(4_usize));
        let ask = |answer| memo.get_or_compute_async(&text, move |_, _| async move { answer });
        let never = memo.get_or_compute_async(&text, |_, _| std::future::pending());
        let leader = Task::pending(never);
        let (mut woken, mut other) = (Some(Task::pending(ask(1))), Task::pending(ask(2)));
        drop(leader);
        assert_eq!(woken.as_ref().map(Task::woken), Some(1));
        if drops {
            woken = None;
        }
        assert_eq!((other.woken(), other.poll()), (1, Poll::Ready(2)));
        assert_eq!(block_on(ask(3)), 2);
        drop(woken);
    }
}

/// 243: The destructor of a computation runs while its key is reserved: if it asks for the key, this is a cycle. Afterwards
/// nothing is left.
#[test]
fn the_destructor_of_a_computation_asks_in_a_cycle() {
    static MEMO: Numbers = Numbers::new();
    static CYCLES: AtomicUsize = AtomicUsize::new(0);
    struct Asks(Strong<usize>, bool);
    impl Drop for Asks {
        fn drop(&mut self) {
            let asked = catch_unwind(AssertUnwindSafe(|| match self.1 {
                true => block_on(MEMO.get_or_compute_async(&self.0, |_, _| async { 7 })),
                false => MEMO.get_or_compute(&self.0, |_| 7),
            }));
            assert!(message(asked.unwrap_err()).starts_with("a cycle"));
            CYCLES.fetch_add(1, SeqCst);
        }
    }
    for by_task in [false, true] {
        let text: Strong<usize> = Strong::new(4_usize);
        let asks = Asks(text.clone(), by_task);
        let task = Task::pending(MEMO.get_or_compute_async(&text, move |_, _| async move {
            let _asks = asks;
            std::future::pending().await
        }));
        drop(task);
        assert_eq!(
            (MEMO.get(&text), MEMO.get_or_compute(&text, |_| 8)),
            (None, 8)
        );
    }
    assert_eq!(CYCLES.load(SeqCst), 2);
}

/// 450: Closures and futures borrow locals, and need not be `Send`.
#[test]
fn closures_and_futures_borrow() {
    let (memo, text) = (
        Memo::<Strong<str>, usize>::new(),
        Strong::<str>::from("text"),
    );
    let (counts, rc) = (Cell::new(0), Rc::new(4));
    let ask = || {
        memo.get_or_compute_async(&text, |_, _| async {
            let rc = Rc::clone(&rc);
            yields(1).await;
            counts.set(counts.get() + 1);
            *rc
        })
    };
    assert_eq!((block_on(ask()), block_on(ask()), counts.get()), (4, 4, 1));
    let names = WeakValueMap::<usize, Arc<usize>>::new();
    let (set, rc) = (&counts, &rc);
    let named = block_on(names.get_or_insert_async(1, |name| async move {
        set.set(9);
        Arc::new(*Rc::clone(rc) + name)
    }));
    assert_eq!((*named, counts.get()), (5, 9));
}

/// 451: The lookup happens at the first poll, not at the call.
#[test]
fn the_lookup_happens_at_the_first_poll() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let mut early = Task::new(memo.get_or_compute_async(&text, |_, _| async { 4 }));
    assert_eq!(memo.insert(&text, 5), None);
    assert_eq!(early.poll(), Poll::Ready(5));
    let mut late = Task::new(memo.get_or_compute_async(&text, |_, _| async { 6 }));
    memo.remove(&text);
    assert_eq!(late.poll(), Poll::Ready(6));
}
