//! Who is woken.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

use weakly::Strong;

use super::common::heap;
use super::numbers::*;
use super::tools::*;

/// Asks for a computation that takes so many events.
fn ask<'a>(
    memo: &'a Numbers,
    text: &'a Strong<usize>,
    event: &Arc<Event>,
    times: usize,
) -> Answer<'a> {
    let event = Arc::clone(event);
    memo.get_or_compute_async(text, move |_, _| async move {
        for _ in 0..times {
            event.wait().await;
        }
        4
    })
}

/// 249: A wake of the computation wakes its leader; the end wakes all that wait, and nobody is woken before.
#[test]
fn the_end_wakes_all() {
    let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
    let mut all = tasks((0..4).map(|_| ask(&memo, &text, &event, 2)));
    let woken = |all: &[Task<_>]| all.iter().map(Task::woken).collect::<Vec<_>>();
    for _ in 0..2 {
        assert!(all.iter_mut().all(|task| task.poll().is_pending()));
    }
    assert_eq!(woken(&all), [0; 4]);
    drop(all.remove(1));
    event.happen();
    assert_eq!(woken(&all), [1, 0, 0]);
    assert!(all[0].poll().is_pending());
    event.happen();
    assert_eq!(woken(&all), [1, 0, 0]);
    assert_eq!(all[0].poll(), Poll::Ready(4));
    assert_eq!(woken(&all), [0, 1, 1]);
    assert!((all[1..].iter_mut()).all(|task| task.poll() == Poll::Ready(4)));
}

/// 249: A task that is moved, and polled with another waker, is woken by the last.
#[test]
fn the_last_waker_counts() {
    let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
    let mut leader = Task::pending(ask(&memo, &text, &event, 1));
    let mut asked = ask(&memo, &text, &event, 1);
    let mut first = Task::new(poll_fn(|context| asked.as_mut().poll(context)));
    assert!(first.poll().is_pending());
    let woken = first.wakes();
    drop(first);
    let mut second = Task::new(poll_fn(|context| asked.as_mut().poll(context)));
    assert!(second.poll().is_pending());
    event.happen();
    assert!(leader.poll().is_ready());
    assert_eq!((woken.take(), second.woken()), (0, 1));
}

/// 249: A task that is polled again and again takes no more room by that, nor do tasks that come and go.
#[test]
fn who_waits_takes_room_once() {
    let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
    let _leader = Task::pending(ask(&memo, &text, &event, 1));
    let mut others = tasks((0..3).map(|_| ask(&memo, &text, &event, 1)));
    let mut poll = || {
        (others.iter_mut()).for_each(|task| assert!(task.poll().is_pending()));
        drop(Task::pending(ask(&memo, &text, &event, 1)));
    };
    poll();
    let before = heap::bytes();
    (0..if cfg!(miri) { 30 } else { 10_000 }).for_each(|_| poll());
    let more = heap::bytes() - before;
    assert!(more < 100, "{more} bytes");
}

struct Panics(AtomicUsize);

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
        resume_unwind(Box::new("a waker"));
    }
}

/// 249, 255: Wakers that panic when the leader ends, with a value or without: all other wakers are called, and the first panic goes
/// to the caller that ends the leader.
#[test]
fn a_waker_that_panics_keeps_nobody_waiting() {
    for ends in [true, false] {
        let (memo, text, event) = (Numbers::new(), Strong::new(4_usize), Event::new());
        let mut leader = Task::pending(ask(&memo, &text, &event, 1));
        let mut all = tasks((0..4).map(|_| ask(&memo, &text, &event, 1)));
        let panics = Arc::new(Panics(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&panics));
        for (at, task) in all.iter_mut().enumerate() {
            let polled = match at % 2 {
                0 => task.poll_by(&mut Context::from_waker(&waker)),
                _ => task.poll(),
            };
            assert!(polled.is_pending());
        }
        event.happen();
        let caught = catch_unwind(AssertUnwindSafe(|| match ends {
            true => assert!(leader.poll().is_ready()),
            false => drop(leader),
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "a waker");
        assert_eq!(panics.0.load(SeqCst), 2);
        assert_eq!((all[1].woken(), all[3].woken()), (1, 1));
        assert_eq!(memo.get(&text), ends.then_some(4));
        event.happen();
        assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(4)));
    }
}
