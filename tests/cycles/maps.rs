//! Each kind of map and of pointer. The random graphs state which shapes of cycles go.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use weakly::concurrent;
use weakly::{
    Attribute, ByIdentity, Memo, Reclaim, Strong, WeakHashMap, WeakMap, WeakValueMap,
    cycles::Cycles, impl_trace, local,
};

use crate::tools::{Shared, any, shared};

/// An object, and whether it is dead.
struct Thing {
    next: RefCell<Option<Strong<Thing>>>,
    dead: Rc<Cell<usize>>,
}

impl_trace!(Thing: next);

impl Drop for Thing {
    fn drop(&mut self) {
        self.dead.set(self.dead.get() + 1);
    }
}

#[derive(Default)]
struct World {
    dead: Rc<Cell<usize>>,
}

impl World {
    fn thing(&self) -> Strong<Thing> {
        Strong::new(Thing {
            next: RefCell::new(None),
            dead: Rc::clone(&self.dead),
        })
    }

    fn dead(&self) -> usize {
        self.dead.get()
    }
}

/// 144, 364: Each kind of map hands out what its cycles and its dead entries own, and destroys nothing.
#[test]
fn cycles_are_handed_out() {
    let world = World::default();
    let [key, dead, live, name] = [(); 4].map(|()| world.thing());
    let mut map = WeakMap::new();
    map.set_reclaim(Reclaim::OnRequest);
    for key in [&key, &dead, &live] {
        map.insert(key, world.thing());
    }
    map.insert(&key, key.clone());
    let own_key = map.get(&key).unwrap().clone();
    drop(own_key);
    // A value that leads to the cycle, and dies with its key.
    map.insert(&dead, key.clone());
    drop((key, dead));
    assert_eq!(
        world.dead(),
        3,
        "the dead key, and the values that were replaced"
    );
    let (purged, values) = map.drain_cycles();
    assert_eq!((purged.removed, purged.kept, values.len()), (1, 0, 2));
    assert_eq!((world.dead(), map.len()), (3, 1));
    drop(values);
    assert_eq!(world.dead(), 4);
    let mut by_name = WeakValueMap::<_, Strong<Thing>>::new();
    by_name.insert(ByIdentity(name.clone()), &name);
    by_name.insert(ByIdentity(live.clone()), &live);
    let key_of_the_dead = ByIdentity(world.thing());
    *key_of_the_dead.0.next.borrow_mut() = Some(name.clone());
    by_name.insert(key_of_the_dead, &world.thing());
    drop(name);
    let (purged, keys) = by_name.drain_cycles();
    assert_eq!((purged.removed, keys.len(), world.dead()), (1, 2, 5));
    drop(keys);
    assert_eq!((world.dead(), by_name.len()), (7, 1));
    let (purged, values) = map.drain_cycles();
    assert_eq!((purged.removed, values.len(), map.len()), (0, 0, 1));
}

/// 155: A destructor that uses the map finds it free, where `purge_cycles` would have it borrowed.
#[test]
fn cycles_are_destroyed_after_the_borrow() {
    struct Uses {
        me: RefCell<Option<local::Strong<Uses>>>,
        map: Rc<RefCell<WeakMap<local::Strong<Uses>, local::Strong<Uses>>>>,
    }
    impl_trace!(Uses: me);
    impl Drop for Uses {
        fn drop(&mut self) {
            assert!(self.map.borrow_mut().is_empty());
        }
    }
    let map = Rc::new(RefCell::new(WeakMap::new()));
    let object = local::Strong::new(Uses {
        me: RefCell::new(None),
        map: map.clone(),
    });
    map.borrow_mut().insert(&object, object.clone());
    drop(object);
    let (purged, values) = map.borrow_mut().drain_cycles();
    assert_eq!(purged.removed, 1);
    drop(values);
    assert_eq!(Rc::strong_count(&map), 1);
}

/// 147: A map that is owned by its own value: it cannot be purged from inside, and as a field it shows its values.
#[test]
fn a_map_in_a_value() {
    struct Holder {
        map: RefCell<WeakMap<Strong<Thing>, Strong<Thing>>>,
    }
    impl_trace!(Holder: map);
    let world = World::default();
    let mut outer = WeakMap::new();
    let (key, inner) = (world.thing(), world.thing());
    let holder = Strong::new(Holder {
        map: RefCell::default(),
    });
    holder.map.borrow_mut().insert(&inner, key.clone());
    outer.insert(&key, any(holder.clone()));
    drop((key, holder));
    assert_eq!((outer.purge_cycles().removed, world.dead()), (1, 1));
    drop(inner);
}

/// 156: Without it, the end of the map breaks the cycle.
#[test]
fn the_end_of_a_map() {
    let world = World::default();
    let mut map = WeakMap::new();
    let key = world.thing();
    map.insert(&key, key.clone());
    drop(key);
    drop(map);
    assert_eq!(world.dead(), 1);
}

