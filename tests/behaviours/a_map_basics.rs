//! A. Map basics, of one entry or a few (items 1–13, 24).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use weakly::{
    Addr, Strong, WeakMap, local,
    reference::{StrongRef, WeakKey},
    unsize,
};

use crate::collections::*;
use crate::common::{Counter, Kind, Map, downgrade, is_alive, new, panics};
use crate::{for_each_flavour, for_each_kind};

for_each_map!(
    kit: an_empty_map_has_nothing,
    insert_replaces_and_returns_the_old_value,
    try_insert_refuses_a_present_key,
    contains_key_follows_insert_and_remove,
    remove_returns_the_value_once,
    remove_leaves_other_entries,
    get_or_insert_keeps_the_existing_value,
    the_closure_is_not_run_when_the_key_is_present,
    a_panicking_closure_leaves_the_map_as_it_was,
    a_closure_cannot_reach_the_map_it_fills,
);

for_each_kind!(
    a_value_is_found_by_any_clone_of_its_key,
    the_closure_gets_a_weak_handle_to_the_key,
    a_closure_may_kill_another_key,
);

/// A1: An empty map has no entries, finds nothing, and has nothing to remove.
fn an_empty_map_has_nothing(kit: Kit<dyn Mapping>) {
    let mut map = kit.empty();
    let key = kit.life(1);
    assert_eq!((map.len(), map.len_live(), map.capacity()), (0, 0, 0));
    assert!(map.is_empty());
    assert_eq!((map.get(&key), map.get_key_value(&key)), (None, None));
    assert_eq!((map.iter().count(), map.weak().count()), (0, 0));
    assert_eq!((map.remove(&key), map.remove_entry(&key)), (None, None));
    assert!(map.pop().is_none());
    map.purge();
    map.clear();
    map.shrink_to_fit();
    assert!(map == kit.empty());
}

/// A2: A value is found by its key, by a clone of it, by a weak handle, and by its address.
fn a_value_is_found_by_any_clone_of_its_key<P: Kind>() {
    let key = new::<P, usize>(1);
    let mut map = Map::<P, _>::new();
    map.insert(&key, vec![7_usize]);
    let value: *const Vec<usize> = map.get(&key).unwrap();
    assert_eq!(map[&key], [7]);
    for found in [
        map.get(&key.clone()),
        map.get(&downgrade(&key)),
        map.get(&Addr::of(&*key)),
        map.get_key_value(&key).map(|(_, value)| value),
    ] {
        assert!(std::ptr::eq(found.unwrap(), value));
    }
}

/// A3: Insert of a present key replaces the value and returns the old one; the count stays.
fn insert_replaces_and_returns_the_old_value(kit: Kit<dyn Mapping>) {
    let [key, old, new] = [1, 10, 20].map(|n| kit.life(n));
    let mut map = kit.empty();
    assert_eq!(map.insert(&key, &old), None);
    assert_eq!(map.insert(&key.clone(), &new), Some(10));
    assert_eq!((map.len(), map.get(&key)), (1, Some(20)));
    assert_eq!(map.entry_insert(&key, &old), Some(20));
    assert_eq!((map.len(), map.get_key_value(&key)), (1, Some((1, 10))));
    assert_eq!(
        (map.entry_look(&key), map.entry_modify(&key)),
        (Some(10), Some(10))
    );
}

/// A4: `try_insert` of a present key fails, shows the entry, and changes nothing.
fn try_insert_refuses_a_present_key(kit: Kit<dyn Mapping>) {
    let [key, first, second] = [1, 10, 20].map(|n| kit.life(n));
    let mut map = kit.empty();
    assert_eq!(map.try_insert(&key, &first), Ok(()));
    assert_eq!(map.try_insert(&key, &second).unwrap_err().0, 10);
    assert_eq!((map.get(&key), map.len()), (Some(10), 1));
}

for_each_kind!(try_insert_hands_back_the_rejected_value);

/// A4: Where the map would have owned the rejected value, it returns it.
fn try_insert_hands_back_the_rejected_value<P: Kind>() {
    let key = new::<P, usize>(1);
    let mut map = Map::<P, _>::new();
    assert_eq!(map.try_insert(&key, 10_usize).ok(), Some(&mut 10));
    let refused = map.try_insert(&key, 20).err().unwrap();
    assert_eq!(refused.value, 20);
    assert_eq!(*refused.entry.get(), 10);
    assert_eq!((map[&key], map.len()), (10, 1));
}

