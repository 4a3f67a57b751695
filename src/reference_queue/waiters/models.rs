//! loom models of the threads and tasks that wait. A count stands for the queue, whose messages go to one each.

use loom::sync::Arc;
use loom::thread;
use std::task::Wake;

use super::*;

struct Queue {
    messages: AtomicUsize,
    waiters: Waiters,
}

impl Queue {
    fn new() -> Arc<Self> {
        Arc::new(Queue {
            messages: AtomicUsize::new(0),
            waiters: Waiters::new(),
        })
    }

    fn push(&self) {
        self.messages.fetch_add(1, Relaxed);
        self.waiters.wake();
    }

    fn poll(&self) -> Option<()> {
        // Relaxed: the barriers order.
        let take = |messages: usize| messages.checked_sub(1);
        self.messages
            .fetch_update(Relaxed, Relaxed, take)
            .ok()
            .map(drop)
    }

    fn wait(&self) {
        self.waiters.wait(None, || self.poll()).expect("it waits");
    }
}

/// M2: No thread sleeps on while there is a message.
#[test]
fn a_thread_waits() {
    loom::model(|| {
        let queue = Queue::new();
        let waiter = thread::spawn({
            let queue = queue.clone();
            move || queue.wait()
        });
        queue.push();
        waiter.join().unwrap();
        assert_eq!(queue.waiters.waiting.load(Relaxed), 0);
    });
}

#[test]
fn two_threads_wait_for_two_messages() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let queue = Queue::new();
        let waiters = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || queue.wait())
        });
        queue.push();
        queue.push();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

/// A message that a poller takes away leaves the waiter to the next one.
#[test]
fn a_thread_waits_while_another_polls() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let queue = Queue::new();
        let waiter = thread::spawn({
            let queue = queue.clone();
            move || queue.wait()
        });
        let poller = thread::spawn({
            let queue = queue.clone();
            move || queue.poll().is_some()
        });
        queue.push();
        if poller.join().unwrap() {
            queue.push();
        }
        waiter.join().unwrap();
    });
}

struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(1, Relaxed);
    }
}

/// M2: A task that has found nothing is woken by the next message.
#[test]
fn a_task_waits() {
    loom::model(|| {
        let queue = Queue::new();
        let woken = std::sync::Arc::new(Woken(AtomicUsize::new(0)));
        let task = thread::spawn({
            let (queue, waker) = (queue.clone(), Waker::from(woken.clone()));
            move || {
                queue.waiters.register(&waker);
                queue.poll().is_some()
            }
        });
        queue.push();
        let found = task.join().unwrap();
        assert!(found || woken.0.load(Relaxed) == 1, "it sleeps on");
    });
}

/// A future that is dropped while a message comes leaves the other one counted, or woken, and nothing of its own.
#[test]
fn a_future_gives_up_while_another_waits() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let queue = Queue::new();
        let woken = [(); 2].map(|()| std::sync::Arc::new(Woken(AtomicUsize::new(0))));
        let [gives_up, waits] = [0, 1].map(|at: usize| {
            let (queue, waker) = (queue.clone(), Waker::from(woken[at].clone()));
            move || {
                let mut number = None;
                queue.waiters.enter(&mut number, &waker);
                let found = at == 1 && queue.poll().is_some();
                if at == 0 || found {
                    queue.waiters.leave(number.unwrap());
                }
                found
            }
        });
        let gives_up = thread::spawn(gives_up);
        let waits = thread::spawn(waits);
        queue.push();
        gives_up.join().unwrap();
        let found = waits.join().unwrap();
        assert!(found || woken[1].0.load(Relaxed) == 1, "it sleeps on");
        assert_eq!(queue.waiters.waiting.load(Relaxed), 0);
    });
}
