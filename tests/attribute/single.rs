//! Namespaces of one owner. What these and the shared ones have in common is in the same words as in `namespaces`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use weakly::local::{self, AttributeKey, Attributes};
use weakly::reference::WeakRef;
use weakly::{Anchor, Reclaim, Strong};

use crate::common::{Counter, Key, Kind, OnDrop, keys, on_a_stack_of, scaled, sized};
use crate::common::{panics, quiet_panic};
use crate::for_each_kind;

// Those of shared namespaces serve as well.
crate::keys!(Depth: usize, Label: String);

macro_rules! local_keys {
    ($($name:ident: $value:ty),*) => {$(
        struct $name;
        impl AttributeKey for $name {
            type Value = $value;
        }
    )*};
}

local_keys!(Visits: Rc<Cell<usize>>, First: OnDrop, Second: OnDrop, Third: OnDrop, Fourth: OnDrop);

for_each_kind!(
    they_are_set_and_read_and_changed,
    attributes_go_with_the_object_in_order,
    attributes_of_the_dead_are_kept_on_request,
    a_value_that_is_made,
    a_namespace_ends,
    destructors_that_panic,
);

/// 166, 311: Each with its type, which need not be `Send`.
fn they_are_set_and_read_and_changed<P: Kind>() {
    let (mut attributes, object) = (Attributes::<Key<P>>::default(), Key::<P>::from(1));
    assert!(attributes.is_empty() && attributes.get(&object, Depth).is_none());
    assert_eq!(attributes.insert(&object, Depth, 1), None);
    assert_eq!(attributes.insert(&object, Depth, 2), Some(1));
    let visits = Rc::<Cell<usize>>::default();
    assert!(attributes.insert(&object, Visits, visits.clone()).is_none());
    attributes.get(&object, Visits).unwrap().set(5);
    *attributes.get_mut(&object, Depth).unwrap() += 1;
    assert_eq!(
        (attributes.get(&object, Depth), visits.get()),
        (Some(&3), 5)
    );
    assert!(attributes.contains_key(&object, Visits) && !attributes.contains_key(&object, Label));
    assert!(attributes.get_mut(&object, Label).is_none());
    assert_eq!(
        (
            attributes.len(),
            attributes.len_live(),
            attributes.is_empty()
        ),
        (1, 1, false)
    );
    assert_eq!(format!("{attributes:?}"), "Attributes { objects: 1 }");
    assert!(attributes.keys().map(|object| *object).eq([1]));
    assert_eq!(attributes.remove(&object, Depth), Some(3));
    assert_eq!(attributes.remove(&object, Depth), None);
    assert_eq!(Rc::strong_count(&visits), 2);
    assert!(attributes.remove(&object, Visits).is_some());
    assert_eq!((attributes.len(), Rc::strong_count(&visits)), (0, 1));
    assert_eq!(
        (attributes.list(&object), P::counts(&object)),
        (vec![], (1, 0))
    );
    assert_eq!(attributes.remove(&object, Visits), None);
}

/// 169: In the order in which they were first set; whatever drops them together.
fn attributes_go_with_the_object_in_order<P: Kind>() {
    type End<P> = fn(Attributes<Key<P>>, Key<P>);
    let ends: [End<P>; 5] = [
        |mut attributes, object| {
            drop(object);
            attributes.purge();
        },
        |mut attributes, object| {
            drop(object);
            assert!(attributes.purge_some(9) <= 1);
        },
        |attributes, object| drop((attributes, object)),
        |mut attributes, object| assert!(attributes.forget(&object)),
        |mut attributes, _object| attributes.clear(),
    ];
    for end in ends {
        let log = Rc::new(RefCell::new(Vec::new()));
        let recording = |number| {
            let log = log.clone();
            OnDrop::new(move || log.borrow_mut().push(number))
        };
        let (mut attributes, object) = (Attributes::<Key<P>>::new(), Key::<P>::from(1));
        attributes.insert(&object, Fourth, recording(0));
        attributes.insert(&object, Third, recording(2));
        drop(attributes.insert(&object, Fourth, recording(1)));
        assert_eq!(*log.borrow(), [0], "a replaced value is returned");
        end(attributes, object);
        assert_eq!(*log.borrow(), [0, 1, 2]);
    }
}

