//! Anchors whose deaths come from inside the collections that watch them, and what is forgotten around them.

use std::cell::RefCell;
use std::rc::Rc;
#[cfg(feature = "std")]
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;

use weakly::{Anchor, Reclaim, ReferenceQueue, WeakMap, ptr};
#[cfg(feature = "std")]
use weakly::{Attribute, concurrent};

use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, counting};
use crate::common::wild::{self, Wild};
use crate::common::{Count, OnDrop, Own, forget, panics, quiet_panic, scaled};
use crate::for_each_flavour;

for_each_flavour!(
    forgotten_maps_and_iterators,
    destructors_that_use_their_own_map,
    closures_that_kill_other_entries,
    an_arena_whose_nodes_panic,
    a_map_that_ends_in_a_destructor_of_its_value,
);

type Map<F> = WeakMap<ptr::Anchor<F>, Owned<Ends, Wild>>;

/// A value that calls this when it is dropped.
fn ending(end: impl FnMut() + 'static) -> Owned<Ends, Wild> {
    let end = RefCell::new(end);
    wild::owned(0, &(Rc::new(move |_| end.borrow_mut()()) as Ends))
}

fn anchors<F: Own>(n: usize) -> Vec<ptr::Anchor<F>> {
    (0..n).map(|_| ptr::Anchor::new()).collect()
}

fn forgotten_maps_and_iterators<F: Own>() {
    let mut all = anchors::<F>(scaled(100, 20));
    let mut map: WeakMap<_, _> = all.iter().zip(0..).collect();
    forget(all.iter().zip(0..).collect::<WeakMap<_, _>>());
    forget(map.entry(&all[0]));
    forget(map.values_mut());
    let half = all.len() / 2;
    all.truncate(half);
    forget(map.drain_dead());
    assert_eq!((map.len(), map.len_live()), (half, half));
    forget(map.into_values());
    let weak = all[0].downgrade();
    forget(weak.clone());
    drop(all);
    assert!(weak.is_expired());
}

/// Each value's destructor drops another anchor of the same map, and inserts a new one.
fn destructors_that_use_their_own_map<F: Own>() {
    type Anchors<F> = Rc<RefCell<Vec<ptr::Anchor<F>>>>;
    let (map, all) = (
        Rc::new(RefCell::new(Map::<F>::new())),
        Anchors::<F>::default(),
    );
    map.borrow_mut().set_reclaim(Reclaim::OnRequest);
    let born = Count::default();
    for anchor in anchors(scaled(40, 10)) {
        let (weak_map, others, born) = (Rc::downgrade(&map), all.clone(), born.clone());
        let value = ending(move || {
            let last = others.borrow_mut().pop();
            drop(last);
            let Some(map) = weak_map.upgrade() else {
                return;
            };
            let new = ptr::Anchor::new();
            let count = born.clone();
            map.borrow_mut()
                .insert(&new, ending(move || _ = count.add()));
            // The new one dies here.
        });
        map.borrow_mut().insert(&anchor, value);
        all.borrow_mut().push(anchor);
    }
    let first = all.borrow_mut().remove(0);
    drop(first);
    loop {
        let dead: Vec<_> = map.borrow_mut().drain_dead().collect();
        if dead.is_empty() {
            break;
        }
        drop(dead);
    }
    assert!(all.borrow().is_empty() && map.borrow().is_empty());
    assert_eq!(born.get(), scaled(40, 10));
}

