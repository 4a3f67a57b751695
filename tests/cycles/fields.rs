//! What fields show, by their types.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomPinned;
use std::mem::{self, ManuallyDrop};
use std::num::Wrapping;
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use weakly::{
    ByIdentity, Memo, Strong, WeakMap, concurrent,
    cycles::{Cycles, Trace},
    impl_trace, local,
};

use crate::common::{panics, quiet_panic};
use crate::tools::{Any, Shared, any, shared};

/// Whether an entry goes whose key nothing but its value owns.
fn goes<V: Trace + 'static>(value: impl FnOnce(local::Strong<u8>) -> V) -> bool {
    let key = local::Strong::new(1);
    let value = any(value(key.clone()));
    let mut map = WeakMap::from([(&key, value)]);
    drop(key);
    map.purge_cycles().removed == 1
}

/// A pinned pointer is one.
#[test]
fn pins() {
    struct Pinned(local::Strong<u8>, PhantomPinned);
    impl_trace!(Pinned: 0);
    assert!(goes(|key| local::Strong::pin(Pinned(key, PhantomPinned))));
    assert!(goes(|key| {
        let pin = local::Strong::pin(Pinned(key, PhantomPinned));
        [pin.clone(), pin]
    }));
    // It owns itself, and keeps its entry.
    struct Loop(OnceLock<Pin<Strong<Loop>>>, PhantomPinned);
    impl_trace!(Loop: 0);
    let object = Strong::pin(Loop(OnceLock::new(), PhantomPinned));
    assert!(object.0.set(object.clone()).is_ok());
    let key = Strong::new(1);
    let mut map = WeakMap::from([(&key, (key.clone(), object))]);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 1);
}

#[test]
fn ranges() {
    let end = || local::Strong::new(2);
    assert!(goes(|key| Range {
        start: key,
        end: end()
    }));
    assert!(goes(|key| Range {
        start: end(),
        end: key
    }));
    assert!(goes(|key| RangeInclusive::new(key, end())));
    assert!(goes(|key| RangeInclusive::new(end(), key)));
    assert!(goes(|key| RangeFrom { start: key }));
    assert!(goes(|key| RangeTo { end: key }));
    assert!(goes(|key| RangeToInclusive { end: key }));
}

/// Containers show each element: one handle that is not shown would keep the key.
#[test]
fn containers() {
    let other = || local::Strong::new(2);
    let two = |key: local::Strong<u8>| [key.clone(), key];
    assert!(goes(two));
    assert!(goes(|key| vec![two(key)]));
    assert!(goes(|key| Box::<[_]>::from(two(key))));
    assert!(goes(|key| VecDeque::from(two(key))));
    assert!(goes(|key| LinkedList::from(two(key))));
    assert!(goes(|key| BinaryHeap::from(two(key))));
    assert!(goes(|key| BTreeSet::from([key, other()])));
    assert!(goes(|key| HashSet::from([key, other()])));
    assert!(goes(|key| BTreeMap::from([
        (key.clone(), other()),
        (other(), key)
    ])));
    assert!(goes(|key| HashMap::from([
        (key.clone(), other()),
        (other(), key)
    ])));
    assert!(goes(|key| Some(Box::pin(key))));
    assert!(goes(OnceCell::from));
    assert!(goes(OnceLock::from));
    assert!(goes(RefCell::new));
    assert!(goes(|key| [Ok(key.clone()), Err(key)]));
    assert!(goes(|key| (
        Wrapping(key.clone()),
        Reverse(ByIdentity(key))
    )));
    assert!(goes(|key| Cow::<[_]>::Owned(vec![key])));
    let none = None::<local::Strong<u8>>;
    assert!(goes(|key| (key, none, OnceCell::<Rc<u8>>::new())));
}

/// So does a tuple each part.
#[test]
fn tuples() {
    let c = local::Strong::<u8>::clone;
    assert!(goes(|k| (k,)));
    assert!(goes(|k| (c(&k), k)));
    assert!(goes(|k| (c(&k), c(&k), k)));
    assert!(goes(|k| (c(&k), c(&k), c(&k), k)));
    assert!(goes(|k| (c(&k), c(&k), c(&k), c(&k), k)));
    assert!(goes(|k| (c(&k), c(&k), c(&k), c(&k), c(&k), k)));
    assert!(goes(|k| (c(&k), c(&k), c(&k), c(&k), c(&k), c(&k), k)));
    assert!(goes(|k| (
        c(&k),
        c(&k),
        c(&k),
        c(&k),
        c(&k),
        c(&k),
        c(&k),
        k
    )));
}

