//! C. The death of a key, and what becomes of its entry and its value (items 35–46, 54–57).
//!
//! Item 46 (a value replaced while its own death is pending) is about maps of weak values.

use std::cell::RefCell;
use std::rc::Rc;

use weakly::WeakMap;

use crate::common::{Counter, Kind, Map, OnDrop, Witness, downgrade, is_alive, keys, new, scaled};
use crate::{for_each_kind, heap};

for_each_kind!(
    a_dead_key_is_gone_at_once,
    one_of_several_handles_changes_nothing,
    weak_handles_do_not_keep_the_entry,
    a_temporary_key_leaves_nothing,
    a_value_is_destroyed_by_the_next_change_of_the_map,
    reading_destroys_nothing,
    purge_destroys_the_values_of_all_the_dead,
    a_removed_or_replaced_value_is_destroyed_at_once,
    every_map_forgets_a_dead_key,
    a_removed_key_may_die_later,
    a_key_removed_and_inserted_again_goes_once,
    a_late_notice_spares_the_new_entry,
    keys_may_die_while_the_table_grows,
    a_key_that_cannot_be_upgraded_is_absent,
    a_table_of_the_dead_does_not_grow,
    short_lived_keys_take_no_more_and_no_more_memory,
);

/// C35: When the last strong handle goes, the entry is not found any more, at once.
fn a_dead_key_is_gone_at_once<P: Kind>() {
    let key = new::<P, _>(1);
    let weak = downgrade(&key);
    let mut map = Map::<P, _>::from([(&key, 1)]);
    drop(key);
    assert_eq!(map.get(&weak), None);
    assert_eq!(
        (map.iter().count(), map.values().count(), map.len_live()),
        (0, 0, 0)
    );
    assert_eq!(map.len(), usize::from(!P::NOTIFIES));
    assert_eq!(map.remove(&weak), None);
}

/// C36: As long as one strong handle is left, nothing changes.
fn one_of_several_handles_changes_nothing<P: Kind>() {
    let key = new::<P, _>(1);
    let mut map = Map::<P, _>::from([(&key, 1)]);
    drop([key.clone(), key.clone()]);
    map.purge();
    assert_eq!(
        (map.get(&key), map.len(), map.pending_dead()),
        (Some(&1), 1, 0)
    );
}

/// C37: Weak handles, however many, do not keep the entry.
fn weak_handles_do_not_keep_the_entry<P: Kind>() {
    let key = new::<P, _>(1);
    let counter = Counter::default();
    let weak: Vec<_> = (0..5).map(|_| downgrade(&key)).collect();
    let mut map = Map::<P, _>::from([(&key, counter.witness())]);
    drop(key);
    map.purge();
    assert_eq!((map.len(), counter.get()), (0, 1));
    assert!(!weak.iter().any(is_alive));
}

/// C38: The entry of a temporary key is gone when the statement ends.
fn a_temporary_key_leaves_nothing<P: Kind>() {
    let mut map = Map::<P, _>::new();
    map.insert(&new::<P, _>(1), "nobody");
    assert_eq!((map.len_live(), map.iter().next().is_none()), (0, true));
    map.purge();
    assert!(map.is_empty());
}

type Change<P> = fn(&mut Map<P, Option<Witness>>);

/// Changes of a map with few entries: each of them finds a dead one.
fn changes<P: Kind>() -> Vec<(&'static str, Change<P>)> {
    vec![
        ("purge", |map| map.purge()),
        ("insert", |map| drop(map.insert(&new::<P, _>(2), None))),
        ("entry", |map| _ = map.entry(&new::<P, _>(2))),
        ("remove", |map| drop(map.remove(&new::<P, _>(2)))),
        ("retain", |map| map.retain(|_, _| true)),
        ("pop", |map| drop(map.pop())),
        ("reserve", |map| map.reserve(1)),
        ("shrink_to_fit", |map| map.shrink_to_fit()),
        ("extend", |map| map.extend([(new::<P, _>(2), None)])),
        ("drain_dead", |map| drop(map.drain_dead().next())),
        ("drain", |map| drop(map.drain())),
        ("clear", |map| map.clear()),
        ("drop", |map| drop(std::mem::take(map))),
    ]
}

