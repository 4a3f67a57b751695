//! Tickets in the destructor of their object, and messages whose queue has gone.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use weakly::reference_queue::Ticket;
use weakly::{ReferenceQueue, Strong};

use crate::common::{on_a_stack_of, scaled};

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

/// Without a queue to go through, each message is dropped inside the death that the one before causes.
#[test]
fn messages_recurse_when_their_queue_has_gone() {
    thread_local!(static DEPTHS: Cell<(usize, usize)> = const { Cell::new((0, 0)) });
    struct Link(Option<Strong<()>>);
    impl Drop for Link {
        fn drop(&mut self) {
            let (depth, deepest) = DEPTHS.get();
            DEPTHS.set((depth + 1, deepest.max(depth + 1)));
            drop(self.0.take());
            DEPTHS.set((depth, DEPTHS.get().1));
        }
    }
    let links = scaled(200, 20);
    let deepest = on_a_stack_of(2 << 20, move || {
        let queue = ReferenceQueue::new();
        let mut first = Strong::new(());
        for _ in 0..links {
            let object = Strong::new(());
            queue.register(&object, Link(Some(first)));
            first = object;
        }
        drop(queue);
        drop(first);
        DEPTHS.get()
    });
    assert_eq!(deepest, (0, links));
}