/// What no thread has locked is looked behind, also if one panicked there.
#[test]
fn locks() {
    assert!(goes(|key| (Mutex::new(key.clone()), RwLock::new(key))));
    assert!(goes(|key| {
        let locks = (Mutex::new(key.clone()), RwLock::new(key));
        assert!(panics(|| {
            let _both = (locks.0.lock(), locks.1.write());
            quiet_panic();
        }));
        assert!(locks.0.is_poisoned() && locks.1.is_poisoned());
        locks
    }));
}

/// What is borrowed has another owner, and nobody can look into a cell: the key is held.
#[test]
fn what_is_not_looked_at() {
    let held = local::Strong::new(1);
    assert_eq!(WeakMap::from([(&held, &held)]).purge_cycles().removed, 0);
    let borrowed = Cow::Borrowed(std::slice::from_ref(&held));
    assert_eq!(WeakMap::from([(&held, borrowed)]).purge_cycles().removed, 0);
    assert!(!goes(|key| Cell::new(Some(key))));
}

/// A weak handle keeps nothing, and shows nothing.
#[test]
fn weak_handles() {
    assert!(goes(|key| (local::Strong::downgrade(&key), key)));
    let (rc, arc) = (Rc::new(1), Arc::new(2));
    let mut map = WeakMap::from([(&rc, (Rc::clone(&rc), Rc::downgrade(&rc)))]);
    drop(rc);
    assert_eq!(map.purge_cycles().removed, 1);
    let mut map = WeakMap::from([(&arc, (Arc::clone(&arc), Arc::downgrade(&arc)))]);
    drop(arc);
    let purged = Cycles::new().with(&mut map).at_rest().purge();
    assert_eq!(purged.removed, 1);
}

/// Checks the same of a collection that is a field of an object, and owns the key.
fn goes_behind<C: Trace + 'static>(fill: impl Fn(&Strong<Shared>) -> C) {
    struct Holder(Any);
    impl_trace!(Holder: 0);
    // In an object of one thread; in one that threads may share.
    let key = shared(1);
    let holder = any(local::Strong::new(Holder(any(fill(&key)))));
    let mut map = WeakMap::from([(&key, holder)]);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 1);
    let key = shared(1);
    let holder = any(Strong::new(Holder(any(fill(&key)))));
    let mut map = WeakMap::from([(&key, holder)]);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 0);
    let purged = Cycles::new().with(&mut map).at_rest().purge();
    assert_eq!(purged.removed, 1);
}

/// Collections that threads share show what their entries own, where no thread may change them.
#[test]
fn shared_collections() {
    let inner = shared(7);
    goes_behind(|key| {
        let map = concurrent::WeakMap::new();
        map.insert(&inner, key.clone());
        map
    });
    goes_behind(|key| {
        let map = concurrent::WeakHashMap::<_, _>::new();
        map.insert(&inner, Some(key.clone()));
        map
    });
    goes_behind(|key| {
        let map = concurrent::WeakValueMap::<_, _>::new();
        map.insert(ByIdentity(key.clone()), &inner);
        map
    });
    goes_behind(|key| {
        let memo = Memo::<Strong<Shared>, Strong<Shared>>::new();
        memo.get_or_compute(&inner, |_| key.clone());
        memo
    });
    // Entries of dead objects, too.
    goes_behind(|key| {
        let map = concurrent::WeakMap::new();
        map.insert(&shared(7), key.clone());
        map
    });
}

/// A map that is a field of an object to which its values lead: what it owns it owns with its entries, if it is purged.
#[test]
fn a_map_that_is_also_a_field() {
    struct Session {
        attributes: concurrent::WeakMap<Strong<Shared>, Any>,
    }
    struct Value(Strong<Shared>, Strong<Session>);
    impl_trace!(Session: attributes);
    impl_trace!(Value: 0, 1);
    let new = || Session {
        attributes: concurrent::WeakMap::new(),
    };
    let session = Strong::new(new());
    let (key, held) = (shared(1), shared(2));
    for key in [&key, &held] {
        let value = Value(key.clone(), session.clone());
        session.attributes.insert(key, any(value));
    }
    drop(key);
    let mut cycles = Cycles::new().with(&session.attributes).at_rest();
    let purged = cycles.purge();
    assert_eq!((purged.removed, purged.kept), (1, 0));
    assert!(session.attributes.contains_key(&held));
    drop(cycles);
    session.attributes.clear();

    let session = local::Strong::new(new());
    let key = shared(1);
    struct Owns(local::Strong<Session>);
    impl_trace!(Owns: 0);
    let other = Strong::new(new());
    session
        .attributes
        .insert(&key, any(Value(key.clone(), other)));
    drop(key);
    let held = shared(3);
    let mut map = WeakMap::from([(&held, any(Owns(session.clone())))]);
    let purged = Cycles::new()
        .with(&mut map)
        .with(&session.attributes)
        .purge();
    assert_eq!((purged.removed, purged.kept), (1, 0));
}

