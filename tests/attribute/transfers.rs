//! Attributes that follow an object to the object that takes its place.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use weakly::reference::WeakRef;
use weakly::{AttributeId, Attributes, Existing, local};

use crate::common::{Key, Kind, OnDrop, panics, quiet_panic, scaled};
use crate::namespaces::{Depth, First, Label, Second, elsewhere};
use crate::tools::{Count, Doomed, Pointer, objects};
use crate::{for_each_kind, for_each_pointer};

for_each_pointer!(
    all_attributes_move,
    a_destructor_of_a_replaced_value,
    a_copy_shares_the_values,
    a_reader_finds_one_of_both,
    no_attribute_is_lost,
);

for_each_kind!(all_attributes_of_one_owner_move);

fn ids<const N: usize>(ids: [AttributeId; N]) -> Vec<AttributeId> {
    ids.into()
}

/// 660: Of any types, in order, and no value is destroyed but one that is replaced.
fn all_attributes_move<P: Pointer>() {
    let (attributes, destroyed) = (Attributes::<P>::new(), Count::default());
    let [from, to] = [0, 1].map(P::from);
    assert_eq!(attributes.transfer(&from, &to, Existing::Replace), 0);
    attributes.insert(&to, Depth, 1);
    assert_eq!(attributes.transfer(&from, &to, Existing::Replace), 0);
    assert_eq!(attributes.transfer(&to, &to, Existing::Replace), 0);
    assert_eq!((attributes.len(), attributes.get(&to, Depth)), (1, Some(1)));

    attributes.insert(&from, Label, "label".into());
    attributes.insert(&from, Depth, 2);
    attributes.insert(&from, First, destroyed.doomed());
    assert_eq!(attributes.transfer(&from, &to, Existing::Keep), 2);
    let [depth, label] = [AttributeId::of::<Depth>(), AttributeId::of::<Label>()];
    let first = AttributeId::of::<First>();
    assert_eq!(attributes.list(&from), ids([depth]));
    assert_eq!(attributes.list(&to), ids([depth, label, first]));
    assert_eq!(
        (attributes.get(&from, Depth), attributes.get(&to, Depth)),
        (Some(2), Some(1))
    );

    attributes.insert(&from, First, destroyed.doomed());
    assert_eq!(attributes.transfer(&from, &to, Existing::Replace), 2);
    assert!(attributes.list(&from).is_empty() && attributes.len() == 1);
    assert_eq!(attributes.list(&to), ids([depth, label, first]));
    assert_eq!((attributes.get(&to, Depth), destroyed.get()), (Some(2), 1));
    assert_eq!(attributes.get(&to, Label).as_deref(), Some("label"));
    drop(from);
    attributes.purge();
    // Again and again: what was moved is an attribute as any other.
    let mut last = to;
    for object in objects::<P>(5) {
        assert_eq!(attributes.transfer(&last, &object, Existing::Keep), 3);
        last = object;
    }
    assert_eq!(
        attributes.compute(&last, Depth, |old| old.map(|old| old + 1)),
        Some(3)
    );
    assert_eq!(attributes.remove(&last, Label).as_deref(), Some("label"));
    assert!(attributes.remove_if(&last, First, |_| true));
    assert_eq!((destroyed.get(), attributes.list(&last)), (2, ids([depth])));
    drop(last);
    attributes.purge();
    assert_eq!((attributes.len(), attributes.pending_dead()), (0, 0));
}

/// 660: It may use the namespace, and panic: the attributes have moved.
fn a_destructor_of_a_replaced_value<P: Pointer>() {
    let attributes = std::sync::Arc::new(Attributes::<P>::new());
    let [from, to] = [0, 1].map(P::from);
    let (all, weak) = (std::sync::Arc::downgrade(&attributes), P::downgrade(&from));
    let end = move || {
        let (all, from) = (all.upgrade().unwrap(), weak.upgrade().unwrap());
        all.insert(&from, Label, "set anew".into());
        quiet_panic();
    };
    attributes.insert(&to, Second, Doomed::new(end));
    attributes.insert(&from, Second, Doomed::default());
    attributes.insert(&from, Depth, 2);
    let transfer = || _ = attributes.transfer(&from, &to, Existing::Replace);
    assert!(panics(transfer));
    attributes.purge();
    assert_eq!(
        attributes.list(&to),
        ids([AttributeId::of::<Second>(), AttributeId::of::<Depth>()])
    );
    assert!(attributes.contains_key(&from, Label));
}

