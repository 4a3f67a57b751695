//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use weakly::concurrent::{WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};
use weakly::{Memo, Strong};

use crate::common::custom::Custom;

/// All are equal. Of two, one panics when it is dropped, and its clones do not.
fn armed() -> Custom {
    Custom::from(0).bomb()
}

fn unarmed() -> Custom {
    Custom::from(0)
}

fn object() -> Strong<Custom> {
    Strong::new(unarmed())
}

/// Panics; and then nothing but what the test itself has is left of the token.
fn panics_and_leaks_nothing(token: &Arc<usize>, kept: usize, act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
    assert_eq!(Arc::strong_count(token), 1 + kept);
}

/// 182: The value that is replaced panics, and the one that is returned is a clone of it.
#[test]
fn small_replaced_values() {
    let (token, key) = (Arc::new(0_usize), object());
    let map = WeakMap::new();
    map.insert(&key, armed().holding(&token));
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.swap(&key, unarmed().holding(&token)))
    });
    map.clear();
    map.insert(&key, armed().holding(&token));
    let new = unarmed().holding(&token);
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.compute(&key, |_| Some(new.clone())));
    });
    drop(new);
    map.clear();

    let map = WeakHashMap::new();
    map.insert(&key, armed().holding(&token));
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.swap(&key, unarmed().holding(&token)))
    });
    map.clear();
}

/// 182: The content of a key panics that dies inside a lookup: the value that was found is dropped.
#[test]
fn small_keys_that_die_in_a_lookup() {
    let (token, map) = (Arc::new(0_usize), WeakHashMap::<_, Custom>::new());
    let key = Strong::new(armed());
    map.insert(&key, unarmed().holding(&token));
    let mut key = Some(key);
    let found = catch_unwind(AssertUnwindSafe(|| {
        map.with(&unarmed(), |value| {
            key = None;
            value.clone()
        })
    }));
    assert!(found.is_err());
    map.purge();
    assert_eq!(Arc::strong_count(&token), 1);
}

/// 182: The closure that is not needed panics when it is dropped: the value that was found is dropped.
#[test]
fn small_makers_that_are_not_needed() {
    let (token, key) = (Arc::new(0_usize), object());
    let value = || unarmed().holding(&token);
    let make = |bomb: Custom| move |_: &_| bomb.clone();
    let map = WeakMap::new();
    map.insert(&key, value());
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.get_or_insert_with(&key, make(armed())))
    });
    let map = WeakHashMap::new();
    map.insert(&key, value());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.get_or_insert_with(&key, make(armed())))
    });
    let (hash, bomb) = (map.hasher().hash_one(&*key), armed());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.get_or_insert_with_hashed(hash, &key, make(bomb)))
    });
    let memo = Memo::<Strong<Custom>, Custom>::new();
    memo.get_or_compute(&key, |_| value());
    let bomb = armed();
    panics_and_leaks_nothing(&token, 3, || {
        drop(memo.get_or_compute(&key, move |_| bomb.clone()))
    });

    let value = object();
    let map = WeakPairMap::new();
    map.insert(&key, &value);
    let bomb = armed();
    let get = || drop(map.get_or_insert_with(&key, move |_| Strong::new(bomb.clone())));
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1);
    let map = WeakValueMap::<Custom, _>::new();
    map.insert(unarmed(), &value);
    let bomb = armed();
    let get = || drop(map.get_or_insert_with(unarmed(), move |_| Strong::new(bomb.clone())));
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1);
}

/// 182: The closure that has decided panics when it is dropped: what it was asked for is dropped.
#[test]
fn small_closures_that_decide() {
    let (token, [key, value]) = (Arc::new(0_usize), [(); 2].map(|()| object()));
    let map = WeakMap::<_, Custom>::new();
    let (bomb, new) = (armed(), unarmed().holding(&token));
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.compute(&key, move |_| bomb.is_original().then(|| new.clone())))
    });
    let map = WeakHashMap::<_, Custom>::new();
    let (bomb, new) = (armed(), unarmed().holding(&token));
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.compute(&key, move |_| bomb.is_original().then(|| new.clone())))
    });
    map.insert(&key, unarmed().holding(&token));
    let bomb = armed();
    panics_and_leaks_nothing(&token, 1, || {
        map.remove_if(&unarmed(), move |_| bomb.is_original());
    });
    assert_eq!(Strong::strong_count(&key), 1);

    let (names, pairs) = (WeakValueMap::<Custom, _>::new(), WeakPairMap::new());
    let new = || Some(value.clone());
    let decide: [(&str, &dyn Fn(Custom)); 4] = [
        ("names.remove_if", &|bomb| {
            names.insert(unarmed(), &value);
            drop(names.remove_if(&unarmed(), move |_| bomb.is_original()));
        }),
        ("pairs.remove_if", &|bomb| {
            pairs.insert(&key, &value);
            drop(pairs.remove_if(&key, move |_| bomb.is_original()));
        }),
        ("names.compute", &|bomb| {
            drop(names.compute(unarmed(), move |_| new().filter(|_| bomb.is_original())));
        }),
        ("pairs.compute", &|bomb| {
            drop(pairs.compute(&key, move |_| new().filter(|_| bomb.is_original())));
        }),
    ];
    for (name, decide) in decide {
        assert!(catch_unwind(AssertUnwindSafe(|| decide(armed()))).is_err());
        assert_eq!(Strong::strong_count(&value), 1, "{name}");
    }
}
