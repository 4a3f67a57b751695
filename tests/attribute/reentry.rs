//! Destructors of attributes that use their own namespace.

use std::sync::Arc;

use weakly::{Attributes, Strong, Weak};

use crate::for_each_pointer;
use crate::namespaces::{Depth, First, Second};
use crate::tools::{Count, Doomed, Pointer, objects};

for_each_pointer!(
    a_destructor_sets_what_is_being_replaced,
    a_destructor_uses_the_namespace,
);

/// 170: While the object lives it can be set again: the last value stays, and is dropped with the object.
fn a_destructor_sets_what_is_being_replaced<P: Pointer>() {
    let attributes = Arc::new(Attributes::<P>::new());
    let (object, destroyed) = (P::from(1), Count::default());
    type Act<P> = fn(&Attributes<P>, &P);
    let acts: [Act<P>; 4] = [
        |attributes, object| assert!(attributes.remove(object, First).is_some()),
        |attributes, object| assert!(attributes.forget(object)),
        |attributes, object| assert!(!attributes.insert(object, First, Doomed::default())),
        |attributes, _| attributes.clear(),
    ];
    for (turn, act) in acts.into_iter().enumerate() {
        let sets = {
            let (all, weak) = (Arc::downgrade(&attributes), P::downgrade(&object));
            let destroyed = destroyed.clone();
            move || {
                let all = all.upgrade().expect("it is in use");
                let object = weakly::reference::WeakRef::upgrade(&weak).expect("it lives");
                all.insert(&object, Second, destroyed.doomed());
                all.insert(&object, Depth, turn);
            }
        };
        attributes.insert(&object, First, Doomed::new(sets));
        act(&attributes, &object);
        assert_eq!(attributes.get(&object, Depth), Some(turn));
        assert!(attributes.contains_key(&object, Second));
        assert_eq!(destroyed.get(), turn);
    }
    drop(object);
    attributes.purge();
    assert_eq!((destroyed.get(), attributes.len()), (4, 0));
}

/// 170: While it is dropped with its object, the other attributes can be used freely; the effect is as if it
/// came afterwards.
fn a_destructor_uses_the_namespace<P: Pointer>() {
    type Act<P> = fn(&Attributes<P>, &P);
    let acts: [(Act<P>, usize); 6] = [
        (
            |all, other| assert!(all.insert(other, Second, Doomed::default())),
            1,
        ),
        (
            |all, other| _ = all.compute(other, Depth, |old| old.map(|old| old + 1)),
            1,
        ),
        (
            |all, other| assert_eq!(all.remove(other, Depth), Some(7)),
            0,
        ),
        (|all, other| assert!(all.forget(other)), 0),
        (|all, _| all.clear(), 0),
        (|all, _| _ = all.purge(), 1),
    ];
    for (act, left) in acts {
        let attributes = Arc::new(Attributes::<P>::new());
        let (other, destroyed) = (P::from(0), Count::default());
        attributes.insert(&other, Depth, 7);
        let all = objects::<P>(40);
        for (at, object) in all.iter().enumerate() {
            let (weak, other) = (Arc::downgrade(&attributes), other.clone());
            let destroyed = destroyed.clone();
            let end = move || {
                destroyed.add();
                if at == 20 {
                    act(&weak.upgrade().expect("it is in use"), &other);
                }
            };
            attributes.insert(object, First, Doomed::new(end));
        }
        drop(all);
        attributes.purge();
        assert_eq!((destroyed.get(), attributes.pending_dead()), (40, 0));
        assert_eq!(attributes.len(), left);
    }
}

/// 170: Destructors on several threads set attributes of one object.
#[test]
fn destructors_on_several_threads() {
    let attributes = Arc::new(Attributes::<Strong<usize>>::new());
    let (common, ended) = (Strong::new(0), Count::default());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for number in 0..crate::common::scaled(500, 10) {
                    let object = Strong::new(number);
                    let (weak, ended) = (Arc::downgrade(&attributes), ended.clone());
                    let target: Weak<usize> = Strong::downgrade(&common);
                    let end = move || {
                        ended.add();
                        if let (Some(all), Some(target)) = (weak.upgrade(), target.upgrade()) {
                            all.compute(&target, Depth, |old| Some(old.map_or(1, |old| old + 1)));
                        }
                    };
                    attributes.insert(&object, First, Doomed::new(end));
                }
            });
        }
    });
    attributes.purge();
    let all = 3 * crate::common::scaled(500, 10);
    assert_eq!(
        (ended.get(), attributes.get(&common, Depth)),
        (all, Some(all))
    );
    assert_eq!(attributes.len(), 1);
}