/// A finalizer runs in the drop of an anchor. It watches another one, and drops it, whose finalizer does the same.
#[cfg(feature = "std")]
#[test]
fn finalizers_that_watch_and_kill_others() {
    let (count, set) = (Count::default(), Arc::new(concurrent::WeakMap::new()));
    let mut next: Option<Anchor> = None;
    for n in 0..scaled(200, 20) {
        let (anchor, count, set) = (Anchor::new(), count.clone(), set.clone());
        set.insert(&anchor, n);
        let other = next.take();
        anchor.finalize(move || {
            count.add();
            if let Some(other) = &other {
                set.insert(other, 1_000);
                other.finalize(|| ());
            }
            assert!(set.len() <= n);
            drop(other);
        });
        next = Some(anchor);
    }
    drop(next);
    assert_eq!((count.get(), set.len()), (scaled(200, 20), 0));
    set.purge();
    assert_eq!(set.pending_dead(), 0);
}

/// Closures that run in the middle of a change end the lives of other keys, not yet visited ones included.
fn closures_that_kill_other_entries<F: Own>() {
    let n = scaled(60, 12);
    let counter = Count::default();
    let value = || wild::owned(0, &counting(&counter));
    let all = RefCell::new(anchors::<F>(n));
    let mut map = Map::<F>::new();
    for anchor in &*all.borrow() {
        map.insert(anchor, value());
    }
    let mut visits = 0;
    map.retain_values(|_| {
        visits += 1;
        drop(all.borrow_mut().pop());
        visits % 2 == 0
    });
    assert!(visits >= n / 2 && visits <= n);
    assert_eq!(map.len(), map.len_live());
    let kept = ptr::Anchor::<F>::new();
    map.entry(&kept).or_insert_with(|| {
        all.borrow_mut().clear();
        value()
    });
    assert_eq!((map.len(), map.len_live()), (1, 1));
    map.purge();
    assert_eq!(counter.get(), n);
    drop(kept);
    map.clear();
    assert_eq!(counter.get(), n + 1);
}

/// The destructor of a node panics: those of the others run, and all anchors die.
fn an_arena_whose_nodes_panic<F: Own>() {
    struct Node<F: Own> {
        _panics: Option<OnDrop>,
        anchor: ptr::Anchor<F>,
    }
    let arena: Vec<_> = (0..10)
        .map(|n| Node::<F> {
            _panics: (n == 3).then(|| OnDrop::new(|| quiet_panic())),
            anchor: ptr::Anchor::new(),
        })
        .collect();
    let map: WeakMap<_, _> = arena.iter().map(|node| &node.anchor).zip(0..).collect();
    assert_eq!(map.len(), 10);
    assert!(panics(|| drop(arena)));
    assert_eq!((map.len(), map.len_live()), (0, 0));
}

/// The last owner of the map is a value in it, and so is the anchor.
fn a_map_that_ends_in_a_destructor_of_its_value<F: Own>() {
    let map = Rc::new(RefCell::new(Map::<F>::new()));
    map.borrow_mut().set_reclaim(Reclaim::OnRequest);
    let [anchor, other] = [0; 2].map(|_| ptr::Anchor::<F>::new());
    let weak = other.downgrade();
    let owned = (map.clone(), other);
    map.borrow_mut().insert(&anchor, ending(move || _ = &owned));
    drop(anchor);
    let dead: Vec<_> = map.borrow_mut().drain_dead().collect();
    drop(map);
    assert!(!weak.is_expired());
    drop(dead);
    assert!(weak.is_expired());
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

/// A message whose destructor drops an anchor with another message, and the queue.
#[test]
fn messages_that_own_the_queue_and_other_anchors() {
    struct Message {
        _count: CountDrop,
        _next: Option<Anchor>,
        _queue: ReferenceQueue<Message>,
    }
    struct CountDrop(Count);
    impl Drop for CountDrop {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    let (count, queue) = (Count::default(), ReferenceQueue::new());
    let mut next = None;
    for _ in 0..10 {
        let anchor = Anchor::new();
        let message = Message {
            _count: CountDrop(count.clone()),
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

/// The owner of the map drops it while the anchors die on another thread.
#[test]
fn small_the_end_of_a_map_against_deaths() {
    for _ in 0..scaled(100, 4) {
        let all = anchors::<weakly::ptr::Atomic>(20);
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
