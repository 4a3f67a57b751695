//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::cell::Cell;
use std::hash::{BuildHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use weakly::concurrent::{Interner, WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};
use weakly::{AttributeKey, Attributes, Hashed, Memo, Strong};

use crate::common::quiet_panic;

/// A value, and whether its destructor panics; clones of it do not.
struct Bomb(bool, Arc<usize>);

impl Clone for Bomb {
    fn clone(&self) -> Self {
        Bomb(false, self.1.clone())
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 {
            quiet_panic();
        }
    }
}

/// Panics; and then nothing but what the test itself has is left of the token.
fn panics_and_leaks_nothing(token: &Arc<usize>, kept: usize, act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
    assert_eq!(Arc::strong_count(token), 1 + kept);
}

/// 182: The value that is replaced panics, and the one that is returned is a clone of it.
#[test]
fn small_replaced_values() {
    let (token, key) = (Arc::new(0_usize), Strong::new(1_usize));
    let map = WeakMap::new();
    map.insert(&key, Bomb(true, token.clone()));
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.swap(&key, Bomb(false, token.clone())))
    });
    map.clear();
    map.insert(&key, Bomb(true, token.clone()));
    let new = Bomb(false, token.clone());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.compute(&key, |_| Some(new.clone())));
    });
    drop(new);
    map.clear();

    let map = WeakHashMap::new();
    map.insert(&key, Bomb(true, token.clone()));
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.swap(&key, Bomb(false, token.clone())))
    });
    map.clear();
}

/// All are equal; those that are true panic when they are dropped, and their clones do not.
struct Equal(bool);

impl PartialEq for Equal {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Equal {}

impl Hash for Equal {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Clone for Equal {
    fn clone(&self) -> Self {
        Equal(false)
    }
}

impl Drop for Equal {
    fn drop(&mut self) {
        if self.0 {
            quiet_panic();
        }
    }
}

/// 182: The key that is replaced panics: the strong pointer that is returned is dropped.
#[test]
fn small_replaced_keys() {
    let (old, new) = (Strong::new(1_usize), Strong::new(2_usize));
    let map = WeakValueMap::new();
    map.insert(Equal(true), &old);
    assert!(catch_unwind(AssertUnwindSafe(|| map.insert(Equal(false), &new))).is_err());
    assert_eq!(
        (Strong::strong_count(&old), Strong::strong_count(&new)),
        (1, 1)
    );
}

/// 182: The content of a key panics that dies inside a lookup: the value that was found is dropped.
#[test]
fn small_keys_that_die_in_a_lookup() {
    let (token, map) = (Arc::new(0_usize), WeakHashMap::new());
    let key = Strong::new(Equal(true));
    map.insert(&key, token.clone());
    let mut key = Some(key);
    let found = catch_unwind(AssertUnwindSafe(|| {
        map.with(&Equal(false), |value| {
            key = None;
            value.clone()
        })
    }));
    assert!(found.is_err());
    map.purge();
    assert_eq!(Arc::strong_count(&token), 1);
}

struct One;

impl AttributeKey for One {
    type Value = Bomb;
}

struct Other;

impl AttributeKey for Other {
    type Value = Arc<usize>;
}

/// 182: An attribute that is replaced panics: the object's others are destroyed at its death all the same.
#[test]
fn small_attributes() {
    let (token, other) = (Arc::new(0_usize), Arc::new(0_usize));
    let (all, node) = (Attributes::<Strong<usize>>::new(), Strong::new(1_usize));
    all.insert(&node, Other, other.clone());
    all.insert(&node, One, Bomb(true, token.clone()));
    let set = || _ = all.insert(&node, One, Bomb(false, token.clone()));
    assert!(catch_unwind(AssertUnwindSafe(set)).is_err());
    drop(node);
    drop(all);
    assert_eq!(
        (Arc::strong_count(&token), Arc::strong_count(&other)),
        (1, 1)
    );
}

/// A bomb that a closure owns, and calls.
fn armed() -> Bomb {
    Bomb(true, Arc::default())
}

impl Bomb {
    fn is_armed(&self) -> bool {
        self.0
    }
}

/// 182: The closure that is not needed panics when it is dropped: the value that was found is dropped.
#[test]
fn small_makers_that_are_not_needed() {
    let (token, key) = (Arc::new(0_usize), Strong::new(1_usize));
    let map = WeakMap::new();
    map.insert(&key, token.clone());
    let make = |bomb: Bomb| move |_: &_| bomb.1.clone();
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.get_or_insert_with(&key, make(armed())))
    });
    let map = WeakHashMap::new();
    map.insert(&key, token.clone());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.get_or_insert_with(&key, make(armed())))
    });
    let (hash, bomb) = (map.hasher().hash_one(1_usize), armed());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.get_or_insert_with_hashed(hash, &key, make(bomb)))
    });
    let memo = Memo::<Strong<usize>, _>::new();
    memo.get_or_compute(&key, |_| token.clone());
    let bomb = armed();
    panics_and_leaks_nothing(&token, 3, || {
        drop(memo.get_or_compute(&key, move |_| bomb.1.clone()))
    });

    let value = Strong::new(2);
    let make = |bomb: Bomb| move |_: &_| Strong::new(usize::from(bomb.is_armed()));
    let map = WeakPairMap::new();
    map.insert(&key, &value);
    let get = || drop(map.get_or_insert_with(&key, make(armed())));
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1);
    let map = WeakValueMap::new();
    map.insert(1, &value);
    let bomb = armed();
    let get = || {
        drop(map.get_or_insert_with(1, move |_: &usize| {
            let bomb = bomb;
            Strong::new(usize::from(bomb.is_armed()))
        }));
    };
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1);
}

