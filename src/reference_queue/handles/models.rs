//! loom models of the last handle. A count stands for the queue.

use loom::sync::Arc;
use loom::thread;

use super::*;

struct Queue {
    messages: AtomicUsize,
    handles: Handles,
}

impl Queue {
    fn new(messages: usize) -> Arc<Self> {
        Arc::new(Queue {
            messages: AtomicUsize::new(messages),
            handles: Handles::new(),
        })
    }

    fn leave(&self) {
        // Acquire: as crossbeam's queue.
        let is_empty = || self.messages.load(Acquire) == 0;
        let take_out = || {
            while self.messages.swap(0, AcqRel) != 0 {
                assert_ne!(self.handles.0.load(Relaxed), 0, "destructors recurse");
            }
        };
        self.handles.leave(is_empty, take_out);
    }

    fn deliver(&self) {
        self.handles.enter();
        // Relaxed: the handle orders.
        self.messages.fetch_add(1, Relaxed);
        self.leave();
    }

    fn is_over(&self) -> bool {
        self.messages.load(Relaxed) == 0 && self.handles.0.load(Relaxed) == 0
    }
}

/// Of two handles that go at once, one is the last.
#[test]
fn two_handles_go() {
    loom::model(|| {
        let queue = Queue::new(1);
        queue.handles.enter();
        let other = thread::spawn({
            let queue = queue.clone();
            move || queue.leave()
        });
        queue.leave();
        other.join().unwrap();
        assert!(queue.is_over());
    });
}

/// Deliveries leave no message behind, whenever the handle goes.
#[test]
fn a_handle_goes_while_deaths_deliver() {
    loom::model(|| {
        let queue = Queue::new(1);
        let deaths = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || queue.deliver())
        });
        queue.leave();
        for death in deaths {
            death.join().unwrap();
        }
        assert!(queue.is_over());
    });
}