/// C39: A value is destroyed once, not before its key dies, and at the latest by the map's next change.
fn a_value_is_destroyed_by_the_next_change_of_the_map<P: Kind>() {
    for (name, change) in changes::<P>() {
        let counter = Counter::default();
        let key = new::<P, _>(1);
        let mut map = Map::<P, _>::from([(&key, Some(counter.witness()))]);
        assert_eq!(counter.get(), 0, "{name}: before the death");
        drop(key);
        change(&mut map);
        assert_eq!(counter.get(), 1, "{name}: after the change");
        drop(map);
        assert_eq!(counter.get(), 1, "{name}: once");
    }
}

/// C39: Methods that take `&self`, and those that only give out what is there, destroy nothing.
fn reading_destroys_nothing<P: Kind>() {
    let counter = Counter::default();
    let [key, other] = [1, 2].map(new::<P, _>);
    let mut map: Map<P, _> = [&key, &other].map(|key| (key, counter.witness())).into();
    drop(key);
    let pending = map.pending_dead();
    assert!(map.contains_key(&other));
    assert_eq!((map.iter().count(), map.len_live()), (1, 1));
    assert!(map.get_mut(&other).is_some());
    assert_eq!((map.iter_mut().count(), map.values_mut().count()), (1, 1));
    assert_eq!((counter.get(), map.pending_dead()), (0, pending));
}

/// C40: After `purge`, every value of a dead key is destroyed, and no other.
fn purge_destroys_the_values_of_all_the_dead<P: Kind>() {
    let counter = Counter::default();
    let mut keys = keys::<P>(scaled(1_000, 100));
    let mut map: Map<P, _> = keys.iter().map(|key| (key, counter.witness())).collect();
    let all = keys.len();
    keys.retain(|key| **key % 4 == 0);
    map.purge();
    assert_eq!(counter.get(), all - keys.len());
    assert_eq!(map.len(), keys.len());
}

/// C41: A value that is removed or replaced is handed back, and destroyed when the caller drops it.
fn a_removed_or_replaced_value_is_destroyed_at_once<P: Kind>() {
    let counter = Counter::default();
    let key = new::<P, _>(1);
    let mut map = Map::<P, _>::from([(&key, counter.witness())]);
    map.insert(&key, counter.witness());
    assert_eq!(counter.get(), 1);
    map.remove(&key);
    assert_eq!(counter.get(), 2);
    map.insert(&key, counter.witness());
    map.retain(|_, _| false);
    assert_eq!(counter.get(), 3);
}

/// C42: A key in several maps is forgotten by each; while the value of one is destroyed, the key is
/// dead for all.
fn every_map_forgets_a_dead_key<P: Kind>() {
    let key = new::<P, _>(1);
    let weak = downgrade(&key);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let maps: Rc<[RefCell<Map<P, OnDrop>>; 3]> = Rc::default();
    for n in 0..3 {
        let (maps_too, weak, seen) = (Rc::downgrade(&maps), weak.clone(), seen.clone());
        let value = OnDrop::new(move || {
            let maps = maps_too.upgrade().unwrap();
            let others = maps.iter().filter_map(|map| map.try_borrow().ok());
            let found = others.filter(|map| map.contains_key(&weak)).count();
            seen.borrow_mut().push((n, is_alive(&weak), found));
        });
        maps[n].borrow_mut().insert(&key, value);
    }
    drop(key);
    assert!(maps.iter().all(|map| map.borrow().get(&weak).is_none()));
    maps.iter().for_each(|map| map.borrow_mut().purge());
    let expected: Vec<_> = (0..3).map(|n| (n, false, 0)).collect();
    assert_eq!(*seen.borrow(), expected);
}

/// C43: A key that was removed dies later: the map does not notice.
fn a_removed_key_may_die_later<P: Kind>() {
    let [key, other] = [1, 2].map(new::<P, _>);
    let mut map = Map::<P, _>::from([(&key, 1), (&other, 2)]);
    assert_eq!(map.remove(&key), Some(1));
    drop(key);
    assert_eq!((map.len(), map.pending_dead()), (1, 0));
    map.purge();
    assert_eq!((map.len(), map[&other]), (1, 2));
}

/// C44: A key that was removed and inserted again dies: its entry goes exactly once.
fn a_key_removed_and_inserted_again_goes_once<P: Kind>() {
    let counter = Counter::default();
    let [key, other] = [1, 2].map(new::<P, _>);
    let mut map = Map::<P, _>::from([(&other, counter.witness())]);
    for _ in 0..3 {
        map.remove(&key);
        map.insert(&key, counter.witness());
    }
    assert_eq!(counter.get(), 2);
    drop(key);
    assert_eq!(map.pending_dead(), usize::from(P::NOTIFIES));
    map.purge();
    assert_eq!((counter.get(), map.len(), map.pending_dead()), (3, 1, 0));
}

