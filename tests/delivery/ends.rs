//! The last handle of a queue goes while a death delivers, or while another one goes.

use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;

use weakly::{ReferenceQueue, Strong};

use crate::common::{on_a_stack_of, scaled};

const STACK: usize = 64 << 10;

/// A message that owns the object whose death leaves the next.
struct Link(#[allow(dead_code)] Option<Strong<()>>);

/// The object whose death leaves the first of so many messages.
fn chain(queue: &ReferenceQueue<Link>, links: usize) -> Strong<()> {
    let mut next = Strong::new(());
    for _ in 0..links {
        let object = Strong::new(());
        queue.register(&object, Link(Some(next)));
        next = object;
    }
    next
}

/// Drops the last handle of a queue when it is called.
struct Last(Mutex<Option<ReferenceQueue<Link>>>);

impl Wake for Last {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// 591: A waker drops it, inside the delivery that then has the queue alone.
#[test]
fn a_delivery_is_the_last_to_have_the_queue() {
    on_a_stack_of(STACK, || {
        let queue = ReferenceQueue::new();
        let first = chain(&queue, scaled(200_000, 100));
        let last = Arc::new(Last(Mutex::new(None)));
        let waker = Waker::from(last.clone());
        let mut context = Context::from_waker(&waker);
        assert!(queue.poll_wait(&mut context).is_pending());
        *last.0.lock().unwrap() = Some(queue);
        drop(first);
    });
}

/// 591: Each thread may find that the other still has a handle.
#[test]
fn two_threads_drop_the_last_two_handles() {
    for _ in 0..scaled(1_000, 2) {
        let queue = ReferenceQueue::new();
        drop(chain(&queue, scaled(500, 10)));
        let together = Arc::new(Barrier::new(2));
        let threads = [queue.clone(), queue].map(|queue| {
            let together = together.clone();
            let drop_it = move || {
                together.wait();
                drop(queue);
            };
            thread::Builder::new().stack_size(STACK).spawn(drop_it)
        });
        for thread in threads {
            thread.unwrap().join().unwrap();
        }
    }
}
