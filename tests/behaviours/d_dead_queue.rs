//! D. The queue of dead entries, on one thread (items 58–69, 75).
//!
//! The maps of the standard library's pointers have no queue: for them the same questions are about
//! the sweep, where that makes sense.
//!
//! 63, 64: a map that works off its dead is borrowed, so the destructors that run then cannot reach
//! it, by the rules of the language. Who wants that takes the values out with `drain_dead` first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use weakly::{Handle, WeakMap};

use crate::common::{Counter, Key, Kind, Map, OnDrop, Own, downgrade, keys, new, panics, scaled};
use crate::{for_each_flavour, for_each_kind, heap};

for_each_flavour!(
    a_death_is_one_notice_for_each_entry,
    an_operation_works_off_some_notices_but_not_all,
    late_notices_do_not_accumulate,
    a_death_allocates_no_more_than_blocks_of_the_queue,
    maps_do_not_touch_each_others_queues,
);

for_each_kind!(
    keys_may_die_in_any_order,
    nothing_pending_is_no_work,
    reads_drain_nothing,
    a_destructor_finds_the_map_borrowed,
    a_destructor_may_do_anything_after_drain_dead,
    drain_dead_hands_out_those_that_die_meanwhile,
    drain_dead_stays_finished,
    a_panicking_destructor_leaves_the_rest_to_be_drained,
    a_clear_that_panics_leaves_an_empty_map,
    a_drain_may_cause_deaths_in_its_own_map,
    a_map_may_be_dropped_with_notices_pending,
    a_key_may_outlive_its_map,
);

/// The objects `0..n`, of this crate's own pointers.
fn objects<F: Own>(n: usize) -> Vec<Handle<usize, F>> {
    (0..n).map(Handle::new).collect()
}

/// D58: A death is one notice for each entry, and none for a key that was removed.
fn a_death_is_one_notice_for_each_entry<F: Own>() {
    let mut keys = objects::<F>(3);
    let a: WeakMap<_, _> = keys.iter().zip(0..).collect();
    let mut b = a.clone();
    b.remove(&keys[2]);
    b.insert(&keys[1], 7);
    keys.pop();
    assert_eq!((a.pending_dead(), b.pending_dead()), (1, 0));
    keys.pop();
    assert_eq!((a.pending_dead(), b.pending_dead()), (2, 1));
    assert_eq!((a.len(), b.len()), (1, 1));
}

/// D59: Whatever the order in which keys die, and in which they are drained, the map is the same.
fn keys_may_die_in_any_order<P: Kind>() {
    let orders: [fn(&mut Vec<Key<P>>) -> Key<P>; 3] = [
        |keys| keys.pop().unwrap(),
        |keys| keys.remove(0),
        |keys| keys.swap_remove(keys.len() / 2),
    ];
    for order in orders {
        let counter = Counter::default();
        let kept = keys::<P>(5);
        let mut dying = keys::<P>(20);
        let mut map: Map<P, _> = kept
            .iter()
            .chain(&dying)
            .map(|key| (key, counter.witness()))
            .collect();
        while !dying.is_empty() {
            drop(order(&mut dying));
        }
        map.purge();
        assert_eq!((map.len(), counter.get()), (5, 20));
        assert!(kept.iter().all(|key| map.contains_key(key)));
    }
}

