//! The reference queue: deaths that are delivered as messages. The numbers are those of the behaviours.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::Woken;
use crate::common::{in_time, scaled};
use weakly::reference_queue::Ticket;
use weakly::{ReferenceQueue, Strong};

const MANY: usize = scaled(10_000, 40);

/// 58: A death puts in its message, once, and no other's.
#[test]
fn a_death_puts_in_its_message() {
    let queue = ReferenceQueue::new();
    let (one, other) = (Strong::new(1), Strong::from("unsized"));
    queue.register(&one, "one");
    queue.register(&one, "one more");
    queue.register::<str>(&other, "other");
    let clone = one.clone();
    drop(one);
    assert_eq!(
        (queue.poll(), queue.len(), queue.is_empty()),
        (None, 0, true)
    );
    drop(clone);
    assert_eq!(queue.len(), 2);
    let mut messages: Vec<_> = queue.drain().collect();
    messages.sort_unstable();
    assert_eq!(messages, ["one", "one more"]);
    drop(other);
    assert_eq!((queue.poll(), queue.poll()), (Some("other"), None));
}

/// 591: The message comes when no weak handle can be upgraded and the destructor has run.
#[test]
fn a_message_comes_after_the_end() {
    struct Asks(ReferenceQueue<()>, Arc<AtomicUsize>);
    impl Drop for Asks {
        fn drop(&mut self) {
            assert!(self.0.poll().is_none());
            self.1.fetch_add(1, Relaxed);
        }
    }
    let (queue, ended) = (ReferenceQueue::new(), Arc::new(AtomicUsize::new(0)));
    let object = Strong::new(Asks(queue.clone(), ended.clone()));
    let weak = Strong::downgrade(&object);
    queue.register(&object, ());
    drop(object);
    assert!(weak.upgrade().is_none());
    assert_eq!((ended.load(Relaxed), queue.poll()), (1, Some(())));
}

/// 591: A message whose queue has gone is dropped where the object dies, and not before.
#[test]
fn a_queue_goes_first() {
    let message = Arc::new(());
    let queue = ReferenceQueue::new();
    let objects = [Strong::new(1), Strong::new(2)];
    for object in &objects {
        queue.register(object, message.clone());
    }
    drop(objects.clone());
    let [one, other] = objects;
    drop(one);
    assert_eq!(Arc::strong_count(&message), 3);
    drop(queue);
    assert_eq!(
        Arc::strong_count(&message),
        2,
        "what was in the queue goes with it"
    );
    drop(other);
    assert_eq!(Arc::strong_count(&message), 1);
}

/// 71: However many threads poll, each message comes out once.
#[test]
fn each_message_comes_out_once() {
    let queue = ReferenceQueue::new();
    let out = Mutex::new(vec![0; MANY]);
    let left = AtomicUsize::new(MANY);
    thread::scope(|scope| {
        for part in 0..2 {
            let queue = &queue;
            scope.spawn(move || {
                for number in (0..MANY).filter(|number| number % 2 == part) {
                    let object = Strong::new(number);
                    queue.register(&object, number);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while left.load(Relaxed) != 0 {
                    match queue.poll() {
                        Some(number) => {
                            out.lock().unwrap()[number] += 1;
                            left.fetch_sub(1, Relaxed);
                        }
                        None => thread::yield_now(),
                    }
                }
            });
        }
    });
    assert!(out.into_inner().unwrap().iter().all(|times| *times == 1));
}

/// 591: Threads that wait are woken, one for a message; a poller beside them is not kept out.
#[test]
fn threads_wait() {
    let queue = ReferenceQueue::new();
    let objects: Vec<_> = (0..MANY / 4 * 4).map(Strong::new).collect();
    for object in &objects {
        queue.register(object, ());
    }
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..MANY / 4).for_each(|_| queue.wait()));
        }
        let mut polled = 0;
        for object in objects {
            drop(object);
            polled += usize::from(polled < MANY / 4 * 2 && queue.poll().is_some());
        }
        while polled < MANY / 4 * 2 {
            polled += usize::from(queue.poll().is_some());
            thread::yield_now();
        }
    });
    assert!(queue.is_empty());
}

