//! A. Map basics, of one entry or a few (items 9–13, 24). The model states the others.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use weakly::{Addr, Strong, WeakMap, reference::StrongRef, unsize};

use crate::collections::*;
use crate::common::{Kind, is_alive, panics};
use crate::for_each_kind;

for_each_map!(
    kit: a_maker_runs_only_for_what_is_not_there,
    a_maker_that_fails_leaves_no_trace,
    a_maker_may_end_others,
);

/// A9, A12: The closure of `get_or_insert_with` does not run where the key is present, and cannot
/// reach the map that it fills: the map is borrowed.
fn a_maker_runs_only_for_what_is_not_there(kit: Kit<dyn Mapping>) {
    let [key, value] = [1, 10].map(|n| kit.life(n));
    let map = RefCell::new(kit.empty());
    let runs = Cell::new(0);
    let mut make = || {
        assert!(map.try_borrow_mut().is_err());
        runs.set(runs.get() + 1);
        &value
    };
    for _ in 0..2 {
        let mut map = map.borrow_mut();
        assert_eq!(map.get_or_insert_with(&key, &mut make), 10);
        assert_eq!(map.entry_or_insert_with(&key, &mut make), 10);
        let made = map.try_get_or_insert_with(&key, &mut || Ok(make()));
        assert_eq!(made, Ok(10));
    }
    assert_eq!((runs.get(), map.borrow().len()), (1, 1));
}

/// A11, H116: A closure that fails or panics leaves no trace, whether its key is new or dead.
fn a_maker_that_fails_leaves_no_trace(kit: Kit<dyn Mapping>) {
    let [key, other, value] = [1, 2, 10].map(|n| kit.life(n));
    let mut map = kit.map([(&other, &value), (&kit.life(1), &kit.life(20))]);
    let capacity = map.capacity();
    let fails = || -> &Handle { panic!("no value") };
    for _ in 0..20 {
        let failed = map.try_get_or_insert_with(&key, &mut || Err("no"));
        assert_eq!(failed, Err("no"));
        assert!(panics(|| _ = map.get_or_insert_with(&key, &mut { fails })));
        assert!(panics(|| _ = map.entry_or_insert_with(&key, &mut { fails })));
        assert!(panics(
            || _ = map.remove_if(&other, &mut |_| panic!("no answer"))
        ));
        assert_eq!((map.len_live(), map.capacity()), (1, capacity));
        assert_eq!((map.get(&key), map.get(&other)), (None, Some(10)));
    }
    map.purge();
    assert_eq!((map.len(), key.counts()), (1, (1, 0)));
    assert_eq!(map.get_or_insert_with(&key, &mut || &value), 10);
    assert_eq!(map.len(), 2);
}

/// A13, H116: A closure may end what other entries live as long as: both effects are visible.
fn a_maker_may_end_others(kit: Kit<dyn Mapping>) {
    let (mut others, [key, value]) = (kit.lives(29), [29, 100].map(|n| kit.life(n)));
    let mut map = kit.map(others.iter().zip(&others));
    let made = map.get_or_insert_with(&key, &mut || {
        others.clear();
        &value
    });
    assert_eq!((made, map.len_live()), (100, 1));
    assert!(!kit.notifies || (map.len(), map.pending_dead()) == (1, 29));
    map.purge();
    assert_eq!((map.len(), map.get(&key)), (1, Some(100)));
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

/// A24, B27: Slices, strings and trait objects are keys; identity is the address, never the vtable.
#[test]
fn unsized_keys_are_distinct() {
    distinguishes::<Strong<[u8]>>(vec![[].into(), [].into(), [1, 2].into(), [1, 2].into()]);
    distinguishes::<Strong<str>>(vec!["".into(), "".into(), "same".into(), "same".into()]);

    let (point, square) = (Strong::new(0_u8), Strong::new(2.0_f32));
    let shapes: Vec<Strong<dyn Debug>> = vec![
        unsize!(point => dyn Debug),
        Strong::from(Box::new(1.0) as Box<dyn Debug>),
        unsize!(square.clone() => dyn Debug),
    ];
    let map = WeakMap::from([(&shapes[2], 2_usize)]);
    let same = unsize!(square.clone() => dyn Debug);
    assert_eq!(map.get(&same), Some(&2));
    assert_eq!(map.get(&Addr::<dyn Debug>::of(&*square)), Some(&2));
    drop((square, same));
    distinguishes(shapes);
}

/// A24: So are those of the standard library's pointers.
#[test]
fn unsized_std_keys_are_distinct() {
    distinguishes::<Rc<str>>(vec!["".into(), "".into(), "same".into(), "same".into()]);
    distinguishes::<Arc<[u8]>>(vec![[].into(), [1].into(), [1].into()]);
    distinguishes::<Rc<dyn Debug>>(vec![Rc::new(()), Rc::new(()), Rc::new(1.0)]);
}