/// A5: `contains_key` is true after an insert, false before it and after a remove.
fn contains_key_follows_insert_and_remove(kit: Kit<dyn Mapping>) {
    let [key, value] = [1, 10].map(|n| kit.life(n));
    let mut map = kit.empty();
    assert!(!map.contains_key(&key));
    map.insert(&key, &value);
    assert!(map.contains_key(&key));
    map.remove(&key);
    assert!(!map.contains_key(&key));
}

/// A6: Remove returns the value the first time, nothing the second.
fn remove_returns_the_value_once(kit: Kit<dyn Mapping>) {
    let [key, value] = [1, 10].map(|n| kit.life(n));
    let mut map = kit.map([(&key, &value)]);
    assert_eq!((map.remove(&key), map.remove(&key)), (Some(10), None));
    map.insert(&key, &value);
    assert_eq!(map.remove_entry(&key), Some((1, 10)));
    assert_eq!(map.remove_entry(&key), None);
    map.insert(&key, &value);
    assert_eq!(map.entry_remove(&key), Some((1, 10)));
    assert_eq!((map.entry_remove(&key), map.len()), (None, 0));
}

/// A7: Remove touches no other entry.
fn remove_leaves_other_entries(kit: Kit<dyn Mapping>) {
    let keys = kit.lives(20);
    let mut map = kit.map(keys.iter().zip(&keys));
    map.remove(&keys[7]);
    assert_eq!(map.len(), 19);
    for (n, key) in keys.iter().enumerate() {
        assert_eq!(map.get(key), (n != 7).then_some(n));
    }
}

/// A8: `get_or_insert` returns the existing value, and does not replace it.
fn get_or_insert_keeps_the_existing_value(kit: Kit<dyn Mapping>) {
    let [key, first, second] = [1, 10, 20].map(|n| kit.life(n));
    let mut map = kit.empty();
    assert_eq!(map.get_or_insert(&key, &first), 10);
    assert_eq!(map.get_or_insert(&key, &second), 10);
    assert_eq!(map.entry_or_insert(&key, &second), 10);
    assert_eq!((map.len(), map.get(&key)), (1, Some(10)));
    assert_eq!(second.counts(), (1, 0));
}

/// A9: The closure of `get_or_insert_with` is not run when the key is present.
fn the_closure_is_not_run_when_the_key_is_present(kit: Kit<dyn Mapping>) {
    let [key, value] = [1, 10].map(|n| kit.life(n));
    let mut map = kit.empty();
    let mut runs = 0;
    let mut make = || {
        runs += 1;
        &value
    };
    for _ in 0..2 {
        assert_eq!(map.get_or_insert_with(&key, &mut make), 10);
        assert_eq!(map.entry_or_insert_with(&key, &mut make), 10);
        let made = map.try_get_or_insert_with(&key, &mut || Ok(make()));
        assert_eq!(made, Ok(10));
    }
    assert_eq!(runs, 1);
}

/// A10: The closure gets a weak handle to exactly the key, and no strong one.
fn the_closure_gets_a_weak_handle_to_the_key<P: Kind>() {
    let key = new::<P, usize>(1);
    let mut map = Map::<P, _>::new();
    map.get_or_insert_with(&key, |weak| {
        assert_eq!(P::counts(&key).0, 1);
        let strong = weakly::reference::WeakRef::upgrade(weak).unwrap();
        assert_eq!(P::Strong::addr(&strong), P::Strong::addr(&key));
    });
    assert_eq!(P::counts(&key).0, 1);
    assert!(map.contains_key(&key));
}

/// A11: A closure that panics or fails leaves the map unchanged and usable.
fn a_panicking_closure_leaves_the_map_as_it_was(kit: Kit<dyn Mapping>) {
    let keys = kit.lives(2);
    let mut map = kit.map([(&keys[0], &keys[0])]);
    assert!(panics(|| {
        map.get_or_insert_with(&keys[1], &mut || panic!("no value"));
    }));
    assert!(panics(|| {
        map.entry_or_insert_with(&keys[1], &mut || panic!("no value"));
    }));
    assert_eq!(
        map.try_get_or_insert_with(&keys[1], &mut || Err("no")),
        Err("no")
    );
    assert_eq!((map.len(), map.get(&keys[1])), (1, None));
    assert_eq!(keys[1].counts(), (1, 0));
    map.insert(&keys[1], &keys[1]);
    assert_eq!((map.get(&keys[0]), map.get(&keys[1])), (Some(0), Some(1)));
}

/// A12: The closure cannot insert the same key: the map is borrowed, which a `RefCell` detects at run time
/// (without one, the compiler does). The closure's result is inserted.
fn a_closure_cannot_reach_the_map_it_fills(kit: Kit<dyn Mapping>) {
    let [key, outer] = [1, 10].map(|n| kit.life(n));
    let map = RefCell::new(kit.empty());
    map.borrow_mut().get_or_insert_with(&key, &mut || {
        assert!(map.try_borrow_mut().is_err());
        &outer
    });
    assert_eq!(map.borrow().get(&key), Some(10));
    assert_eq!(map.borrow().len(), 1);
}

