//! Threads that wait for tasks, and tasks that wait for threads.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::Poll;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use weakly::Strong;
use weakly::memo::TimedOut;

use super::common::in_time;
use super::numbers::*;
use super::tools::*;

/// A thread that is about to make this call. (If it is late, the test shows less, and is green.)
fn begun<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    call: impl FnOnce() -> R + Send + 'scope,
) -> ScopedJoinHandle<'scope, R> {
    let (begins, begun) = channel();
    let thread = scope.spawn(move || {
        begins.send(()).unwrap();
        call()
    });
    begun.recv().unwrap();
    thread
}

/// 247: A blocking call waits for what tasks compute, and does not poll it.
#[test]
fn a_thread_waits_for_tasks() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut task = {
        let event = Arc::clone(&event);
        Task::pending(memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            4
        }))
    };
    thread::scope(|scope| {
        let other = begun(scope, || memo.get_or_compute(&text, |_| 5));
        let soon = Duration::from_millis(20);
        assert_eq!(
            memo.get_or_compute_timeout(&text, soon, |_| 6),
            Err(TimedOut)
        );
        assert!(!other.is_finished());
        event.happen();
        assert_eq!(task.poll(), Poll::Ready(4));
        assert_eq!(other.join().unwrap(), 4);
    });
    assert_eq!(memo.statistics().loads, 1);
}

/// 247: A task waits for what a thread computes, and is woken. If that fails, it computes.
#[test]
fn a_task_waits_for_a_thread() {
    for fails in [false, true] {
        let (memo, text) = (Numbers::new(), Strong::new(4_usize));
        let (begun, go) = (channel(), channel());
        thread::scope(|scope| {
            let (memo, text) = (&memo, &text);
            scope.spawn(move || {
                memo.try_get_or_compute(text, |_| {
                    begun.0.send(()).unwrap();
                    go.1.recv().unwrap();
                    if fails { Err(()) } else { Ok(4) }
                })
            });
            begun.1.recv().unwrap();
            let mut task = Task::pending(memo.get_or_compute_async(text, |_, _| async { 5 }));
            let given_up = Task::pending(memo.get_or_compute_async(text, |_, _| async { 6 }));
            drop(given_up);
            assert_eq!(task.woken(), 0);
            go.0.send(()).unwrap();
            let answer = block_on(std::future::poll_fn(|context| task.poll_by(context)));
            assert_eq!(answer, if fails { 5 } else { 4 });
        });
    }
}

/// 247, 280: A value is inserted while a task computes: the threads and tasks that wait find the inserted value at once, also if
/// the task is not polled again. That task goes on, and gets the value that it computes, or the first if that was computed, too.
#[test]
fn threads_that_wait_for_tasks_find_an_inserted_value() {
    type Insert = fn(&Numbers, &Strong<usize>);
    let inserts: [(Insert, usize); 2] = [
        (|memo, text| assert_eq!(memo.insert(text, 3), None), 4),
        (
            |memo, text| assert_eq!(memo.get_or_compute_racing(text, |_| 3), 3),
            3,
        ),
    ];
    for (insert, own) in inserts {
        in_time(move || {
            let (memo, text) = (Numbers::new(), Strong::new(4_usize));
            let event = Event::new();
            let computes = || {
                let event = Arc::clone(&event);
                memo.get_or_compute_async(&text, move |_, _| async move {
                    event.wait().await;
                    4
                })
            };
            let (mut first, mut second) = (Task::pending(computes()), Task::pending(computes()));
            thread::scope(|scope| {
                let waits = begun(scope, || memo.get_or_compute(&text, |_| 5));
                // For the thread to wait by then.
                thread::sleep(Duration::from_millis(20));
                insert(&memo, &text);
                assert_eq!(waits.join().unwrap(), 3);
            });
            assert_eq!((first.woken(), second.woken()), (0, 1));
            assert_eq!(second.poll(), Poll::Ready(3));
            assert!(first.poll().is_pending());
            event.happen();
            assert_eq!((first.woken(), first.poll()), (1, Poll::Ready(own)));
            let invalidated = u64::from(own == 4);
            assert_eq!(
                (memo.get(&text), memo.statistics().invalidated),
                (Some(3), invalidated)
            );
        });
    }
}

/// 250: Of a flight that is forgotten only the key waits; a blocking call gives up by its time, and other keys are free.
#[test]
fn of_a_forgotten_flight_its_key_waits() {
    let (memo, text, other) = (Numbers::new(), Strong::new(4_usize), Strong::new(5_usize));
    mem::forget(memo.get_or_compute_async(&other, |_, _| async { 4 }));
    let mut pending = Box::pin(memo.get_or_compute_async(&text, |_, _| std::future::pending()));
    assert!(
        pending
            .as_mut()
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
            .is_pending()
    );
    mem::forget(pending);
    let soon = Duration::from_millis(1);
    assert_eq!(
        memo.get_or_compute_timeout(&text, soon, |_| 5),
        Err(TimedOut)
    );
    assert_eq!(memo.get_or_compute(&other, |_| 6), 6, "it was not polled");
    assert_eq!(memo.insert(&text, 7), None);
    assert_eq!(memo.get_or_compute(&text, |_| 8), 7);
    drop(text);
    assert_eq!(memo.len(), 1);
}

/// 252, 441: A blocking call that gives up when its time is up. What it would compute itself takes its time.
#[test]
fn a_wait_may_have_an_end() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let soon = Duration::from_millis(1);
    let slow = |answer| {
        thread::sleep(3 * soon);
        answer
    };
    assert_eq!(memo.get_or_compute_timeout(&text, soon, |_| slow(4)), Ok(4));
    assert_eq!(
        memo.get_or_compute_timeout(&text, Duration::ZERO, |_| 5),
        Ok(4)
    );
    assert_eq!(
        memo.get_or_compute_timeout(&text, Duration::MAX, |_| 5),
        Ok(4)
    );
    memo.clear();
    let before = memo.statistics();
    let (begun, go) = (channel(), channel());
    thread::scope(|scope| {
        let (memo, text) = (&memo, &text);
        let thread = scope.spawn(move || {
            memo.get_or_compute_timeout(text, Duration::ZERO, |_| {
                begun.0.send(()).unwrap();
                go.1.recv().unwrap();
                4
            })
        });
        begun.1.recv().unwrap();
        assert_eq!(
            memo.get_or_compute_timeout(text, soon, |_| 5),
            Err(TimedOut)
        );
        go.0.send(()).unwrap();
        // A time at which it would give up, unlike `Duration::MAX`.
        let never = Duration::from_secs(1 << 30);
        assert_eq!(memo.get_or_compute_timeout(text, never, |_| 5), Ok(4));
        assert_eq!(thread.join().unwrap(), Ok(4));
    });
    let after = memo.statistics();
    let counted = (after.hits - before.hits, after.misses - before.misses);
    assert_eq!(counted, (1, 2), "of three calls, one has timed out");
    assert_eq!(TimedOut.to_string(), "the result was not computed in time");
}
