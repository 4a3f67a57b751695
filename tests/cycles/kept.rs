//! Entries that stay because a cycle beside the maps keeps their keys alive: no object loses what the maps have about it
//! while it lives.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use weakly::concurrent;
use weakly::local::{Strong, Weak};
use weakly::{
    ByIdentity, Memo, WeakHashMap, WeakMap, WeakValueMap,
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

/// An identity map never makes two wrappers of one live object.
#[test]
fn a_wrapper_for_each_object() {
    struct Wrapper {
        of: Strong<Thing>,
    }
    impl_trace!(Wrapper: of);
    let mut wrappers = WeakMap::new();
    let object = thing();
    owns(&object, &object);
    let wrap = |of: &Weak<Thing>| {
        let of = of.upgrade().unwrap();
        std::rc::Rc::new(Wrapper { of })
    };
    let first = std::rc::Rc::downgrade(wrappers.get_or_insert_with(&object, wrap));
    let weak = Strong::downgrade(&object);
    drop(object);
    assert_eq!(counts(wrappers.purge_cycles()), (0, 1));
    let object = weak.upgrade().expect("it owns itself");
    let second = wrappers.get_or_insert_with(&object, wrap);
    assert!(std::ptr::eq(first.as_ptr(), &**second));
    assert!(Strong::ptr_eq(&second.of, &object));
    object.fields.take();
}

/// Three objects that own each other, of which each entry owns the next; of another three only one is a key.
#[test]
fn a_cycle_of_three() {
    let mut map = WeakMap::new();
    for keys in [3, 1] {
        let objects = [thing(), thing(), thing()];
        for at in 0..3 {
            owns(&objects[at], &objects[(at + 1) % 3]);
        }
        for at in 0..keys {
            map.insert(&objects[at], objects[(at + 1) % 3].clone());
        }
    }
    assert_eq!(counts(map.purge_cycles()), (0, 4));
    for key in map.keys().collect::<Vec<_>>() {
        key.fields.take();
    }
    assert_eq!(counts(map.purge_cycles()), (4, 0));
    assert!(map.is_empty());
}

/// What a cycle leads to stays; what leads to a cycle goes.
#[test]
fn a_tail_behind_a_cycle() {
    let mut map = WeakMap::new();
    let [before, looped, behind, last] = [(); 4].map(|()| thing());
    owns(&before, &looped);
    owns(&looped, &looped);
    owns(&looped, &behind);
    owns(&behind, &last);
    for key in [&before, &looped, &behind, &last] {
        map.insert(key, (key.clone(), before.clone()));
    }
    let weak = [&before, &looped, &behind, &last].map(Strong::downgrade);
    drop((before, looped, behind, last));
    // The entries that stay own the first.
    assert_eq!(counts(map.purge_cycles()), (0, 4));
    for key in map.keys().collect::<Vec<_>>() {
        let own = key.clone();
        map.insert(&key, (own.clone(), own));
    }
    assert_eq!(counts(map.purge_cycles()), (1, 3));
    assert_eq!(
        weak.each_ref().map(|weak| !weak.is_expired()),
        [false, true, true, true]
    );
    weak[1].upgrade().unwrap().fields.take();
    assert_eq!(counts(map.purge_cycles()), (3, 0));
    assert!(weak.iter().all(Weak::is_expired));
}

/// A key that only the entry of a key that stays leads to, in the same map and in another.
#[test]
fn a_cycle_behind_another_entry() {
    let (mut one, mut other) = (WeakMap::new(), WeakMap::new());
    let [looped, owned, far, going] = [(); 4].map(|()| thing());
    owns(&looped, &looped);
    one.insert(&looped, [looped.clone(), owned.clone()]);
    one.insert(&owned, [owned.clone(), far.clone()]);
    other.insert(&far, [far.clone(), looped.clone()]);
    other.insert(&going, [going.clone(), looped.clone()]);
    let weak = Strong::downgrade(&looped);
    drop((looped, owned, far, going));
    let purged = Cycles::new().with(&mut one).with(&mut other).purge();
    assert_eq!(counts(purged), (1, 3));
    assert_eq!((one.len(), other.len()), (2, 1));
    weak.upgrade().unwrap().fields.take();
    let purged = Cycles::new().with(&mut one).with(&mut other).purge();
    assert_eq!(counts(purged), (3, 0));
}

/// Objects that own each other and are nobody's keys: what a value leads to besides its key does not matter.
#[test]
fn a_cycle_that_leads_to_no_key() {
    let mut map = WeakMap::new();
    let (key, looped) = (thing(), thing());
    owns(&looped, &looped);
    map.insert(&key, [key.clone(), looped.clone()]);
    let weak = [&key, &looped].map(Strong::downgrade);
    drop((key, looped));
    assert_eq!(counts(map.purge_cycles()), (1, 0));
    assert!(weak[0].is_expired());
    weak[1].upgrade().unwrap().fields.take();
    assert!(weak[1].is_expired());
}

/// By content and by value: an object that lives keeps its name.
#[test]
fn other_maps() {
    struct Named(RefCell<Option<Strong<Named>>>);
    impl_trace!(Named: 0);
    let object = Strong::new(Named(RefCell::default()));
    *object.0.borrow_mut() = Some(object.clone());
    let mut names = WeakValueMap::new();
    names.insert(("self", ByIdentity(object.clone())), &object);
    let weak = Strong::downgrade(&object);
    drop(object);
    assert_eq!(counts(names.purge_cycles()), (0, 1));
    weak.upgrade().unwrap().0.take();
    assert_eq!(counts(names.purge_cycles()), (1, 0));

    #[derive(Default)]
    struct Term(u8, RefCell<Option<Strong<Term>>>);
    impl_trace!(Term: 1);
    impl PartialEq for Term {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Term {}
    impl std::hash::Hash for Term {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    let term = Strong::new(Term::default());
    *term.1.borrow_mut() = Some(term.clone());
    let mut sizes = WeakHashMap::new();
    sizes.insert(&term, (1, term.clone()));
    let weak = Strong::downgrade(&term);
    drop(term);
    assert_eq!(counts(sizes.purge_cycles()), (0, 1));
    weak.upgrade().unwrap().1.take();
    assert_eq!(counts(sizes.purge_cycles()), (1, 0));
}

/// A result of two inputs lives as long as both: with one that survives and one that does not it goes; with one that is
/// held and one that survives it stays. So it is with what the result depends on.
#[test]
fn memos() {
    type Input = weakly::Strong<Shared>;
    let memo = Memo::<(Input, Input), Vec<Input>>::new();
    let [looped, going, held] = [1, 2, 3].map(shared);
    assert!(looped.own.set(looped.clone()).is_ok());
    memo.get_or_compute((&looped, &going), |_| vec![looped.clone(), going.clone()]);
    memo.get_or_compute((&looped, &held), |_| vec![looped.clone()]);
    memo.get_or_compute((&held, &held), |cx| {
        cx.depends_on(&looped);
        vec![looped.clone()]
    });
    let weak = [&looped, &going].map(weakly::Strong::downgrade);
    drop((looped, going));
    assert_eq!(counts(memo.purge_cycles()), (1, 2));
    assert_eq!(weak.each_ref().map(|weak| weak.is_expired()), [false, true]);
    let looped = weak[0].upgrade().unwrap();
    assert!(memo.get((&looped, &held)).is_some());
    assert!(memo.get((&held, &held)).is_some());
    drop(looped);
    // What is left over leaks, for `own` cannot be cleared.
    assert_eq!((counts(memo.purge_cycles()), memo.len()), ((0, 2), 2));
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

    let arcs = [(); 2].map(|()| Arc::new(Mutex::new(None::<Link>)));
    struct Link(Arc<Mutex<Option<Link>>>);
    impl_trace!(Link: 0);
    *arcs[0].lock().unwrap() = Some(Link(Arc::clone(&arcs[0])));
    let mut map = WeakMap::new();
    for arc in &arcs {
        map.insert(arc, Link(Arc::clone(arc)));
    }
    drop(arcs);
    assert_eq!(counts(map.purge_cycles()), (0, 0));
    assert_eq!(
        counts(Cycles::new().with(&mut map).at_rest().purge()),
        (1, 1)
    );
    let left = map.keys().next().unwrap();
    left.lock().unwrap().take();
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
