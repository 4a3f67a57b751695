//! What fields show, by their types.

use std::marker::PhantomPinned;
use std::mem::{self, ManuallyDrop};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{self, AtomicPtr};

use weakly::{
    ByIdentity, Interner, Memo, Strong, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap,
    WeakSet, concurrent,
    cycles::{Cycles, Trace},
    impl_trace, local,
};

/// Whether an entry goes whose key nothing but its value owns.
fn goes<V: Trace>(value: impl FnOnce(local::Strong<u8>) -> V) -> bool {
    let key = local::Strong::new(1);
    let value = value(key.clone());
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

/// Types that own nothing can be values and fields.
#[test]
fn nothing() {
    fn is_shown<T: Trace>() {}
    is_shown::<RangeFull>();
    is_shown::<fn() -> u8>();
    is_shown::<fn(&str)>();
    is_shown::<fn(&mut Vec<u8>) -> bool>();
    is_shown::<fn(u8, u8, u8, u8, u8, u8, u8, u8)>();
    is_shown::<Option<fn(&'static str)>>();
    is_shown::<(atomic::AtomicBool, AtomicPtr<u8>)>();
    is_shown::<(
        atomic::AtomicU8,
        atomic::AtomicI8,
        atomic::AtomicU16,
        atomic::AtomicI16,
    )>();
    is_shown::<(
        atomic::AtomicU32,
        atomic::AtomicI32,
        atomic::AtomicU64,
        atomic::AtomicI64,
    )>();
    is_shown::<(atomic::AtomicUsize, atomic::AtomicIsize)>();
    type Text = Strong<str>;
    is_shown::<(WeakSet<Rc<str>>, WeakHashSet<Rc<str>>, Interner<Rc<str>>)>();
    is_shown::<(
        WeakPairMap<Rc<str>, Rc<u8>>,
        WeakHashPairMap<Rc<str>, Rc<u8>>,
    )>();
    is_shown::<(concurrent::WeakSet<Text>, concurrent::WeakHashSet<Text>)>();
    is_shown::<(
        concurrent::Interner<Text>,
        concurrent::WeakPairMap<Text, Text>,
    )>();
}

/// Checks the same of a collection that is a field of an object, and owns the key.
fn goes_behind<C: Trace + 'static>(fill: impl Fn(&Strong<u8>) -> C) {
    struct Holder<C>(C);
    impl_trace!([C: Trace] Holder<C>: 0);
    // In an object of one thread; in one that threads may share.
    let key = Strong::new(1);
    let mut map = WeakMap::from([(&key, local::Strong::new(Holder(fill(&key))))]);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 1);
    let key = Strong::new(1);
    let mut map = WeakMap::from([(&key, Strong::new(Holder(fill(&key))))]);
    drop(key);
    assert_eq!(map.purge_cycles().removed, 0);
    let purged = Cycles::new().with(&mut map).at_rest().purge();
    assert_eq!(purged.removed, 1);
}

/// Collections that threads share show what their entries own, where no thread may change them.
#[test]
fn shared_collections() {
    let inner = Strong::new(7);
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
        let memo = Memo::<Strong<i32>, Strong<u8>>::new();
        memo.get_or_compute(&inner, |_| key.clone());
        memo
    });
    // Entries of dead objects, too.
    goes_behind(|key| {
        let map = concurrent::WeakMap::new();
        map.insert(&Strong::new(7), key.clone());
        map
    });
}

/// A map that is a field of an object to which its values lead: what it owns it owns with its entries, if it is purged.
#[test]
fn a_map_that_is_also_a_field() {
    struct Session {
        attributes: concurrent::WeakMap<Strong<u8>, Value>,
    }
    struct Value(Strong<u8>, Strong<Session>);
    impl_trace!(Session: attributes);
    impl_trace!(Value: 0, 1);
    let new = || Session {
        attributes: concurrent::WeakMap::new(),
    };
    let session = Strong::new(new());
    let (key, held) = (Strong::new(1), Strong::new(2));
    for key in [&key, &held] {
        let value = Value(key.clone(), session.clone());
        session.attributes.insert(key, value);
    }
    drop(key);
    let mut cycles = Cycles::new().with(&session.attributes).at_rest();
    let purged = cycles.purge();
    assert_eq!((purged.removed, purged.kept), (1, 0));
    assert!(session.attributes.contains_key(&held));
    drop(cycles);
    session.attributes.clear();

    let session = local::Strong::new(new());
    let key = Strong::new(1);
    struct Owns(local::Strong<Session>);
    impl_trace!(Owns: 0);
    let other = Strong::new(new());
    session.attributes.insert(&key, Value(key.clone(), other));
    drop(key);
    let held = Strong::new(3);
    let mut map = WeakMap::from([(&held, Owns(session.clone()))]);
    let purged = Cycles::new()
        .with(&mut map)
        .with(&session.attributes)
        .purge();
    assert_eq!((purged.removed, purged.kept), (1, 0));
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