/// 591: Of two threads that sleep each is woken by a message of its own.
#[test]
fn two_threads_sleep() {
    in_time(|| {
        for _ in 0..scaled(50, 4) {
            let queue = ReferenceQueue::new();
            let objects = [1, 2].map(Strong::new);
            for object in &objects {
                queue.register(object, **object);
            }
            thread::scope(|scope| {
                let threads = [(); 2].map(|()| scope.spawn(|| queue.wait()));
                // By now both sleep, most of the time.
                thread::sleep(Duration::from_millis(1));
                drop(objects);
                let got = threads.map(|thread| thread.join().unwrap());
                assert_eq!(got.iter().sum::<usize>(), 3);
            });
        }
    });
}

/// 591: Who waits may give up.
#[test]
fn a_wait_has_an_end() {
    let queue = ReferenceQueue::<()>::new();
    let began = Instant::now();
    assert_eq!(queue.wait_timeout(Duration::from_millis(20)), None);
    assert!(began.elapsed() >= Duration::from_millis(20));
    assert_eq!(queue.wait_timeout(Duration::ZERO), None);
    queue.register(&Strong::new(()), ());
    assert_eq!(queue.wait_timeout(Duration::MAX), Some(()));
    let object = Strong::new(());
    queue.register(&object, ());
    thread::scope(|scope| {
        scope.spawn(|| drop(object));
        assert_eq!(queue.wait_timeout(Duration::MAX), Some(()));
    });
}

/// 591: Tasks that come with a new waker each time do not pile up, and none is forgotten.
#[test]
fn many_wakers() {
    let queue = ReferenceQueue::<()>::new();
    let all: Vec<_> = (0..200).map(|_| Arc::new(Woken::default())).collect();
    for woken in &all {
        let waker = Waker::from(woken.clone());
        assert!(
            queue
                .poll_wait(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    let kept = all
        .iter()
        .filter(|woken| Arc::strong_count(woken) > 1)
        .count();
    let woken = all.iter().filter(|woken| woken.times() == 1).count();
    assert!(kept <= 64 && kept + woken == 200);
    queue.register(&Strong::new(()), ());
    assert!(all.iter().all(|woken| woken.times() == 1));
}

/// 591: A message may use its queue when it is dropped, and be the last to have it.
#[test]
fn a_message_uses_its_queue() {
    struct Message(Option<ReferenceQueue<Message>>, Arc<AtomicUsize>);
    impl Drop for Message {
        fn drop(&mut self) {
            self.1.fetch_add(1, Relaxed);
            if let Some(queue) = self.0.take() {
                drop(queue.poll());
                let object = Strong::new(());
                queue.register(&object, Message(None, self.1.clone()));
                drop(object);
            }
        }
    }
    let (queue, dropped) = (ReferenceQueue::new(), Arc::new(AtomicUsize::new(0)));
    for _ in 0..2 {
        let object = Strong::new(());
        queue.register(&object, Message(Some(queue.clone()), dropped.clone()));
    }
    assert_eq!(queue.len(), 2);
    let message = queue.poll();
    drop(queue);
    // It polls the second, which puts in one; puts in another; and is the last that has the queue.
    drop(message);
    assert_eq!(dropped.load(Relaxed), 4);
}

/// 591: The first panic of several wakers goes on; all others are woken.
#[test]
fn several_wakers_that_panic() {
    struct Panics(usize);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new(self.0));
        }
    }
    let queue = ReferenceQueue::new();
    let woken = Arc::new(Woken::default());
    for number in 0..3 {
        let panics = Waker::from(Arc::new(Panics(number)));
        for waker in [panics, Waker::from(woken.clone())] {
            let mut context = Context::from_waker(&waker);
            assert!(queue.poll_wait(&mut context).is_pending());
        }
    }
    let object = Strong::new(());
    queue.register(&object, 1);
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(object)));
    assert_eq!(died.unwrap_err().downcast_ref(), Some(&0_usize));
    assert_eq!((woken.times(), queue.poll()), (3, Some(1)));
}

/// What a waker does when it is called, with the queue.
struct Act(Mutex<Option<ReferenceQueue<u32>>>, Action);

