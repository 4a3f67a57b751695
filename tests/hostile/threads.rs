//! Objects die on other threads, or at the end of a thread.

#[cfg(feature = "std")]
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::common::custom::{Code, Custom};
use crate::common::scaled;
use crate::common::subject::single::PairsTwice;
use weakly::Strong;
#[cfg(feature = "std")]
use weakly::{Anchor, Attribute, ReferenceQueue};

/// D67: The map is dropped while both sides of its entries die: each object does, once, and no notice keeps its memory.
#[test]
fn the_end_of_a_map_of_pairs_against_deaths() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Code for Counted {
        fn drop(&self, _: &Custom) {
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    for _ in 0..scaled(50, 4) {
        ALIVE.store(8, Relaxed);
        let object = |number| Strong::new(Custom::with(&Counted, number, 0));
        let objects = || -> Vec<_> { (0..4).map(object).collect() };
        let (keys, values) = (objects(), objects());
        let watches: Vec<_> = keys.iter().chain(&values).map(Strong::downgrade).collect();
        let map: PairsTwice<_> = keys.iter().zip(&values).collect();
        thread::scope(|scope| {
            scope.spawn(|| drop(keys));
            scope.spawn(|| drop(values));
            drop(map);
        });
        assert_eq!(ALIVE.load(Relaxed), 0);
        assert!(watches.iter().all(|watch| watch.upgrade().is_none()));
    }
}

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
