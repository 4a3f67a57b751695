//! User code that sets the entry of which an operation has just asked it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

use weakly::Strong;
use weakly::concurrent::{WeakMap, WeakValueMap};

use crate::common::custom::{Custom, On};
use crate::common::in_time;
use crate::dynamic::*;
use crate::faces::*;
use crate::for_each_pointer;

for_each_pointer!(
    a_closure_may_set_its_key_in_another_map,
    a_closure_may_set_the_entry_if_there_is_none,
    a_destructor_must_not_set_the_entry_that_replaces_it,
);

/// L157: A closure may set the entry of its key in another map. What it has put there, another thread may free, and put an
/// entry into the first map in the same memory: that is not what the closure has put.
fn a_closure_may_set_its_key_in_another_map<P: Kind>() {
    /// Alone in its size class, so that a map gets the memory of the other's entry.
    type Large = [usize; 20];
    let key = Life::<P>::from(1);
    let (map, other) = (
        WeakMap::<Life<P>, Large>::new(),
        WeakMap::<Life<P>, Large>::new(),
    );
    let turns = AtomicUsize::new(0);
    let change = || {
        let turn = turns.fetch_add(1, Relaxed) + 1;
        match turn {
            1 => _ = thread::scope(|scope| scope.spawn(|| map.insert(&key, [1; 20])).join()),
            2 => {
                other.insert(&key, [2; 20]);
                _ = thread::scope(|scope| {
                    let change = || {
                        other.remove(&key);
                        map.insert(&key, [3; 20])
                    };
                    scope.spawn(change).join()
                });
            }
            _ => {}
        }
    };
    let operations: [&dyn Fn(); 2] = [
        &|| {
            _ = map.compute_dyn(&key, &mut |_| {
                change();
                Some([4; 20])
            });
        },
        &|| {
            let removed = map.remove_if(&key, |_| {
                change();
                true
            });
            assert!(removed);
        },
    ];
    for operation in operations {
        map.insert(&key, [0; 20]);
        turns.store(0, Relaxed);
        operation();
        assert_eq!(turns.load(Relaxed), 3);
        assert!(other.is_empty());
    }
    assert!(map.is_empty());
}

/// L157: It may set the entry that it is asked about, if it then leaves it: here another thread has removed it, so the
/// second call sets it, for the first time, and the third does not.
fn a_closure_may_set_the_entry_if_there_is_none<P: Kind>() {
    let (map, key) = (WeakMap::new(), Life::<P>::from(1));
    map.insert(&key, 9_usize);
    let mut calls = 0;
    let new = map.compute_dyn(&key, &mut |old| {
        calls += 1;
        if calls == 1 {
            thread::scope(|scope| _ = scope.spawn(|| map.remove(&key)).join());
        } else if old.is_none() {
            map.insert(&key, 0);
        }
        Some(old.copied().unwrap_or(0) + 1)
    });
    assert_eq!((new, map.get(&key), calls), (Some(1), Some(1), 3));
}

/// L157: What is refused is destroyed before the next try; if that sets the entry each time, it would go on for ever.
fn a_destructor_must_not_set_the_entry_that_replaces_it<P: Kind>() {
    in_time(|| {
        let key = Life::<P>::from(1);
        let map = Arc::new(Maps::<Life<P>>::new());
        map.insert(&key, token());
        let mut calls = 0;
        let computed = catch_unwind(AssertUnwindSafe(|| {
            map.compute_dyn(&key, &mut |_| {
                calls += 1;
                map.insert(&key, token());
                let (map, key) = (map.clone(), key.clone());
                Some(ending(move || _ = map.insert(&key, token())))
            });
        }));
        assert!(computed.is_err() && calls < 10, "{calls}");
        map.clear();
    });
}

/// L157: Nor may a `Clone` of the key, which the operation calls to make the new entry.
#[test]
fn a_clone_must_not_set_the_entry_it_is_for() {
    type Map = WeakValueMap<Custom, Strong<Custom>>;
    fn key(map: &'static Map, value: Strong<Custom>) -> Custom {
        Custom::from(0).on(On::Clone, move |_| {
            _ = map.insert(key(map, value.clone()), &value)
        })
    }
    in_time(|| {
        let map: &'static Map = Box::leak(Box::default());
        let value = Strong::new(Custom::from(1));
        let mut calls = 0;
        let computed = catch_unwind(AssertUnwindSafe(|| {
            _ = map.compute_dyn(key(map, value.clone()), &mut |_| {
                calls += 1;
                Some(value.clone())
            });
        }));
        assert!(computed.is_err() && calls < 10, "{calls}");
        map.clear();
    });
}