type Action = fn(ReferenceQueue<u32>);

impl Wake for Act {
    fn wake(self: Arc<Self>) {
        let queue = self.0.lock().unwrap().take();
        queue.into_iter().for_each(self.1);
    }
}

/// 591: A waker may poll, register what dies at once, wait for that, have itself woken again, or drop the queue.
#[test]
fn wakers_use_the_queue() {
    let acts: [(Action, Option<u32>); 5] = [
        (|queue| assert_eq!(queue.poll(), Some(1)), None),
        (
            |queue| {
                assert_eq!(queue.poll(), Some(1));
                queue.register(&Strong::new(()), 2);
            },
            Some(2),
        ),
        (|queue| assert_eq!(queue.wait(), 1), None),
        (
            |queue| {
                assert_eq!(queue.poll(), Some(1));
                let waker = Waker::from(Arc::new(Woken::default()));
                let mut context = Context::from_waker(&waker);
                assert!(queue.poll_wait(&mut context).is_pending());
                queue.register(&Strong::new(()), 3);
            },
            Some(3),
        ),
        (drop, Some(1)),
    ];
    for (act, left) in acts {
        let queue = ReferenceQueue::new();
        let waker = Waker::from(Arc::new(Act(Mutex::new(Some(queue.clone())), act)));
        let mut context = Context::from_waker(&waker);
        assert!(queue.poll_wait(&mut context).is_pending());
        let object = Strong::new(());
        queue.register(&object, 1);
        drop(object);
        assert_eq!(queue.poll(), left);
    }
}

/// 360: A waker that is set is called for each message, until it is replaced or taken out, and beside those who wait.
#[test]
fn a_waker_that_is_set_stays_armed() {
    let queue = ReferenceQueue::new();
    let die = |message: u32| _ = queue.register(&Strong::new(()), message);
    let [first, second, task] = [(); 3].map(|()| Arc::new(Woken::default()));
    die(0);
    queue.set_waker(Some(Waker::from(first.clone())));
    assert_eq!(first.times(), 0, "not for what is there");
    assert_eq!(queue.poll(), Some(0));
    for times in 1..=5 {
        die(1);
        assert_eq!(first.times(), times, "whether somebody polls or not");
        assert!(times % 2 == 0 || queue.drain().count() != 0);
    }
    _ = queue.drain().count();
    let waker = Waker::from(task.clone());
    let mut context = Context::from_waker(&waker);
    assert!(queue.poll_wait(&mut context).is_pending());
    die(2);
    assert_eq!((first.times(), task.times()), (6, 1));
    assert_eq!(queue.poll_wait(&mut context), Poll::Ready(2));
    queue.set_waker(Some(Waker::from(second.clone())));
    assert_eq!(Arc::strong_count(&first), 1, "it is dropped");
    die(3);
    assert_eq!((first.times(), second.times(), task.times()), (6, 1, 1));
    queue.clone().set_waker(None);
    die(4);
    assert_eq!((second.times(), Arc::strong_count(&second)), (1, 1));
    assert!(queue.drain().eq([3, 4]));
}

/// Whether the ticket was pending, and the message.
type Seen = (bool, Option<u32>);

/// An object that takes its message back when it is dropped.
#[derive(Default)]
struct Cancels {
    ticket: Mutex<Option<Ticket<u32>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Drop for Cancels {
    fn drop(&mut self) {
        let ticket = self.ticket.get_mut().unwrap();
        let seen = ticket
            .iter()
            .map(|ticket| (ticket.is_pending(), ticket.cancel()));
        self.seen.lock().unwrap().extend(seen);
    }
}

/// 591: Until the destructor of the object has run, the ticket takes its message back.
#[test]
fn a_ticket_is_pending_in_the_destructor_of_its_object() {
    let (queue, object) = (ReferenceQueue::new(), Strong::new(Cancels::default()));
    let seen = object.seen.clone();
    queue.register(&object, 1);
    *object.ticket.lock().unwrap() = Some(queue.register(&object, 2));
    drop(object);
    assert_eq!(*seen.lock().unwrap(), [(true, Some(2))]);
    assert!(queue.drain().eq([1]));
}