/// D60: With nothing pending, an operation costs the same in a map of any size (for pointers without
/// notices: but for `purge`, which has to look). A mistake here makes ten thousand million steps.
fn nothing_pending_is_no_work<P: Kind>() {
    let n = scaled(100_000, 100);
    let keys = keys::<P>(n);
    let mut map: Map<P, _> = keys.iter().zip(0..).collect();
    let start = Instant::now();
    for key in &keys {
        if P::NOTIFIES {
            map.purge();
            assert_eq!(map.drain_dead().next(), None);
        }
        *map.get_or_insert(key, 0) += 1;
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(map.len(), n);
}

/// D61: An operation works off 16 notices; the rest stay for the next.
fn an_operation_works_off_some_notices_but_not_all<F: Own>() {
    let counter = Counter::default();
    let mut keys = objects::<F>(41);
    let mut map: WeakMap<_, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    let kept = keys.pop().unwrap();
    drop(keys);
    for done in [16, 32, 40] {
        map.insert(&kept, counter.witness());
        assert_eq!(map.pending_dead(), 40 - done);
    }
    assert_eq!((map.len(), counter.get()), (1, 43));
}

/// D62: Reads drain nothing: with `&self`, a map destroys no value.
fn reads_drain_nothing<P: Kind>() {
    let counter = Counter::default();
    let key = new::<P, _>(1);
    let dead = downgrade(&key);
    let map = Map::<P, _>::from([(&key, counter.witness())]);
    drop(key);
    for _ in 0..100 {
        assert!(map.get(&dead).is_none());
        assert!(map.iter().next().is_none());
        assert_eq!(map.len(), map.len());
    }
    assert_eq!(map.pending_dead(), usize::from(P::NOTIFIES));
    assert_eq!(counter.get(), 0);
}

type Shared<P> = Rc<RefCell<Map<P, OnDrop>>>;

/// D63: While a map destroys a value it is borrowed; nobody sees it in between.
fn a_destructor_finds_the_map_borrowed<P: Kind>() {
    let map = Shared::<P>::default();
    let borrowed = Rc::new(Cell::new(0));
    for n in 0..3 {
        let (map_too, borrowed) = (Rc::downgrade(&map), borrowed.clone());
        let value = OnDrop::new(move || {
            let free = map_too
                .upgrade()
                .is_some_and(|map| map.try_borrow().is_ok());
            borrowed.set(borrowed.get() + usize::from(!free));
        });
        map.borrow_mut().insert(&new::<P, _>(n), value);
    }
    map.borrow_mut().purge();
    assert_eq!(borrowed.get(), 3);
}

/// D64: Values that were taken out by `drain_dead` may do with the map what they like, and end it.
fn a_destructor_may_do_anything_after_drain_dead<P: Kind>() {
    let counter = Counter::default();
    let kept = new::<P, _>(0);
    let owner = Rc::new(RefCell::new(Some(Shared::<P>::default())));
    let map = owner.borrow().clone().unwrap();
    let keys = keys::<P>(6);
    for (n, key) in keys.iter().enumerate() {
        let (owner, witness, kept) = (owner.clone(), counter.witness(), kept.clone());
        let value = OnDrop::new(move || {
            let _ = &witness;
            let Some(map) = owner.borrow().clone() else {
                return;
            };
            let mut map = map.borrow_mut();
            match n {
                0 => drop(map.insert(&kept, OnDrop::new(|| ()))),
                1 => assert_eq!(map.iter().count(), map.len_live()),
                2 => map.purge(),
                3 => drop(map.remove(&kept)),
                4 => drop(map.get(&kept).is_some()),
                _ => drop(owner.take()), // the map goes with this borrow
            }
        });
        map.borrow_mut().insert(key, value);
    }
    drop(keys);
    let dead: Vec<OnDrop> = map.borrow_mut().drain_dead().collect();
    drop(map);
    assert_eq!((dead.len(), counter.get()), (6, 0));
    drop(dead);
    assert!(
        owner.take().is_none(),
        "the last value to go took the map with it"
    );
    assert_eq!((counter.get(), P::counts(&kept)), (6, (1, 0)));
}

/// D64: `drain_dead` also hands out the values of keys that die while it runs, as documented.
fn drain_dead_hands_out_those_that_die_meanwhile<P: Kind>() {
    let mut map = Map::<P, _>::new();
    let mut head = None;
    for n in 0..20 {
        let key = new::<P, _>(n);
        map.insert(&key, head.replace(key.clone())); // a value owns the next key
    }
    drop(head);
    assert_eq!(map.drain_dead().map(drop).count(), 20);
}

/// D64: `drain_dead` hands out every dead value once, and then stays at its end, as it promises.
fn drain_dead_stays_finished<P: Kind>() {
    let mut keys = keys::<P>(3);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, **key)).collect();
    keys.pop();
    let mut dead = map.drain_dead();
    assert_eq!((dead.next(), dead.next()), (Some(2), None));
    keys.pop();
    assert_eq!(dead.next(), None, "a `FusedIterator` goes on after its end");
}

/// D65: If the destructor of a value panics during a drain, the other notices are not lost, and the
/// map can be used.
fn a_panicking_destructor_leaves_the_rest_to_be_drained<P: Kind>() {
    let changes: [fn(&mut Map<P, OnDrop>); 4] = [
        |map| map.purge(),
        |map| map.reserve(0),
        |map| drop(map.remove(&new::<P, _>(0))),
        |map| map.retain(|_, _| true),
    ];
    for change in changes {
        let counter = Counter::default();
        let kept = new::<P, _>(0);
        let mut dying = keys::<P>(4);
        let mut map = Map::<P, _>::from([(&kept, OnDrop::new(|| ()))]);
        for key in &dying {
            let (bad, witness) = (**key == 1, counter.witness());
            map.insert(
                key,
                OnDrop::new(move || {
                    let _ = &witness;
                    assert!(!bad, "a bad value");
                }),
            );
        }
        dying.clear();
        assert!(panics(|| change(&mut map)));
        assert!(map.contains_key(&kept));
        map.purge();
        assert_eq!((counter.get(), map.len(), map.pending_dead()), (4, 1, 0));
        map.insert(&kept, OnDrop::new(|| ()));
        assert_eq!(map.len(), 1);
    }
}