/// 185: Until they are requested. 237: A task is told that they are pending.
fn attributes_of_the_dead_are_kept_on_request<P: Kind>() {
    let (mut space, destroyed) = (Attributes::<Key<P>>::new(), Counter::default());
    space.set_reclaim(Reclaim::OnRequest);
    assert_eq!(space.reclaim(), Reclaim::OnRequest);
    let mut context = Context::from_waker(Waker::noop());
    assert!(space.poll_pending(&mut context).is_pending());
    for object in keys::<P>(100) {
        space.insert(&object, First, destroyed.witness());
        space.insert(&object, Second, destroyed.witness());
    }
    space.shrink_to_fit();
    assert_eq!(
        (space.len(), space.pending_dead(), destroyed.get()),
        (0, 100, 0)
    );
    assert!(space.poll_pending(&mut context).is_ready());
    assert_eq!((space.purge_some(30), destroyed.get()), (30, 60));
    space.purge();
    assert_eq!((destroyed.get(), space.pending_dead()), (200, 0));
}

/// 175, 311: Once, weakly told of its object; a panic changes nothing.
fn a_value_that_is_made<P: Kind>() {
    let (mut attributes, object) = (Attributes::<Key<P>>::new(), Key::<P>::from(7));
    for others in [false, true] {
        assert!(panics(|| _ =
            attributes
                .get_or_insert_with(&object, Depth, |_| quiet_panic())));
        assert_eq!(
            (attributes.len(), attributes.list(&object).len()),
            (others.into(), others.into())
        );
        let made = attributes.get_or_insert_with(&object, Depth, |weak| {
            assert_eq!(P::counts(&object).0, 1);
            *weak.upgrade().unwrap()
        });
        *made += 1;
        assert_eq!(
            attributes.get_or_insert_with(&object, Depth, |_| unreachable!()),
            &8
        );
        assert_eq!(attributes.remove(&object, Depth), Some(8));
        attributes.insert(&object, Label, "another".into());
    }
}

/// Names the next object.
struct Next<P>(std::marker::PhantomData<P>);

impl<P: Kind> AttributeKey for Next<P> {
    type Value = (Option<Key<P>>, OnDrop);
}

/// 168: Of many objects, each of whose attributes owns the next; on a stack that is too small for a recursion.
fn a_namespace_ends<P: Kind>() {
    type End<P> = fn(&mut Attributes<Key<P>>, Vec<Key<P>>);
    let ends: [End<P>; 3] = [
        |_, all| drop(all),
        |links, all| {
            drop(all);
            links.purge();
            assert!(links.is_empty());
        },
        |links, all| all.iter().for_each(|object| assert!(links.forget(object))),
    ];
    for end in ends {
        on_a_stack_of(64 * 1024 * scaled(1, 8), move || {
            let destroyed = Counter::default();
            let many = if P::NOTIFIES {
                sized(100_000, 10_000, 50)
            } else {
                scaled(1_000, 50)
            };
            let (mut links, all) = (Attributes::new(), keys::<P>(many));
            for (at, object) in all.iter().enumerate() {
                let next = all.get(at + 1).cloned();
                links.insert(
                    object,
                    Next(std::marker::PhantomData::<P>),
                    (next, destroyed.witness()),
                );
            }
            end(&mut links, all);
            drop(links);
            assert_eq!(destroyed.get(), many);
        });
    }
}

