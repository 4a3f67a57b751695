//! Computations that fail, panic, or whose inputs do not last.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

use weakly::{Memo, Strong};

use super::common::doomed::Doomed;
use super::common::in_time;
use super::numbers::*;
use super::tools::*;

/// 244: A panic goes to the task that computes. The others are woken, and one of them computes.
#[test]
fn a_panic_goes_to_who_computes() {
    let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
    let panics = |event: Arc<Event>| async move {
        event.wait().await;
        panic_any(String::from("boom"))
    };
    let late = Arc::clone(&event);
    let mut first = Task::pending(memo.get_or_compute_async(&text, move |_, _| panics(late)));
    let ask = |answer| memo.get_or_compute_async(&text, move |_, _| async move { answer });
    let (mut second, mut third) = (Task::pending(ask(2)), Task::pending(ask(3)));
    event.happen();
    let payload = catch_unwind(AssertUnwindSafe(|| first.poll())).unwrap_err();
    assert_eq!(message(payload), "boom");
    assert_eq!((second.woken(), third.woken()), (1, 1));
    assert_eq!(third.poll(), Poll::Ready(3));
    assert_eq!(second.poll(), Poll::Ready(3));
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.failures, memo.len()),
        (2, 1, 1)
    );

    // The panic of the closure itself.
    memo.clear();
    let mut task = Task::new(memo.get_or_compute_async(&text, |_, _| {
        panic_any("at once");
        #[expect(unreachable_code, reason = "says what the closure returns")]
        async {
            0
        }
    }));
    let payload = catch_unwind(AssertUnwindSafe(|| task.poll())).unwrap_err();
    assert_eq!(message(payload), "at once");
    assert_eq!(block_on(ask(5)), 5);
}

/// 245: An error, likewise. Each task has errors of a type of its own.
#[test]
fn an_error_goes_to_who_computes() {
    let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
    let fails = async |_, _| {
        event.wait().await;
        Err("no")
    };
    let mut first = Task::pending(memo.try_get_or_compute_async(&text, fails));
    let mut second =
        Task::pending(memo.try_get_or_compute_async(&text, |_, _| async { Err(5_u8) }));
    let mut third = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 3 }));
    event.happen();
    assert_eq!(first.poll(), Poll::Ready(Err("no")));
    assert_eq!(second.poll(), Poll::Ready(Err(5)));
    assert_eq!(third.poll(), Poll::Ready(3));
    assert_eq!((memo.get(&text), memo.statistics().failures), (Some(3), 2));
    let ask = memo.try_get_or_compute_async(&text, |_, _| async { Err(()) });
    assert_eq!(block_on(ask), Ok(3));
}

/// 246: A result that is removed, invalidated or replaced while it is computed goes to its leader, and is not kept. Those that
/// wait find the other result, or compute anew.
#[test]
fn what_changes_meanwhile_is_not_kept() {
    for change in [0, 1, 2] {
        let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
        let ask = |answer| {
            let event = Arc::clone(&event);
            memo.get_or_compute_async(&text, move |_, _| async move {
                event.wait().await;
                answer
            })
        };
        let (mut leads, mut waits) = (Task::pending(ask(4)), Task::pending(ask(5)));
        match change {
            0 => _ = memo.remove(&text),
            1 => _ = memo.invalidate(&text),
            _ => _ = memo.insert(&text, 9),
        }
        // Whoever asks from now on does not wait for that.
        let mut later = Task::new(memo.get_or_compute_async(&text, |_, _| async { 9 }));
        assert_eq!(later.poll(), Poll::Ready(9));
        event.happen();
        assert_eq!(leads.poll(), Poll::Ready(4));
        assert_eq!((waits.woken(), waits.poll()), (1, Poll::Ready(9)));
        assert_eq!(memo.get(&text), Some(9));
        assert_eq!(memo.statistics().invalidated, 1);
    }
}

/// 255: A clone of a value that panics is a panic of the computation.
#[test]
fn a_clone_that_panics_keeps_nobody_waiting() {
    let (memo, text) = (Memo::<Strong<usize>, Doomed>::new(), Strong::new(4_usize));
    let clones = Arc::new(AtomicUsize::new(0));
    let ask = || {
        let clones = Arc::clone(&clones);
        let bad = Doomed::default().cloning(move || {
            assert!(clones.fetch_add(1, SeqCst) != 0, "the first clone");
        });
        memo.get_or_compute_async(&text, move |_, _| async { bad })
    };
    let (mut first, mut second) = (Task::new(ask()), Task::new(ask()));
    assert!(catch_unwind(AssertUnwindSafe(|| first.poll())).is_err());
    assert!(second.poll().is_ready());
    assert_eq!(memo.len(), 1);
}

/// 255: Wakers run under no lock, when they are called and when they are destroyed: they may use the memo, and ask for the same
/// key.
#[test]
fn a_waker_may_ask() {
    static MEMO: Numbers = Numbers::new();
    struct Asks(Strong<usize>, Arc<AtomicUsize>);
    impl Wake for Asks {
        fn wake(self: Arc<Self>) {
            let found = MEMO.get_or_compute(&self.0, |_| 100);
            self.1.fetch_add(found, SeqCst);
        }
    }
    impl Drop for Asks {
        fn drop(&mut self) {
            let found = MEMO.get_or_compute(&self.0, |_| 100);
            self.1.fetch_add(found, SeqCst);
        }
    }
    in_time(|| {
        let (text, event) = (Strong::new(4_usize), Event::new());
        let found = Arc::<AtomicUsize>::default();
        let waker = Waker::from(Arc::new(Asks(text.clone(), Arc::clone(&found))));
        let ask = || {
            let event = Arc::clone(&event);
            MEMO.get_or_compute_async(&text, move |_, _| async move {
                event.wait().await;
                4
            })
        };
        let (mut first, mut second) = (Task::pending(ask()), Task::new(ask()));
        let mut context = Context::from_waker(&waker);
        assert!(second.poll_by(&mut context).is_pending());
        drop(waker);
        event.happen();
        assert_eq!(first.poll(), Poll::Ready(4));
        assert_eq!(found.load(SeqCst), 8, "the result is there for both");
        assert_eq!(second.poll(), Poll::Ready(4));
    });
}