/// A13: The closure may drop the last strong handle of another key: both effects are visible.
fn a_closure_may_kill_another_key<P: Kind>() {
    let [key, other] = [1, 2].map(new::<P, usize>);
    let dead = downgrade(&other);
    let counter = Counter::default();
    let ends = counted(&counter);
    let mut map = Map::<P, Owned>::from([(&other, Owned::new(2, &ends))]);
    map.get_or_insert_with(&key, |_| {
        drop(other);
        Owned::new(1, &ends)
    });
    assert!(map.contains_key(&key));
    assert!(!map.contains_key(&dead));
    assert_eq!(map.len_live(), 1);
    map.purge();
    assert_eq!((map.len(), counter.get()), (1, 1));
}

trait Shape {
    fn area(&self) -> f32;
}

struct Point;

impl Shape for Point {
    fn area(&self) -> f32 {
        0.0
    }
}

struct Square(f32);

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

/// The requirements of item 24 on a map whose keys have no size of their own.
fn distinguishes<K>(mut keys: Vec<K>)
where
    K: StrongRef + Clone,
{
    let mut map: WeakMap<K, usize> = keys.iter().zip(0_usize..).collect();
    assert_eq!(map.len(), keys.len(), "two keys have one identity");
    for (n, key) in keys.iter().enumerate() {
        assert_eq!(map.get(&key.clone()), Some(&n));
        assert_eq!(map.get(&K::downgrade(key)), Some(&n));
    }
    let last = K::downgrade(&keys.pop().unwrap());
    assert!(!is_alive(&last));
    assert_eq!(map.get(&last), None);
    map.purge();
    assert_eq!(map.len(), keys.len());
    assert!(keys.iter().zip(0_usize..).all(|(key, n)| map[key] == n));
}

for_each_kind!(objects_of_size_zero_are_distinct);

/// A24: Objects of size zero are distinct, like any others.
fn objects_of_size_zero_are_distinct<P: Kind>() {
    distinguishes::<P::Strong<()>>((0..50).map(|_| ().into()).collect());
}

for_each_flavour!(unsized_keys_are_distinct);

/// A24: Slices, strings and trait objects are keys; identity is the address, never the vtable.
fn unsized_keys_are_distinct<F: crate::common::Own>() {
    use weakly::ptr;
    distinguishes::<ptr::Strong<[u8], F>>(vec![[].into(), [].into(), [1, 2].into(), [1, 2].into()]);
    distinguishes::<ptr::Strong<str, F>>(vec!["".into(), "".into(), "same".into(), "same".into()]);

    let point = ptr::Strong::<_, F>::new(Point);
    let square = ptr::Strong::<_, F>::new(Square(2.0));
    let shapes: Vec<ptr::Strong<dyn Shape, F>> = vec![
        unsize!(point => dyn Shape),
        ptr::Strong::from(Box::new(Square(1.0)) as Box<dyn Shape>),
        unsize!(square.clone() => dyn Shape),
    ];
    assert_eq!(shapes.iter().map(|shape| shape.area()).sum::<f32>(), 5.0);
    let map = WeakMap::from([(&shapes[2], 2_usize)]);
    let same = unsize!(square.clone() => dyn Shape);
    assert_eq!(map.get(&same), Some(&2));
    assert_eq!(map.get(&Addr::<dyn Shape>::of(&*square)), Some(&2));
    drop((square, same));
    distinguishes(shapes);
}

/// A24: So are those of the standard library's pointers.
#[test]
fn unsized_std_keys_are_distinct() {
    distinguishes::<Rc<str>>(vec!["".into(), "".into(), "same".into(), "same".into()]);
    distinguishes::<Arc<[u8]>>(vec![[].into(), [1].into(), [1].into()]);
    distinguishes::<Rc<dyn Shape>>(vec![Rc::new(Point), Rc::new(Point), Rc::new(Square(1.0))]);
}

/// A24: The key's type names the pointer: the same payload can be a key of every kind.
#[test]
fn the_kind_of_pointer_is_part_of_the_type() {
    let (strong, local) = (Strong::new(1_usize), local::Strong::new(1_usize));
    let atomics = WeakMap::from([(&strong, 10_usize)]);
    let locals = WeakMap::from([(&local, 20_usize)]);
    assert_eq!((atomics[&strong], locals[&local]), (10, 20));
    assert_eq!(
        (atomics.get(&*strong), locals.get(&*strong)),
        (Some(&10), None)
    );
}
