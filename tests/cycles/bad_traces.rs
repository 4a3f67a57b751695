//! Traces that panic, lie, register, purge and drop; values that are borrowed or locked.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Mutex, RwLock};

use weakly::{
    Strong, WeakMap, concurrent,
    cycles::{Cycles, Trace, Tracer},
    impl_trace, local,
};

use crate::common::{panics, quiet_panic};
use crate::tools::{Any, Shared, any, shared};

/// A value that does something when it is traced.
struct Acts(Box<dyn Fn(&mut Tracer<'_>)>);

impl Trace for Acts {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        (self.0)(tracer);
    }
}

fn acts(act: impl Fn(&mut Tracer<'_>) + 'static) -> Any {
    any(Acts(Box::new(act)))
}

/// One that panics changes nothing, and leaves no pointer of ours behind.
#[test]
fn a_trace_that_panics() {
    let panicking = Rc::new(Cell::new(true));
    let panic = Rc::clone(&panicking);
    let mut map = WeakMap::new();
    let (key, other) = (local::Strong::new(1), local::Strong::new(2));
    map.insert(&key, any(key.clone()));
    let act = acts(move |_| {
        if panic.get() {
            quiet_panic();
        }
    });
    map.insert(&other, any((key.clone(), act)));
    let weak = local::Strong::downgrade(&key);
    drop(key);
    assert!(panics(|| _ = map.purge_cycles().removed));
    assert_eq!((map.len(), weak.strong_count()), (2, 2));
    panicking.set(false);
    assert_eq!(map.purge_cycles().removed, 0); // the other is held
    drop(other);
    assert_eq!(map.purge_cycles().removed, 1);
    assert!(map.is_empty());
}

/// The same place, for two objects one after the other: it is no field, and neither object is the map's alone.
#[test]
fn a_place_that_shows_two_objects() {
    let objects = [local::Strong::new(1), local::Strong::new(2)];
    let weak = objects.each_ref().map(local::Strong::downgrade);
    let again = weak.clone();
    let act = move |tracer: &mut Tracer<'_>| {
        let mut place = None;
        for weak in &again {
            place = weak.upgrade();
            place.trace(tracer);
        }
        drop(place);
    };
    let mut map = WeakMap::new();
    map.insert(&objects[0], acts(|_| {}));
    map.insert(&objects[1], any((objects.clone(), acts(act))));
    drop(objects);
    assert_eq!((map.purge_cycles().removed, map.len()), (0, 2));
    assert!(weak.iter().all(|weak| !weak.is_expired()));
}

/// One that makes objects, inserts into the map it is in, removes from it, and purges it.
#[test]
fn a_trace_that_uses_its_map() {
    let map = Rc::new(concurrent::WeakMap::new());
    let keys: Vec<_> = (0..100).map(shared).collect();
    let kept = Rc::new(RefCell::new(Vec::new()));
    for (at, key) in keys.iter().enumerate() {
        if at > 0 {
            map.insert(key, acts(|_| {}));
            continue;
        }
        let (map, kept, of) = (Rc::clone(&map), Rc::clone(&kept), Strong::downgrade(key));
        let into = Rc::clone(&map);
        let act = move |_: &mut Tracer<'_>| {
            let new = shared(100);
            map.insert(&new, acts(|_| {}));
            kept.borrow_mut().push(new);
            if let Some(of) = of.upgrade() {
                if of.number % 3 == 0 {
                    map.remove_if(&of, |_| true);
                }
            }
            assert_eq!(map.purge_cycles().removed, 0);
        };
        into.insert(key, acts(act));
    }
    assert_eq!(map.purge_cycles().removed, 0);
    assert_eq!(map.len(), 99 + kept.borrow().len());
    map.clear();
}