/// 661: And nothing else: each object sets, loses and transfers its own.
fn a_copy_shares_the_values<P: Pointer>() {
    let (attributes, destroyed) = (Attributes::<P>::new(), Count::default());
    let [original, clone, third] = [0, 1, 2].map(P::from);
    assert_eq!(attributes.copy(&original, &clone, Existing::Replace), 0);
    attributes.insert(&original, First, destroyed.doomed());
    attributes.insert(&original, Depth, 1);
    attributes.insert(&clone, Depth, 2);
    assert_eq!(attributes.copy(&original, &original, Existing::Replace), 0);
    assert_eq!(attributes.copy(&original, &clone, Existing::Keep), 1);
    assert_eq!(
        (
            attributes.get(&original, Depth),
            attributes.get(&clone, Depth)
        ),
        (Some(1), Some(2))
    );
    assert_eq!(attributes.copy(&original, &clone, Existing::Replace), 2);
    attributes.insert(&original, Depth, 3);
    assert_eq!(attributes.get(&clone, Depth), Some(1));
    assert_eq!(attributes.transfer(&original, &third, Existing::Keep), 2);
    drop((original, third));
    attributes.purge();
    assert_eq!((attributes.list(&clone).len(), destroyed.get()), (2, 0));
    drop(clone);
    attributes.purge();
    assert_eq!((attributes.len(), destroyed.get()), (0, 1));
}

/// 662: During a transfer, and both attributes at once.
fn a_reader_finds_one_of_both<P: Pointer>() {
    let (keys, step) = (objects::<P>(scaled(2_000, 20)), AtomicUsize::new(0));
    let (attributes, last) = (Attributes::<P>::new(), keys.len() - 1);
    attributes.insert(&keys[0], Depth, 7);
    attributes.insert(&keys[0], elsewhere::Depth, 8);
    let reads = || {
        loop {
            let now = step.load(SeqCst);
            if now == last {
                return;
            }
            let [from, to] = [&keys[now], &keys[now + 1]].map(|key| attributes.list(key).len());
            assert!(from % 2 == 0 && to % 2 == 0, "one of two has moved");
            assert!(
                from + to != 0 || step.load(SeqCst) != now,
                "they are at neither"
            );
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(reads);
        }
        for now in 0..last {
            step.store(now, SeqCst);
            attributes.transfer(&keys[now], &keys[now + 1], Existing::Keep);
        }
        step.store(last, SeqCst);
    });
    assert_eq!(
        (attributes.len(), attributes.list(&keys[last]).len()),
        (1, 2)
    );
}

/// 662: By threads that move an attribute to and fro, and set it anew. The value is there, or was replaced by one that was set
/// or moved.
fn no_attribute_is_lost<P: Pointer>() {
    for existing in [Existing::Keep, Existing::Replace] {
        let keys = [0, 1].map(P::from);
        let (attributes, destroyed) = (Attributes::<P>::new(), Count::default());
        attributes.insert(&keys[0], First, destroyed.doomed());
        attributes.insert(&keys[0], Depth, 0);
        thread::scope(|scope| {
            for thread in 0..3 {
                let (attributes, keys) = (&attributes, &keys);
                scope.spawn(move || {
                    for step in 0..scaled(3_000, 30) {
                        let (one, other) = (&keys[thread % 2], &keys[1 - thread % 2]);
                        attributes.transfer(one, other, existing);
                        if thread == 2 && step % 3 == 0 {
                            attributes.compute(one, Depth, |old| old.copied());
                        }
                    }
                });
            }
        });
        attributes.purge();
        assert_eq!(destroyed.get(), 0, "the only value is lost");
        for id in [AttributeId::of::<First>(), AttributeId::of::<Depth>()] {
            assert!(keys.iter().any(|key| attributes.list(key).contains(&id)));
        }
        attributes.clear();
        assert_eq!(destroyed.get(), 1);
    }
}