/// D65: If a destructor panics in `clear`, the map is empty, and stays so when the keys die that it had.
fn a_clear_that_panics_leaves_an_empty_map<P: Kind>() {
    if cfg!(miri) {
        return; // hashbrown leaks the values after the one that panicked, and Miri would report that
    }
    let keys = keys::<P>(10);
    let mut map = Map::<P, _>::new();
    for key in &keys {
        let bad = **key == 5;
        map.insert(key, OnDrop::new(move || assert!(!bad, "a bad value")));
    }
    assert!(panics(|| map.clear()));
    assert_eq!(map.len(), 0);
    drop(keys);
    assert_eq!((map.pending_dead(), map.len()), (0, 0));
    map.purge();
    let key = new::<P, _>(1);
    map.insert(&key, OnDrop::new(|| ()));
    assert_eq!(map.len(), 1);
}

/// D66: A drain that destroys values which own keys of this map and of another: each value goes once.
fn a_drain_may_cause_deaths_in_its_own_map<P: Kind>() {
    let counter = Counter::default();
    let inner = Rc::new(RefCell::new(Map::<P, Vec<OnDrop>>::new()));
    let mut outer = Map::<P, OnDrop>::new();
    let counted = |f: Box<dyn Fn()>| {
        let witness = counter.witness();
        OnDrop::new(move || {
            let _ = &witness;
            f();
        })
    };
    for n in 0..scaled(50, 10) {
        // The value of `first` kills a key of `inner`, purges it, and thereby kills `second`.
        let [first, second, key] = [n; 3].map(new::<P, _>);
        outer.insert(&second, counted(Box::new(|| ())));
        let second = counted(Box::new(move || drop(second.clone())));
        inner.borrow_mut().insert(&key, vec![second]);
        let (inner, key) = (inner.clone(), Cell::new(Some(key)));
        outer.insert(
            &first,
            counted(Box::new(move || {
                drop(key.take());
                inner.borrow_mut().purge();
            })),
        );
    }
    outer.purge();
    assert_eq!(counter.get(), 3 * scaled(50, 10));
    assert_eq!((outer.len(), inner.borrow().len()), (0, 0));
}

/// D67: A map may go while notices are pending: each value is destroyed once, and no memory is left.
fn a_map_may_be_dropped_with_notices_pending<P: Kind>() {
    let start = heap::bytes();
    let counter = Counter::default();
    let mut keys = keys::<P>(100);
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    map.remove(&keys[99]);
    keys.truncate(50);
    drop(map);
    assert_eq!(counter.get(), 100);
    drop((keys, counter));
    assert_eq!(heap::bytes(), start);
}

/// D68: A key that outlives its map dies without disturbing anybody.
fn a_key_may_outlive_its_map<P: Kind>() {
    let start = heap::bytes();
    let [key, other] = [1, 2].map(new::<P, _>);
    let survivor = Map::<P, _>::from([(&key, 1), (&other, 2)]);
    drop(survivor.clone());
    drop(Map::<P, _>::from([(&key, 1)]).into_iter());
    drop(key);
    assert_eq!((survivor.len_live(), survivor[&other]), (1, 2));
    drop((survivor, other));
    assert_eq!(heap::bytes(), start);
}

/// D69: There are never more notices than entries; those of removed keys take no memory for long.
fn late_notices_do_not_accumulate<F: Own>() {
    let mut map = WeakMap::new();
    let mut most = 0;
    let start = heap::bytes();
    for _ in 0..scaled(200, 5) {
        let keys = objects::<F>(50);
        map.extend(keys.iter().zip(0..));
        drop(keys);
        assert_eq!((map.len(), map.pending_dead()), (0, 50));
        map.purge();
        assert_eq!(map.pending_dead(), 0);
        most = most.max(heap::bytes() - start);
    }
    assert!(most < 20_000, "{most} bytes for fifty dead");
}

/// D72: A death allocates nothing, but for a block of the queue now and then.
fn a_death_allocates_no_more_than_blocks_of_the_queue<F: Own>() {
    let n = scaled(1_000, 200);
    let keys = objects::<F>(n);
    let map: WeakMap<_, _> = keys.iter().zip(0..).collect();
    let before = heap::allocations();
    drop(keys);
    let made = heap::allocations() - before;
    assert!(made <= n / 30 + 2, "{made} allocations for {n} deaths");
    assert_eq!(map.pending_dead(), n);
}

/// D75: Each map has its own queue: a drain of one leaves the notices of the others.
fn maps_do_not_touch_each_others_queues<F: Own>() {
    let keys = objects::<F>(5);
    let mut a: WeakMap<_, _> = keys.iter().zip(0..).collect();
    let b = a.clone();
    drop(keys);
    a.purge();
    assert_eq!((a.pending_dead(), b.pending_dead()), (0, 5));
}
