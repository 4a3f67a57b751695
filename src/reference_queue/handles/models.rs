//! loom models of deliveries, tickets, and the last handle. A message left behind in a queue fails
//! the model (`sync::SegQueue`).

use super::super::messages::{ReferenceQueue, Shared};
use super::*;
use crate::Strong;
use crate::ptr::models::{Maker, Payload, all_three, both, check, check_some};
use crate::sync::{Arc, Weak};

/// A message that is destroyed while a handle exists, or before it was put in.
struct Message {
    _payload: Payload,
    queue: Weak<Shared<Message>>,
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.upgrade() {
            assert_ne!(queue.handles.0.load(Relaxed), 0, "destructors recurse");
        }
    }
}

fn message(maker: &Maker, queue: &ReferenceQueue<Message>) -> Message {
    Message {
        _payload: maker.payload(),
        queue: Arc::downgrade(&queue.shared),
    }
}

/// M3: Two handles are given up at once: one of them is the last, and takes the message out.
#[test]
fn two_handles_go() {
    check(1, |maker| {
        let queue = ReferenceQueue::new();
        queue.put_in(message(maker, &queue));
        let other = queue.clone();
        both(move || drop(other), move || drop(queue));
    });
}

/// M1: A message is taken once: by the cancelling thread, or from the queue.
#[test]
fn a_ticket_against_the_death() {
    check(2, |maker| {
        let (queue, object) = (ReferenceQueue::new(), maker.object());
        let ticket = queue.register(&object, maker.payload());
        let ((), taken) = both(move || drop(object), || ticket.cancel());
        let got = [taken, queue.poll(), queue.poll(), ticket.cancel()];
        assert_eq!(got.iter().flatten().count(), 1);
    });
}

/// M3: A death delivers its message, or finds the queue gone.
#[test]
fn a_handle_goes_while_an_object_dies() {
    check(2, |maker| {
        let (queue, object) = (ReferenceQueue::new(), maker.object());
        drop(queue.register(&object, message(maker, &queue)));
        both(move || drop(object), move || drop(queue));
    });
}

/// M3: As above, while the last handle takes out the message of another death; with payloads that
/// return.
#[test]
fn a_handle_goes_while_payloads_return() {
    check_some(2, |maker| {
        let queue = ReferenceQueue::new();
        let [a, b] = [(); 2].map(|()| Strong::new_returning(maker.payload(), &queue));
        all_three(move || drop(a), move || drop(b), move || drop(queue));
    });
}