/// 190: Collections of other crates, here of this test and hashbrown's, of whatever version, are shown by their items:
/// references, and pairs.
#[test]
fn each_item_of_a_collection_of_another_crate() {
    /// Not `Trace`, as the rest of another crate.
    struct Arena<T>(Vec<T>);
    impl<'a, T> IntoIterator for &'a Arena<T> {
        type Item = (usize, &'a T);
        type IntoIter = std::iter::Enumerate<std::slice::Iter<'a, T>>;
        fn into_iter(self) -> Self::IntoIter {
            self.0.iter().enumerate()
        }
    }
    type Key = local::Strong<u8>;
    struct Fields<S> {
        name: &'static str,
        arena: Arena<Key>,
        map: hashbrown::HashMap<ByIdentity<Key>, Key, S>,
        set: hashbrown::HashSet<ByIdentity<Key>, S>,
        each: Option<Key>,
    }
    impl_trace!([S] Fields<S>: name, each arena, each map, each set, each);
    let new = || Fields::<std::hash::RandomState> {
        name: "none",
        arena: Arena(Vec::new()),
        map: Default::default(),
        set: Default::default(),
        each: None,
    };
    let other = || local::Strong::new(2);
    assert!(goes(|key| Fields {
        arena: Arena(vec![other(), key]),
        ..new()
    }));
    assert!(goes(|key| Fields {
        map: [
            (ByIdentity(key.clone()), other()),
            (ByIdentity(other()), key)
        ]
        .into_iter()
        .collect(),
        ..new()
    }));
    assert!(goes(|key| Fields {
        set: [ByIdentity(other()), ByIdentity(key)].into_iter().collect(),
        ..new()
    }));
    assert!(goes(|key| Fields {
        each: Some(key),
        ..new()
    }));

    struct Tuple<T>(u8, Arena<T>);
    impl_trace!([T: Trace] Tuple<T>: each 1, 0);
    assert!(goes(|key| Tuple(0, Arena(vec![key]))));

    enum Either {
        All(Arena<Key>),
        One(Key, Arena<Key>),
    }
    impl_trace!(match Either {
        Either::All(all) => [each all],
        Either::One(one, others) => [one, each others],
    });
    assert!(goes(|key| Either::All(Arena(vec![other(), key]))));
    assert!(goes(|key| Either::One(key, Arena(vec![other()]))));
    assert!(goes(|key| Either::One(other(), Arena(vec![key]))));

    // What holds the key elsewhere is no item, and an item has the name of its field.
    let (key, held) = (local::Strong::new(1), local::Strong::new(3));
    let mut map = WeakMap::from([(&key, Tuple(0, Arena(vec![key.clone(), held.clone()])))]);
    let holders = Cycles::new().with(&mut map).holders(&held);
    let path = holders.groups[0].path.to_string();
    assert!(path.ends_with(" .1 -> i32"), "{path}");
    assert_eq!(map.purge_cycles().removed, 0);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 1);
}

/// Nobody says whether what is in a `ManuallyDrop` will ever be dropped: if not, the key lives on, with its entry.
#[test]
fn what_may_never_be_dropped_is_not_shown() {
    struct Value {
        key: ManuallyDrop<local::Strong<usize>>,
    }
    impl_trace!(Value: key);
    let key = local::Strong::new(1);
    let mut map = WeakMap::from([(
        &key,
        Value {
            key: ManuallyDrop::new(key.clone()),
        },
    )]);
    let weak = local::Strong::downgrade(&key);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 0);
    let key = weak.upgrade().expect("nobody has dropped it");
    let mut value = map.remove(&key).expect("it lives");
    ManuallyDrop::into_inner(mem::replace(
        &mut value.key,
        ManuallyDrop::new(local::Strong::new(0)),
    ));
    ManuallyDrop::into_inner(value.key);
}