/// By content and by value.
#[test]
fn other_maps() {
    let mut lengths = WeakHashMap::new();
    let word: local::Strong<str> = "word".into();
    lengths.insert(&word, any((4, word.clone())));
    drop(word);
    assert_eq!(
        (lengths.len(), lengths.purge_cycles().removed, lengths.len()),
        (1, 1, 0)
    );

    let mut names = WeakValueMap::new();
    let value = Strong::new(7);
    names.insert(ByIdentity(value.clone()), &value); // the key owns the value
    let kept = Strong::new(8);
    names.insert(ByIdentity(kept.clone()), &kept);
    drop(value);
    assert_eq!(
        (names.len(), names.purge_cycles().removed, names.len()),
        (2, 1, 1)
    );
    assert_eq!(names.get(&ByIdentity(kept)).as_deref(), Some(&8));
}

/// `Arc`s can only be told at rest.
#[test]
fn arcs() {
    let mut map = WeakMap::new();
    let arc = Arc::new(5);
    map.insert(&arc, Arc::clone(&arc));
    drop(arc);
    assert_eq!(map.purge_cycles().removed, 0);
    assert_eq!(Cycles::new().with(&mut map).at_rest().purge().removed, 1);
    assert!(map.is_empty());

    // In maps that threads share, too; a result of several inputs goes for one of them.
    let (map, memo) = (
        concurrent::WeakMap::new(),
        Memo::<(Strong<Shared>, Arc<u8>), (Option<Strong<Shared>>, Arc<u8>)>::new(),
    );
    let (held, arc, other) = (shared(1), Arc::new(5), Arc::new(6));
    map.insert(&arc, Arc::clone(&arc));
    memo.get_or_compute((&held, &other), |_| (None, Arc::clone(&other)));
    drop((arc, other));
    let both = || Cycles::new().with(&map).with(&memo);
    assert_eq!(both().purge().removed, 0);
    assert_eq!(both().at_rest().purge().removed, 2);
}

/// The shared maps, one of them static.
#[test]
fn shared_maps() {
    let map = concurrent::WeakMap::new();
    let a = shared(1);
    map.insert(&a, a.clone());
    let weak = Strong::downgrade(&a);
    drop(a);
    assert_eq!(
        (map.len(), map.purge_cycles().removed, map.len()),
        (1, 1, 0)
    );
    assert!(weak.is_expired());

    let by_content = concurrent::WeakHashMap::new();
    let word = shared(1);
    by_content.insert(&word, Some(word.clone()));
    drop(word);
    assert_eq!(
        (by_content.purge_cycles().removed, by_content.len()),
        (1, 0)
    );

    let by_name = concurrent::WeakValueMap::new();
    let value = shared(7);
    by_name.insert(ByIdentity(value.clone()), &value);
    drop(value);
    assert_eq!((by_name.purge_cycles().removed, by_name.len()), (1, 0));

    static PARTNER: Attribute<Strong<Shared>, Strong<Shared>> = Attribute::new();
    let (a, b) = (shared(1), shared(2));
    PARTNER.insert(&a, b.clone());
    PARTNER.insert(&b, a.clone());
    assert_eq!(PARTNER.get(&a).unwrap().number, 2);
    drop(a);
    assert_eq!(PARTNER.purge_cycles().removed, 0);
    drop(b);
    assert_eq!((PARTNER.purge_cycles().removed, PARTNER.len()), (2, 0));

    // Through a lock, in an object that threads might share: only at rest.
    let (c, d) = (shared(3), shared(4));
    *c.locked.lock().unwrap() = Some(d.clone());
    PARTNER.insert(&d, c);
    drop(d);
    assert_eq!((PARTNER.purge_cycles().removed, PARTNER.len()), (0, 1));
    assert_eq!(Cycles::new().with(&PARTNER).at_rest().purge().removed, 1);
    assert!(PARTNER.is_empty());
}

/// 173: A result that owns its input; several inputs; and objects it depends on besides.
#[test]
fn memos() {
    let memo = Memo::<Strong<Shared>, Strong<Shared>>::new();
    let term = shared(1);
    memo.get_or_compute(&term, |_| term.clone());
    assert_eq!(memo.purge_cycles().removed, 0);
    drop(term);
    assert_eq!((memo.purge_cycles().removed, memo.len()), (1, 0));
    assert_eq!(memo.statistics().invalidated, 1);

    let depending = Memo::<Strong<Shared>, Strong<Shared>>::new();
    let (key, used) = (shared(1), shared(2));
    depending.get_or_compute(&key, |cx| {
        cx.depends_on(&used);
        used.clone()
    });
    assert_eq!(depending.purge_cycles().removed, 0);
    drop(used); // only its own result keeps it
    assert_eq!((depending.purge_cycles().removed, depending.len()), (1, 0));
}