/// 182: The closure that has decided panics when it is dropped: what it was asked for is dropped.
#[test]
fn small_closures_that_decide() {
    let (token, key, value) = (
        Arc::new(0_usize),
        Strong::new(1_usize),
        Strong::new(2_usize),
    );
    let map = WeakMap::new();
    let (bomb, new) = (armed(), token.clone());
    panics_and_leaks_nothing(&token, 1, || {
        drop(map.compute(&key, move |_| bomb.is_armed().then(|| new.clone())))
    });
    let map = WeakHashMap::new();
    let (bomb, new) = (armed(), token.clone());
    panics_and_leaks_nothing(&token, 2, || {
        drop(map.compute(&key, move |_| bomb.is_armed().then(|| new.clone())))
    });
    map.insert(&key, token.clone());
    let bomb = armed();
    panics_and_leaks_nothing(&token, 1, || {
        map.remove_if(&1, move |_| bomb.is_armed());
    });
    assert_eq!(Strong::strong_count(&key), 1);

    let (names, pairs) = (WeakValueMap::new(), WeakPairMap::new());
    let new = || Some(value.clone());
    let decide: [(&str, &dyn Fn(Bomb)); 4] = [
        ("names.remove_if", &|bomb| {
            names.insert(1_usize, &value);
            drop(names.remove_if(&1, move |_| bomb.is_armed()));
        }),
        ("pairs.remove_if", &|bomb| {
            pairs.insert(&key, &value);
            drop(pairs.remove_if(&key, move |_| bomb.is_armed()));
        }),
        ("names.compute", &|bomb| {
            drop(names.compute(1, move |_| new().filter(|_| bomb.is_armed())));
        }),
        ("pairs.compute", &|bomb| {
            drop(pairs.compute(&key, move |_| new().filter(|_| bomb.is_armed())));
        }),
    ];
    for (name, decide) in decide {
        assert!(catch_unwind(AssertUnwindSafe(|| decide(armed()))).is_err());
        assert_eq!(Strong::strong_count(&value), 1, "{name}");
    }
}

/// 182: The key that is not needed panics: the value that was found is dropped.
#[test]
fn small_keys_that_are_not_needed() {
    let (map, value) = (WeakValueMap::new(), Strong::new(1_usize));
    map.insert(Equal(false), &value);
    let get = || drop(map.get_or_insert_with(Equal(true), |_| Strong::new(2_usize)));
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1, "get_or_insert_with");
    let get = || drop(map.compute(Equal(true), |old| old));
    assert!(catch_unwind(AssertUnwindSafe(get)).is_err());
    assert_eq!(Strong::strong_count(&value), 1, "compute");
}

/// Converts into what it borrows as, and panics when it is dropped.
struct Source(Equal);

impl Borrow<Equal> for Source {
    fn borrow(&self) -> &Equal {
        &self.0
    }
}

impl From<Source> for Strong<Equal> {
    fn from(_: Source) -> Self {
        unreachable!("it is there")
    }
}

/// 182: The value that is not needed panics, or the object that another has come before: the handle that was found is
/// dropped.
#[test]
fn small_interned_handles() {
    let names = Interner::<Strong<Equal>>::new();
    let hash = names.hasher().hash_one(Equal(false));
    let kept = Cell::new(None);
    // Interns, while another is made.
    let meanwhile = || {
        kept.set(Some(names.intern(Equal(false))));
        Equal(true)
    };
    let intern: [(&str, &dyn Fn() -> Strong<Equal>); 3] = [
        ("intern", &|| {
            kept.set(Some(names.intern(Equal(false))));
            names.intern(Source(Equal(true)))
        }),
        ("intern_with", &|| {
            names.intern_with(&Equal(false), |_| meanwhile())
        }),
        ("intern_with, hashed", &|| {
            names.intern_with(&Hashed(hash, |_: &Equal| true), |_| meanwhile())
        }),
    ];
    for (name, intern) in intern {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(intern()))).is_err());
        let kept = kept.take().expect("it was interned");
        assert_eq!(Strong::strong_count(&kept), 1, "{name}");
    }
}
