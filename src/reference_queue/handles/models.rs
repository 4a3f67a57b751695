//! loom models of deliveries, tickets, and the last handle. A message that is left behind in a
//! queue fails the model (`sync::SegQueue`).

use super::super::messages::{ReferenceQueue, Shared};
use super::*;
use crate::Strong;
use crate::ptr::models::{Maker, Payload, all_three, both, check, check_some};
use crate::sync::{Arc, Weak};

/// A message that is destroyed while somebody has a handle, or where it was not put in.
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

/// M3: Of two handles that go at once, one is the last, and takes the message out.
#[test]
fn two_handles_go() {
    check(1, |maker| {
        let queue = ReferenceQueue::new();
        queue.put_in(message(maker, &queue));
        let other = queue.clone();
        both(move || drop(other), move || drop(queue));
    });
}

/// M1: A message comes to one: to who takes it back, or to the queue.
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

/// M3: A death delivers, or finds the queue gone.
#[test]
fn a_handle_goes_while_an_object_dies() {
    check(2, |maker| {
        let (queue, object) = (ReferenceQueue::new(), maker.object());
        drop(queue.register(&object, message(maker, &queue)));
        both(move || drop(object), move || drop(queue));
    });
}

/// M3: Likewise, while the handle takes out what another death has put in; and payloads that
/// return.
#[test]
fn a_handle_goes_while_payloads_return() {
    check_some(2, |maker| {
        let queue = ReferenceQueue::new();
        let [a, b] = [(); 2].map(|()| Strong::new_returning(maker.payload(), &queue));
        all_three(move || drop(a), move || drop(b), move || drop(queue));
    });
}