/// A rewriting whose results lead back to their inputs: x to y, y to x, and z to z.
#[test]
fn a_memoised_rewriting() {
    // A result that is the input is not owned; another one is.
    let rewritten = Memo::<Strong<Shared>, Option<Strong<Shared>>>::new();
    let [x, y, z] = [1, 2, 3].map(shared);
    for (from, to) in [(&x, &y), (&y, &x), (&z, &z)] {
        rewritten.get_or_compute(from, |_| (!Strong::ptr_eq(from, to)).then(|| to.clone()));
    }
    drop((x, y));
    assert_eq!((rewritten.purge_cycles().removed, rewritten.len()), (2, 1));
    drop(z);
    assert!(rewritten.is_empty());
}

/// A long ring: neither the look at it nor its destruction recurses.
#[test]
fn a_ring() {
    let entries = if cfg!(miri) { 50 } else { 100_000 };
    let objects: Vec<_> = (0..entries).map(local::Strong::new).collect();
    let mut map = WeakMap::new();
    for (at, object) in objects.iter().enumerate() {
        map.insert(object, objects[(at + 1) % entries].clone());
    }
    let last = objects.last().cloned();
    drop(objects);
    assert_eq!((map.purge_cycles().removed, map.len()), (0, entries));
    drop(last);
    assert_eq!((map.purge_cycles().removed, map.len()), (entries, 0));
}

/// A shared map that is given twice: each entry counts once, and what it owned is destroyed before the call returns.
#[test]
fn a_map_that_is_given_twice() {
    let map = concurrent::WeakMap::new();
    let objects: Vec<_> = (0..10).map(shared).collect();
    for object in &objects {
        map.insert(object, object.clone());
    }
    let weak: Vec<_> = objects.iter().map(Strong::downgrade).collect();
    drop(objects);
    let held = weak[3].upgrade();
    assert_eq!(Cycles::new().with(&map).with(&map).purge().removed, 9);
    assert_eq!(weak.iter().filter(|weak| weak.is_expired()).count(), 9);
    drop(held);
    let holders = Cycles::new().with(&map).with(&map);
    let object = weak[3].upgrade().unwrap();
    assert_eq!(holders.holders(&object).count, Some(2));
    map.remove_if(&object, |_| true);
    assert_eq!(Strong::strong_count(&object), 1);
}

/// What is being made is in no entry yet: it is not asked, and is kept.
#[test]
fn a_purge_while_a_value_is_made() {
    let map = concurrent::WeakMap::new();
    let (key, own) = (shared(1), shared(2));
    map.insert(&own, own.clone());
    drop(own);
    let made = map.get_or_insert_with(&key, |_| {
        assert_eq!(map.purge_cycles().removed, 1);
        key.clone()
    });
    assert!(
        map.get(&key)
            .is_some_and(|there| Strong::ptr_eq(&there, &made))
    );
    drop((key, made));
    assert_eq!((map.purge_cycles().removed, map.len()), (1, 0));
}

/// A value that is shown for a weak pointer is not held by that: its entry goes, and it lives as long as it is shown.
#[test]
fn a_value_that_is_shown_for_a_weak_pointer() {
    let map = concurrent::WeakMap::new();
    let key = shared(7);
    map.insert(&key, key.clone());
    let weak = Strong::downgrade(&key);
    drop(key);
    let key = map.with(&weak, |value| {
        assert_eq!((map.purge_cycles().removed, map.len()), (1, 0));
        assert_eq!((value.number, weak.strong_count()), (7, 1));
        value.clone()
    });
    let key = key.unwrap();
    assert_eq!((key.number, Strong::strong_count(&key)), (7, 1));
    assert!(!map.contains_key(&key));
}

/// A map as a field shows also what it keeps of dead entries until that is asked for.
#[test]
fn a_map_in_a_value_that_keeps_the_dead() {
    struct Holder {
        map: RefCell<WeakMap<local::Strong<u8>, local::Strong<u16>>>,
    }
    impl_trace!(Holder: map);
    let (outer, inner) = (local::Strong::new(1_u16), local::Strong::new(2_u8));
    let holder = Holder {
        map: RefCell::default(),
    };
    let mut map = holder.map.borrow_mut();
    map.set_reclaim(Reclaim::OnRequest);
    map.insert(&inner, outer.clone());
    drop(inner);
    map.insert(&local::Strong::new(3), local::Strong::new(4)); // the first is taken out, and kept
    assert_eq!(map.len(), 0);
    drop(map);
    let mut map = WeakMap::from([(&outer, any(holder))]);
    drop(outer);
    assert_eq!((map.purge_cycles().removed, map.len()), (1, 0));
}
