//! The next message as a future, which takes its waker back.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use weakly::{ReferenceQueue, Strong};

use crate::Woken;
use crate::common::{in_time, scaled};

/// A task: how often it was woken, and the waker.
fn task() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

/// How often a task was woken, and how many wakers of it there are.
fn state((woken, _): &(Arc<Woken>, Waker)) -> (usize, usize) {
    (woken.times(), Arc::strong_count(woken) - 1)
}

fn send<M: Send + 'static>(queue: &ReferenceQueue<M>, message: M) {
    queue.register(&Strong::new(()), message);
}

/// 591: It waits as often as its task is polled, and is woken once.
#[test]
fn it_waits_for_a_message() {
    let (queue, task) = (ReferenceQueue::new(), task());
    let mut context = Context::from_waker(&task.1);
    send(&queue, 1);
    assert_eq!(pin!(queue.next()).poll(&mut context), Poll::Ready(1));
    assert_eq!(state(&task), (0, 1), "it did not wait");
    let mut next = pin!(queue.next());
    for _ in 0..2 {
        assert!(next.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(state(&task), (0, 2));
    send(&queue, 2);
    send(&queue, 3);
    assert_eq!(state(&task), (1, 1), "once, until it is polled again");
    assert_eq!(next.as_mut().poll(&mut context), Poll::Ready(2));
    assert_eq!(next.as_mut().poll(&mut context), Poll::Ready(3));
}

/// 591: It is told apart from another future of the same task, and from `poll_wait`.
#[test]
fn one_that_is_dropped_leaves_no_waker() {
    let (queue, task) = (ReferenceQueue::new(), task());
    let mut context = Context::from_waker(&task.1);
    let [mut one, mut other] = [queue.next(), queue.next()];
    assert!(pin!(&mut one).poll(&mut context).is_pending());
    assert!(pin!(&mut other).poll(&mut context).is_pending());
    assert!(queue.poll_wait(&mut context).is_pending());
    assert_eq!(state(&task), (0, 4));
    drop(one);
    assert_eq!(state(&task), (0, 3));
    drop(other);
    assert_eq!(state(&task), (0, 2));
    send(&queue, ());
    assert_eq!(state(&task), (1, 1), "the queue knows of `poll_wait` only");
    assert!(queue.poll().is_some());
    drop(queue.next());
}

/// 591: A wake-up that a dropped future has got is no other's loss.
#[test]
fn one_that_is_dropped_after_its_wake_up_leaves_the_message_to_another() {
    let (queue, [one, other]) = (ReferenceQueue::new(), [task(), task()]);
    let mut dropped = Box::pin(queue.next());
    let mut waits = pin!(queue.next());
    assert!(
        dropped
            .as_mut()
            .poll(&mut Context::from_waker(&one.1))
            .is_pending()
    );
    assert!(
        waits
            .as_mut()
            .poll(&mut Context::from_waker(&other.1))
            .is_pending()
    );
    send(&queue, 1);
    drop(dropped);
    assert_eq!((state(&one), state(&other)), ((1, 1), (1, 1)));
    assert_eq!(
        waits.poll(&mut Context::from_waker(&other.1)),
        Poll::Ready(1)
    );
}

/// 591: Futures that give up after each poll take no wake-up from one that waits.
#[test]
fn futures_give_up_while_messages_come() {
    const MESSAGES: usize = scaled(20_000, 50);
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let give_up = |queue: &ReferenceQueue<()>| {
        for _ in 0..MESSAGES {
            let mut context = Context::from_waker(Waker::noop());
            if pin!(queue.next()).poll(&mut context).is_ready() {
                send(queue, ()); // it is the other's
            }
        }
    };
    let wait = |queue: &ReferenceQueue<()>| {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        for _ in 0..MESSAGES {
            let mut next = pin!(queue.next());
            while next.as_mut().poll(&mut context).is_pending() {
                thread::park();
            }
        }
    };
    in_time(move || {
        let queue = ReferenceQueue::new();
        thread::scope(|scope| {
            scope.spawn(|| give_up(&queue));
            scope.spawn(|| wait(&queue));
            (0..MESSAGES).for_each(|_| send(&queue, ()));
        });
        assert!(queue.is_empty());
    });
}