/// 65: Of several destructors of one object's attributes that panic, all run, and the first panic goes on.
fn destructors_that_panic<P: Kind>() {
    type End<P> = fn(Attributes<Key<P>>, Key<P>);
    let ends: [End<P>; 3] = [
        |attributes, _object| drop(attributes),
        |mut attributes, object| _ = attributes.forget(&object),
        |mut attributes, _object| attributes.clear(),
    ];
    for end in ends {
        let runs = Rc::new(Cell::new(0));
        let bomb = || {
            let runs = runs.clone();
            OnDrop::new(move || {
                runs.set(runs.get() + 1);
                quiet_panic();
            })
        };
        let (mut attributes, object) = (Attributes::<Key<P>>::new(), Key::<P>::from(1));
        attributes.insert(&object, Third, bomb());
        attributes.insert(&object, Fourth, bomb());
        assert!(panics(move || end(attributes, object)));
        assert_eq!(runs.get(), 2);
    }
}

/// 166, 311: Objects behind no handle have anchors; one that dies on another thread takes its attributes with it.
#[test]
fn anchors_and_deaths_on_other_threads() {
    let (anchor, mut of_anchors) = (local::Anchor::new(), Attributes::<local::Anchor>::new());
    of_anchors.insert(&anchor, Depth, 1);
    assert_eq!(of_anchors.get(&anchor, Depth), Some(&1));
    drop(anchor);
    assert!(of_anchors.is_empty());
    let shared = Anchor::new();
    let mut of_shared = Attributes::new();
    of_shared.insert(&shared, Visits, Rc::default());
    let object = Strong::new(1_usize);
    let mut attributes = Attributes::new();
    attributes.insert(&object, Visits, Rc::default());
    std::thread::spawn(move || drop((object, shared)))
        .join()
        .unwrap();
    assert!(attributes.is_empty() && of_shared.is_empty());
}

/// 166: In its own destructor an object reads its attributes.
#[test]
fn an_object_reads_its_attributes_in_its_destructor() {
    thread_local! {
        static DEPTHS: RefCell<Attributes<local::Strong<Node>>> = const { RefCell::new(Attributes::new()) };
        static LAST: Cell<usize> = const { Cell::new(0) };
    }
    struct Node(#[allow(dead_code)] u8);
    impl Drop for Node {
        fn drop(&mut self) {
            LAST.set(DEPTHS.with_borrow(|depths| *depths.get(self, Depth).unwrap()));
        }
    }
    let node = local::Strong::new(Node(0));
    DEPTHS.with_borrow_mut(|depths| depths.insert(&node, Depth, 7));
    drop(node);
    assert_eq!(LAST.get(), 7);
    DEPTHS.with_borrow(|depths| assert!(depths.is_empty()));
}

/// 64, 185: A destructor may use its namespace, if the dead attributes are taken out of the borrow.
#[test]
fn a_destructor_uses_its_namespace() {
    struct Sound;
    impl AttributeKey for Sound {
        type Value = OnDrop;
    }
    let all = Rc::new(RefCell::new(Attributes::<local::Strong<usize>>::new()));
    all.borrow_mut().set_reclaim(Reclaim::OnRequest);
    let lengths = Rc::new(RefCell::new(Vec::new()));
    let kept = local::Strong::new(9);
    for number in 0..3 {
        let object = local::Strong::new(number);
        let (this, lengths, other) = (Rc::downgrade(&all), lengths.clone(), kept.clone());
        let ends = OnDrop::new(move || {
            let this = this.upgrade().unwrap();
            this.borrow_mut().insert(&other, Depth, number);
            lengths.borrow_mut().push(this.borrow().len());
        });
        all.borrow_mut().insert(&object, Sound, ends);
    }
    let dead: Vec<_> = all.borrow_mut().drain_dead().collect();
    assert_eq!((dead.len(), lengths.borrow().len()), (3, 0));
    drop(dead);
    assert_eq!(*lengths.borrow(), [1; 3]);
    assert!(all.borrow().contains_key(&kept, Depth));
    assert!(all.borrow_mut().drain_dead().next().is_none());
}