/// Several destructors of what was removed panic; the others run all the same.
#[test]
fn destructors() {
    struct Dying(Strong<Shared>, Rc<Cell<u32>>);
    impl_trace!(Dying: 0);
    impl Drop for Dying {
        fn drop(&mut self) {
            self.1.set(self.1.get() + 1);
            if self.0.number % 3 == 0 {
                quiet_panic();
            }
        }
    }
    let dead = Rc::new(Cell::new(0));
    let (mut one, other) = (WeakMap::new(), concurrent::WeakMap::new());
    for n in 0..10 {
        let key = shared(n);
        one.insert(&key, any(Dying(key.clone(), Rc::clone(&dead))));
        let key = shared(n);
        other.insert(&key, any(Dying(key.clone(), Rc::clone(&dead))));
    }
    assert!(panics(|| _ = one.purge_cycles().removed));
    assert_eq!((one.len(), dead.get()), (0, 10));
    assert!(panics(|| _ = other.purge_cycles().removed));
    assert_eq!((other.len(), dead.get()), (0, 20));
}

/// 153: What is borrowed or locked is left as it is.
#[test]
fn borrowed_and_locked() {
    type Both = (
        RefCell<Option<local::Strong<u8>>>,
        Mutex<Option<local::Strong<u8>>>,
        RwLock<u8>,
    );
    let key = local::Strong::new(1);
    let value: Rc<Both> = Rc::default();
    *value.0.borrow_mut() = Some(key.clone());
    let mut map = WeakMap::from([(&key, any(Rc::clone(&value)))]);
    drop(key);
    let borrowed = value.0.borrow_mut();
    assert_eq!(map.purge_cycles().removed, 0);
    let key = borrowed.clone();
    drop(borrowed);
    *value.0.borrow_mut() = None;
    *value.1.lock().unwrap() = key;
    let locked = value.1.lock().unwrap();
    assert_eq!(map.purge_cycles().removed, 0);
    drop(locked);
    drop(value);
    assert_eq!(map.purge_cycles().removed, 1);
}

/// An object that is shown as a leaf only keeps what it owns; one that is shown in full elsewhere is looked into, in
/// whatever order.
#[test]
fn leaves() {
    struct Leaf(Strong<Shared>);
    impl Trace for Leaf {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            tracer.leaf(&self.0);
        }
    }
    for (before, after) in [(true, false), (false, true), (false, false)] {
        let (key, node) = (shared(1), shared(2));
        assert!(node.own.set(key.clone()).is_ok());
        let map = concurrent::WeakMap::new();
        let shown = [before, after].map(|is_shown| is_shown.then(|| node.clone()));
        let [first, last] = shown;
        map.insert(&key, any((first, Leaf(node), last)));
        drop(key);
        assert_eq!(map.purge_cycles().removed, usize::from(before || after));
    }
    let map = concurrent::WeakMap::new();
    let node = shared(2);
    map.insert(&node, any(Leaf(node.clone())));
    drop(node);
    assert_eq!(map.purge_cycles().removed, 1);
}

/// One that purges the map it is in, or asks who holds something, whenever it is asked: there is no end to that, so
/// within a trace both find nothing.
#[test]
fn a_trace_that_searches() {
    struct Searches(Strong<Shared>, Rc<concurrent::WeakMap<Strong<Shared>, Any>>);
    impl Trace for Searches {
        fn trace(&self, tracer: &mut Tracer<'_>) {
            self.0.trace(tracer);
            assert_eq!(self.1.purge_cycles().removed, 0);
            let cycles = Cycles::new().with(&*self.1);
            let holders = cycles.holders(&self.0);
            assert_eq!((holders.count, holders.elsewhere()), (None, None));
            assert!(
                holders.to_string().contains("no map was searched"),
                "{holders}"
            );
        }
    }
    let map = Rc::new(concurrent::WeakMap::new());
    let key = shared(1);
    map.insert(&key, any(Searches(key.clone(), Rc::clone(&map))));
    let holders = Cycles::new().with(&*map).holders(&key);
    assert_eq!((holders.count, holders.paths().len()), (Some(2), 1));
    drop(key);
    assert_eq!((map.purge_cycles().removed, map.len()), (1, 0));
}