/// C45: New keys in the places of dead ones, whose notices come late, stay.
fn a_late_notice_spares_the_new_entry<P: Kind>() {
    let mut map = Map::<P, _>::with_capacity(200);
    drop(
        keys::<P>(100)
            .iter()
            .map(|key| map.insert(key, 0))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        map.pending_dead() > 16,
        P::NOTIFIES,
        "some notices stay pending below"
    );
    let keys = keys::<P>(100);
    for key in &keys {
        map.insert(key, **key);
    }
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (100, 0));
    assert!(keys.iter().all(|key| map[key] == **key));
}

/// C54: Keys that die while the table grows, because growing destroys the values that own them, are
/// neither lost nor met twice.
fn keys_may_die_while_the_table_grows<P: Kind>() {
    let counter = Counter::default();
    let kept = keys::<P>(scaled(500, 60));
    let mut map = WeakMap::new();
    for key in &kept {
        // One dies at once and takes two others with it, when its value goes.
        let [dead, first, second] = [0; 3].map(new::<P, _>);
        map.insert(&first, (counter.witness(), vec![]));
        map.insert(&second, (counter.witness(), vec![]));
        map.insert(&dead, (counter.witness(), vec![first, second]));
        map.insert(key, (counter.witness(), vec![]));
    }
    assert!(kept.iter().all(|key| map.contains_key(key)));
    map.purge();
    assert_eq!((map.len(), map.len_live()), (kept.len(), kept.len()));
    assert_eq!(counter.get(), 3 * kept.len());
}

/// C55: A key whose entry is found, but which can no longer be upgraded, is treated as absent.
fn a_key_that_cannot_be_upgraded_is_absent<P: Kind>() {
    struct Dying<P: Kind>(Rc<RefCell<WeakMap<P::Strong<Dying<P>>, i32>>>);
    impl<P: Kind> Drop for Dying<P> {
        fn drop(&mut self) {
            let me = weakly::Addr::of(self);
            let mut map = self.0.borrow_mut();
            assert!(map.contains_key(&me));
            assert!(map.get_key_value(&me).is_none());
            assert!(map.remove_entry(&me).is_none());
            assert!(map.iter().next().is_none());
            assert!(map.pop().is_none());
        }
    }
    let map = Rc::new(RefCell::new(WeakMap::new()));
    let key = new::<P, _>(Dying::<P>(map.clone()));
    map.borrow_mut().insert(&key, 1);
    drop(key);
    map.borrow_mut().purge();
    assert!(map.borrow().is_empty());
}

/// C56: When all keys are dead, an insert into the full table makes it no larger.
fn a_table_of_the_dead_does_not_grow<P: Kind>() {
    let mut map = Map::<P, _>::with_capacity(100);
    let capacity = map.capacity();
    let keys = keys::<P>(capacity);
    map.extend(keys.iter().map(|key| (key, 0)));
    assert_eq!((map.len(), map.capacity()), (capacity, capacity));
    drop(keys);
    let key = new::<P, _>(1);
    map.insert(&key, 1);
    assert!(map.capacity() <= capacity);
    assert_eq!((map.len_live(), map[&key]), (1, 1));
}

/// C57: A million short-lived keys, never more than a hundred alive, and no `purge`: the table and the
/// memory stay small.
fn short_lived_keys_take_no_more_and_no_more_memory<P: Kind>() {
    let start = heap::bytes();
    let mut map = Map::<P, _>::new();
    let mut alive = std::collections::VecDeque::new();
    let (mut most, mut capacity) = (0, 0);
    for n in 0..scaled(1_000_000, 300) {
        let key = new::<P, _>(n);
        map.insert(&key, n);
        alive.push_back(key);
        if alive.len() > 100 {
            alive.pop_front();
        }
        most = most.max(heap::bytes() - start);
        capacity = capacity.max(map.capacity());
    }
    assert!(capacity < 500, "{capacity} places for a hundred keys");
    assert!(most < 100_000, "{most} bytes for a hundred keys");
    assert!(alive.iter().all(|key| map[key] == **key));
    drop((map, alive));
    assert_eq!(heap::bytes(), start);
}