struct Visits;
impl local::AttributeKey for Visits {
    type Value = Rc<Cell<usize>>;
}

struct Ends;
impl local::AttributeKey for Ends {
    type Value = OnDrop;
}

/// 660: Of a namespace of one owner, also values that are no `Clone`.
fn all_attributes_of_one_owner_move<P: Kind>() {
    let mut attributes = local::Attributes::<Key<P>>::new();
    let ([from, to], ends) = ([0, 1].map(Key::<P>::from), Rc::<Cell<usize>>::default());
    assert_eq!(attributes.transfer(&from, &to, Existing::Replace), 0);
    assert!(attributes.is_empty());
    let ending = || {
        let ends = ends.clone();
        OnDrop::new(move || ends.set(ends.get() + 1))
    };
    attributes.insert(&from, Visits, Rc::default());
    attributes.insert(&from, Ends, ending());
    assert_eq!(attributes.transfer(&from, &from, Existing::Replace), 0);
    assert_eq!(attributes.transfer(&from, &to, Existing::Keep), 2);
    let [visits, end] = [AttributeId::of::<Visits>(), AttributeId::of::<Ends>()];
    assert_eq!(
        (attributes.len(), attributes.list(&to)),
        (1, ids([visits, end]))
    );

    attributes.insert(&from, Ends, ending());
    attributes.insert(&from, Depth, 2);
    assert_eq!(attributes.transfer(&from, &to, Existing::Keep), 1);
    assert_eq!((attributes.list(&from), ends.get()), (ids([end]), 0));
    assert_eq!(attributes.transfer(&from, &to, Existing::Replace), 1);
    assert_eq!((attributes.len(), ends.get()), (1, 1));
    assert_eq!(
        attributes.list(&to),
        ids([visits, end, AttributeId::of::<Depth>()])
    );
    drop(from);
    attributes.purge();
    assert_eq!(attributes.get(&to, Depth), Some(&2));

    let bomb = OnDrop::new(|| quiet_panic());
    let [other, last] = [2, 3].map(Key::<P>::from);
    attributes.insert(&last, Ends, bomb);
    attributes.insert(&other, Ends, ending());
    assert!(panics(
        || _ = attributes.transfer(&other, &last, Existing::Replace)
    ));
    assert_eq!(
        (attributes.list(&other), attributes.list(&last)),
        (vec![], ids([end]))
    );
    drop((to, last));
    attributes.purge();
    assert_eq!((attributes.len(), ends.get()), (0, 3));
}

/// 660: A destructor of a dead attribute may panic: each object has all of its attributes or none, and no object without
/// attributes is an entry.
#[test]
fn a_destructor_of_a_dead_attribute() {
    for bad in 1..=20 {
        let mut attributes = local::Attributes::<local::Strong<usize>>::new();
        let ([from, to], ends) = ([0, 1].map(local::Strong::new), Rc::new(Cell::new(0)));
        let dying = || {
            let ends = ends.clone();
            OnDrop::new(move || {
                ends.set(ends.get() + 1);
                if ends.get() == bad {
                    quiet_panic();
                }
            })
        };
        let dead: Vec<_> = (0..20).map(local::Strong::new).collect();
        for object in &dead {
            attributes.insert(object, Ends, dying());
        }
        attributes.insert(&from, Depth, 1);
        drop(dead);
        let panicked = panics(|| _ = attributes.transfer(&from, &to, Existing::Keep));
        assert_eq!((panicked, ends.get()), (bad <= 16, bad.min(16)));
        let now = [&from, &to].map(|object| attributes.contains_key(object, Depth));
        assert_eq!(now, [panicked, !panicked]);
        _ = panics(|| _ = attributes.purge());
        attributes.purge();
        assert_eq!(attributes.len(), 1);
    }
}
