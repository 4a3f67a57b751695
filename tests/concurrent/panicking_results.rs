//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::cell::Cell;
use std::hash::{BuildHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use weakly::concurrent::{Interner, WeakHashMap, WeakMap, WeakValueMap};
use weakly::{Attribute, AttributeKey, Attributes, Strong};

use crate::common::quiet_panic;

/// A value, and whether its destructor panics; clones of it do not.
struct Bomb(bool, Arc<()>);

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
fn panics_and_leaks_nothing(token: &Arc<()>, kept: usize, act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
    assert_eq!(Arc::strong_count(token), 1 + kept);
}

/// 182: The value that is replaced panics, and the one that is returned is a clone of it.
#[test]
fn small_replaced_values() {
    let (token, key) = (Arc::new(()), Strong::new(1));
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

    let attribute = Attribute::new();
    attribute.set(&key, Bomb(true, token.clone()));
    panics_and_leaks_nothing(&token, 1, || {
        drop(attribute.update(&key, |_| Some(Bomb(false, token.clone()))));
    });
}

/// All are equal; those that are true panic when they are dropped.
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
    let (old, new) = (Strong::new(1), Strong::new(2));
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
    let (token, map) = (Arc::new(()), WeakHashMap::new());
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
    type Value = Arc<()>;
}

/// 182: An attribute that is replaced panics: the object's others are destroyed at its death all the same.
#[test]
fn small_attributes() {
    let (token, other) = (Arc::new(()), Arc::new(()));
    let (all, node) = (Attributes::<Strong<i32>>::new(), Strong::new(1));
    all.set(&node, Other, other.clone());
    all.set(&node, One, Bomb(true, token.clone()));
    let set = || _ = all.set(&node, One, Bomb(false, token.clone()));
    assert!(catch_unwind(AssertUnwindSafe(set)).is_err());
    drop(node);
    drop(all);
    assert_eq!(
        (Arc::strong_count(&token), Arc::strong_count(&other)),
        (1, 1)
    );
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
        ("intern_hashed", &|| {
            names.intern_hashed(hash, |_| true, meanwhile)
        }),
    ];
    for (name, intern) in intern {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(intern()))).is_err());
        let kept = kept.take().expect("it was interned");
        assert_eq!(Strong::strong_count(&kept), 1, "{name}");
    }
}
