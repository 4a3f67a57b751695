//! Entries that stay because a cycle beside the maps keeps their keys alive: no object loses what the maps have about it
//! while it lives. The random graphs state it of any shape.

use std::cell::RefCell;

use weakly::concurrent;
use weakly::local::Strong;
use weakly::{
    WeakMap,
    cycles::{Cycles, Purged, Trace},
    impl_trace,
};

use crate::tools::{Shared, any, shared};

/// An object with fields that own others.
#[derive(Default)]
struct Thing {
    fields: RefCell<Vec<Strong<Thing>>>,
}

impl_trace!(Thing: fields);

fn thing() -> Strong<Thing> {
    Strong::default()
}

fn owns(from: &Strong<Thing>, to: &Strong<Thing>) {
    from.fields.borrow_mut().push(to.clone());
}

/// What was removed and what was kept.
fn counts(purged: Purged) -> (usize, usize) {
    (purged.removed, purged.kept)
}

/// An object that owns itself keeps its entry; when its field is cleared, both go.
#[test]
fn a_self_loop() {
    let mut map = WeakMap::new();
    let object = thing();
    owns(&object, &object);
    map.insert(&object, object.clone());
    let weak = Strong::downgrade(&object);
    drop(object);
    assert_eq!(counts(map.purge_cycles()), (0, 1));
    let object = weak.upgrade().unwrap();
    assert!(map.contains_key(&object));
    assert_eq!(counts(map.purge_cycles()), (0, 0)); // in use
    object.fields.take();
    drop(object);
    assert_eq!(counts(map.purge_cycles()), (1, 0));
    assert!(weak.is_expired() && map.is_empty());
}

/// Behind a lock, in objects that threads share: they count as held from outside, unless all is at rest. A map that is
/// given twice counts its entries once.
#[test]
fn at_rest_and_not() {
    let map = concurrent::WeakMap::new();
    let objects = [1, 2, 3].map(shared);
    for object in &objects {
        map.insert(object, object.clone());
    }
    *objects[0].locked.lock().unwrap() = Some(objects[0].clone());
    assert!(objects[1].own.set(objects[1].clone()).is_ok());
    let weak = objects.each_ref().map(weakly::Strong::downgrade);
    drop(objects);
    assert_eq!(counts(map.purge_cycles()), (1, 1));
    let twice = || Cycles::new().with(&map).with(&map);
    assert_eq!(counts(twice().purge()), (0, 1));
    assert_eq!(counts(twice().at_rest().purge()), (0, 2));
    assert_eq!(
        weak.each_ref().map(|weak| weak.is_expired()),
        [false, false, true]
    );
    weak[0].upgrade().unwrap().locked.lock().unwrap().take();
    assert_eq!(counts(twice().at_rest().purge()), (1, 1));
}

/// What a dead entry still owns is no cycle.
#[test]
fn beside_a_dead_entry() {
    let map = concurrent::WeakMap::new();
    let key = shared(1);
    map.insert(&key, key.clone());
    let other = shared(1);
    /// Dies, when it is traced.
    struct Kills(
        RefCell<Option<weakly::Strong<Shared>>>,
        weakly::Strong<Shared>,
    );
    impl Trace for Kills {
        fn trace(&self, tracer: &mut weakly::cycles::Tracer<'_>) {
            self.0.take();
            self.1.trace(tracer);
        }
    }
    let dying = concurrent::WeakMap::new();
    dying.insert(&other, key.clone());
    let mut last = WeakMap::from([(&key, any(Kills(RefCell::new(Some(other)), key.clone())))]);
    drop(key);
    // The first map kills the key of an entry of the second.
    let mut cycles = Cycles::new().with(&mut last).with(&dying).with(&map);
    assert_eq!(counts(cycles.purge()), (2, 0));
    drop(cycles);
    assert!(last.is_empty() && dying.is_empty() && map.is_empty());
}

/// A long chain behind a loop, and one before it: nothing recurses.
#[test]
fn long_chains() {
    struct Node {
        next: RefCell<Option<Strong<Node>>>,
    }
    impl_trace!(Node: next);
    impl Drop for Node {
        fn drop(&mut self) {
            weakly::dismantle(self.next.take(), Strong::into_inner, |node| {
                node.next.take()
            });
        }
    }
    let length = if cfg!(miri) { 20 } else { 100_000 };
    let node = || {
        Strong::new(Node {
            next: RefCell::default(),
        })
    };
    let nodes: Vec<_> = (0..length).map(|_| node()).collect();
    for pair in nodes.windows(2) {
        *pair[0].next.borrow_mut() = Some(pair[1].clone());
    }
    let mut map = WeakMap::new();
    for node in &nodes {
        map.insert(node, node.clone());
    }
    let last = nodes[length - 1].clone();
    *last.next.borrow_mut() = Some(nodes[length / 2].clone());
    drop((nodes, last));
    let half = length / 2;
    assert_eq!(counts(map.purge_cycles()), (half, length - half));
    for node in map.keys().collect::<Vec<_>>() {
        node.next.take();
    }
    assert_eq!(counts(map.purge_cycles()), (length - half, 0));
}

/// The only exception: a destructor that hands out a handle of what it owns.
#[test]
fn a_destructor_that_hands_out_a_handle() {
    struct HandsOut(Strong<u8>, std::rc::Rc<RefCell<Vec<Strong<u8>>>>);
    impl_trace!(HandsOut: 0);
    impl Drop for HandsOut {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0.clone());
        }
    }
    let out = std::rc::Rc::default();
    let key = Strong::new(1);
    let value = any(HandsOut(key.clone(), std::rc::Rc::clone(&out)));
    let mut map = WeakMap::from([(&key, value)]);
    drop(key);
    assert_eq!(counts(map.purge_cycles()), (1, 0));
    assert_eq!(*out.borrow()[0], 1);
    assert!(!map.contains_key(&out.borrow()[0]));
}
