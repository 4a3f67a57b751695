//! Destructors of attributes that use their own attribute or namespace.

use std::sync::Arc;

use weakly::{Attribute, Attributes, Strong, Weak};

use crate::common::{panics, quiet_panic};
use crate::for_each_pointer;
use crate::keys;
use crate::tools::{Count, Pointer, Witness, objects};

keys!(First: Witness, Other: Witness, Number: usize);

for_each_pointer!(
    a_destructor_sets_what_is_being_replaced,
    a_destructor_uses_the_namespace,
    a_destructor_asks_for_the_value_being_computed,
);

/// 170: While the object lives it can be set again: the last value stays, and is dropped with the object.
fn a_destructor_sets_what_is_being_replaced<P: Pointer>() {
    let attributes = Arc::new(Attributes::<P>::new());
    let (object, destroyed) = (P::from(1), Count::default());
    type Act<P> = fn(&Attributes<P>, &P);
    let acts: [Act<P>; 4] = [
        |attributes, object| assert!(attributes.remove(object, First)),
        |attributes, object| assert!(attributes.forget(object)),
        |attributes, object| assert!(!attributes.set(object, First, Witness::idle())),
        |attributes, _| attributes.clear(),
    ];
    for (turn, act) in acts.into_iter().enumerate() {
        let sets = {
            let (all, weak) = (Arc::downgrade(&attributes), P::downgrade(&object));
            let destroyed = destroyed.clone();
            move || {
                let all = all.upgrade().expect("it is in use");
                let object = weakly::WeakRef::upgrade(&weak).expect("it lives");
                all.set(&object, Other, destroyed.witness());
                all.set(&object, Number, turn);
            }
        };
        attributes.set(&object, First, Witness::new(sets));
        act(&attributes, &object);
        assert_eq!(attributes.get(&object, Number), Some(turn));
        assert!(attributes.has(&object, Other));
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
            |all, other| assert!(all.set(other, Other, Witness::idle())),
            1,
        ),
        (
            |all, other| all.update(other, Number, |old| old.map(|old| old + 1)),
            1,
        ),
        (|all, other| assert_eq!(all.take(other, Number), Some(7)), 0),
        (|all, other| assert!(all.forget(other)), 0),
        (|all, _| all.clear(), 0),
        (|all, _| all.purge(), 1),
    ];
    for (act, left) in acts {
        let attributes = Arc::new(Attributes::<P>::new());
        let (other, destroyed) = (P::from(0), Count::default());
        attributes.set(&other, Number, 7);
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
            attributes.set(object, First, Witness::new(end));
        }
        drop(all);
        attributes.purge();
        assert_eq!((destroyed.get(), attributes.pending_dead()), (40, 0));
        assert_eq!(attributes.len(), left);
    }
}

/// 174: A dead value that is present is dropped before the new one is computed: so its destructor can compute
/// it. (That of a `Strong` is not found, and is dropped before.)
fn a_destructor_asks_for_the_value_being_computed<P: Pointer>() {
    let attribute = Arc::new(Attribute::<P, Witness>::new());
    let made = Count::default();
    for number in 0..100 {
        let object = P::from(number);
        let (weak, other) = (Arc::downgrade(&attribute), P::from(0));
        let again = made.clone();
        let end = move || {
            if let Some(attribute) = weak.upgrade() {
                attribute.get_or_init(&other, || {
                    again.add();
                    Witness::idle()
                });
            }
        };
        drop(attribute.get_or_init(&object, || Witness::new(end)));
    }
    attribute.purge();
    assert_eq!((made.get(), attribute.len()), (100, 0));
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
                            all.update(&target, Number, |old| Some(old.map_or(1, |old| old + 1)));
                        }
                    };
                    attributes.set(&object, First, Witness::new(end));
                }
            });
        }
    });
    attributes.purge();
    let all = 3 * crate::common::scaled(500, 10);
    assert_eq!(
        (ended.get(), attributes.get(&common, Number)),
        (all, Some(all))
    );
    assert_eq!(attributes.len(), 1);
}

/// 65: A destructor that panics: the panic surfaces in the change that ran it, and the attribute stays usable.
#[test]
fn a_destructor_panics() {
    let (attribute, object) = (Attribute::<Strong<usize>, _>::new(), Strong::new(1));
    let bomb = || Witness::new(|| quiet_panic());
    attribute.set(&object, bomb());
    assert!(panics(|| _ = attribute.set(&object, bomb())));
    assert!(panics(|| _ = attribute.remove(&object)));
    attribute.set(&object, bomb());
    drop(object);
    assert!(panics(|| attribute.purge()));
    assert_eq!((attribute.len(), attribute.pending_dead()), (0, 0));
    attribute.purge();
    let object = Strong::new(2);
    assert!(attribute.set(&object, Witness::idle()));
    assert_eq!(attribute.len(), 1);
}
