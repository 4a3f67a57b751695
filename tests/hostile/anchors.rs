//! Anchors that die at the end of a thread, with a message, or while their map ends.

#[cfg(feature = "std")]
use std::cell::RefCell;
use std::sync::Mutex;
use std::thread;

#[cfg(feature = "std")]
use weakly::Attribute;
use weakly::{Anchor, ReferenceQueue, WeakMap};

use crate::common::{Count, scaled};

/// 183: Anchors in thread-locals die at the end of the thread.
#[cfg(feature = "std")]
#[test]
fn an_anchor_in_a_thread_local() {
    static NAMES: Attribute<Anchor, usize> = Attribute::new();
    thread_local! {
        static BEFORE: Anchor = const { Anchor::new() };
        static AFTER: RefCell<Vec<Anchor>> = const { RefCell::new(Vec::new()) };
    }
    let queue = ReferenceQueue::new();
    let other = queue.clone();
    thread::spawn(move || {
        BEFORE.with(|anchor| {
            NAMES.insert(anchor, 1);
            other.register_anchor(anchor, 1);
        });
        AFTER.with_borrow_mut(|anchors| {
            anchors.push(Anchor::new());
            NAMES.insert(&anchors[0], 2);
            other.register_anchor(&anchors[0], 2);
        });
        assert_eq!((NAMES.len(), other.len()), (2, 0));
    })
    .join()
    .unwrap();
    // A thread may be joined before its thread-locals are destroyed.
    assert_eq!(queue.wait() + queue.wait(), 3);
    assert_eq!((NAMES.len(), queue.poll()), (0, None));
}

/// D64: A message whose destructor drops an anchor with another message, and the queue.
#[test]
fn messages_that_own_the_queue_and_other_anchors() {
    struct Message {
        count: Count,
        _next: Option<Anchor>,
        _queue: ReferenceQueue<Message>,
    }
    impl Drop for Message {
        fn drop(&mut self) {
            self.count.add();
        }
    }
    let (count, queue) = (Count::default(), ReferenceQueue::new());
    let mut next = None;
    for _ in 0..10 {
        let anchor = Anchor::new();
        let message = Message {
            count: count.clone(),
            _next: next.take(),
            _queue: queue.clone(),
        };
        queue.register_anchor(&anchor, message);
        next = Some(anchor);
    }
    drop(next);
    // Each message brings the next one.
    for n in 0..10 {
        assert_eq!((queue.len(), count.get()), (1, n));
        drop(queue.poll());
    }
    assert_eq!((queue.len(), count.get()), (0, 10));
}

/// D67: The owner of the map drops it while the anchors die on another thread.
#[test]
fn small_the_end_of_a_map_against_deaths() {
    for _ in 0..scaled(100, 4) {
        let all: Vec<_> = (0..20).map(|_| Anchor::new()).collect();
        let mut map: WeakMap<_, _> = all.iter().zip(0..).collect();
        let also: WeakMap<_, _> = all.iter().zip(0..).collect();
        let shared = Mutex::new(Some(also));
        thread::scope(|scope| {
            scope.spawn(|| drop(all));
            scope.spawn(|| drop(shared.lock().unwrap().take()));
            map.retain_values(|value| *value % 2 == 0);
        });
        assert!(map.is_empty());
    }
}
