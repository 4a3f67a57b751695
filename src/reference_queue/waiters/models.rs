//! loom models of the waiting threads and tasks.

use core::future::Future;
use core::pin::pin;
use core::task::Context;
use loom::thread;
use std::sync::Arc;

use super::super::messages::ReferenceQueue;
use super::*;
use crate::ptr::models::{Woken, both, check};
use crate::sync::models;

type Queue = ReferenceQueue<()>;

fn queue() -> Arc<Queue> {
    Arc::new(Queue::new())
}

/// M2: No thread sleeps on while there is a message.
#[test]
fn a_thread_waits() {
    models::check(|| {
        let queue = queue();
        let waiter = thread::spawn({
            let queue = queue.clone();
            move || queue.wait()
        });
        queue.put_in(());
        waiter.join().unwrap();
    });
}

#[test]
fn two_threads_wait_for_two_messages() {
    models::check_up_to(2, || {
        let queue = queue();
        let waiters = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || queue.wait())
        });
        queue.put_in(());
        queue.put_in(());
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

/// If a poller takes the message, the waiter waits for the next message.
#[test]
fn a_thread_waits_while_another_polls() {
    models::check_up_to(2, || {
        let queue = queue();
        let waiter = thread::spawn({
            let queue = queue.clone();
            move || queue.wait()
        });
        let poller = thread::spawn({
            let queue = queue.clone();
            move || queue.poll().is_some()
        });
        queue.put_in(());
        if poller.join().unwrap() {
            queue.put_in(());
        }
        waiter.join().unwrap();
    });
}

/// M2: A task that has found no message is woken by the next message: here the message of a dying
/// object.
#[test]
fn a_task_waits() {
    check(1, |maker| {
        let (queue, object, woken) = (queue(), maker.object(), Woken::new());
        drop(queue.register(&object, ()));
        let ((), polled) = both(
            move || drop(object),
            || queue.poll_wait(&mut Context::from_waker(&woken.waker().unwrap())),
        );
        assert!(polled.is_ready() || woken.take(), "it sleeps on");
        assert_eq!(queue.poll().is_some(), polled.is_pending());
    });
}

/// M2: A message that does not call the waker that is set meanwhile is there when it is set. The
/// waker stays: the next message calls it.
#[test]
fn a_waker_is_set_while_a_message_comes() {
    models::check(|| {
        let (queue, woken) = (queue(), Woken::new());
        let sets = thread::spawn({
            let (queue, waker) = (queue.clone(), woken.waker());
            move || {
                queue.set_waker(waker);
                queue.poll().is_some()
            }
        });
        queue.put_in(());
        let found = sets.join().unwrap();
        assert!(woken.take() || found, "nobody knows of the message");
        queue.put_in(());
        assert!(woken.take(), "it is not armed any more");
        queue.set_waker(None);
    });
}

/// A future is dropped while a message comes. The other future is still counted, or has been woken;
/// the dropped future leaves nothing behind.
#[test]
fn a_future_gives_up_while_another_waits() {
    models::check_up_to(2, || {
        let queue = queue();
        let (gone, woken) = (Woken::new(), Woken::new());
        let gives_up = thread::spawn({
            let (queue, waker) = (queue.clone(), gone.waker().unwrap());
            move || {
                let polled = pin!(queue.next()).poll(&mut Context::from_waker(&waker));
                _ = polled.map(|()| queue.put_in(()));
            }
        });
        let waits = thread::spawn({
            let (queue, waker) = (queue.clone(), woken.waker().unwrap());
            move || {
                let mut next = queue.next();
                let polled = pin!(&mut next).poll(&mut Context::from_waker(&waker));
                mem::forget(next); // it waits on
                polled.is_ready()
            }
        });
        queue.put_in(());
        gives_up.join().unwrap();
        let found = waits.join().unwrap();
        assert!(found || woken.take(), "it sleeps on");
    });
}
