//! Who holds an object (`Cycles::holders`).

use std::cell::RefCell;
use std::sync::Arc;

use weakly::{
    Memo, Strong, WeakMap, concurrent,
    cycles::{Cycles, Holders},
    impl_trace, local,
};

use crate::common::{panics, quiet_panic};
use crate::tools::{Shared, any, shared};

struct Node {
    left: RefCell<Option<local::Strong<Node>>>,
    right: RefCell<Vec<local::Strong<Node>>>,
}

impl_trace!(Node: left, right);

fn node() -> local::Strong<Node> {
    local::Strong::new(Node {
        left: RefCell::default(),
        right: RefCell::default(),
    })
}

fn paths(holders: &Holders) -> Vec<String> {
    let mut paths: Vec<_> = holders.paths().iter().map(ToString::to_string).collect();
    paths.sort();
    paths
}

/// 144: Each pointer that is shown has a way; the others are counted.
#[test]
fn a_way_to_each_pointer() {
    let (key, other, target) = (node(), node(), node());
    *key.left.borrow_mut() = Some(target.clone());
    other
        .right
        .borrow_mut()
        .extend([target.clone(), key.clone()]);
    let mut map = WeakMap::new();
    map.insert(&key, Some(target.clone()));
    map.insert(&target, Some(other.clone()));
    map.insert(&other, None);
    let holders = Cycles::new().with(&mut map).holders(&target);
    // The three above, and the one here.
    assert_eq!(holders.count(), Some(4));
    let entry = "entry of WeakMap<Strong<Node, Local>, Option<Strong<Node, Local>>>";
    assert_eq!(
        paths(&holders),
        [
            format!("{entry} (its own key) -> Node .right -> Node"),
            format!("{entry} (its own key) -> Node .right -> Node .left -> Node"),
            format!("{entry} -> Node"),
        ]
    );
    let text = holders.to_string();
    assert!(
        text.starts_with("Node: 4 strong handles, 3 found\n  held by entry of"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 4);
}

/// A field of a field has the names of both; a pointer that is shown twice has one way; entries are told apart by keys.
#[test]
fn fields_of_fields() {
    struct Outer {
        inner: Inner,
    }
    struct Inner {
        deep: Strong<u8>,
    }
    impl_trace!(Outer: inner, inner);
    impl_trace!(Inner: deep);
    let all = concurrent::WeakMap::new();
    let (key, deep) = (shared(1), Strong::new(2));
    let inner = Inner { deep: deep.clone() };
    all.insert(&key, any([Outer { inner }]));
    let holders = Cycles::new().with(&all).with(&all).holders(&deep);
    assert_eq!((holders.count(), holders.paths().len()), (Some(2), 1));
    let path = &holders.paths()[0];
    assert!(path.to_string().ends_with(" .inner.deep -> u8"), "{path}");
    assert_eq!(path.key_addresses(), [Strong::as_ptr(&key).addr()]);
}

/// An entry has the addresses of all objects that it needs: also those that are polled, and those it depends on.
#[test]
fn all_inputs_are_keys() {
    let memo = Memo::<(Strong<Shared>, Arc<u8>), (Option<Strong<Shared>>, Arc<u8>)>::new();
    let (one, polled, other, used) = (shared(1), Arc::new(2), Arc::new(3), shared(4));
    memo.get_or_compute((&one, &polled), |cx| {
        cx.depends_on(&other);
        cx.depends_on(&used);
        (None, other.clone())
    });
    let holders = Cycles::new().with(&memo).holders(&other);
    let [path] = holders.paths() else {
        panic!("{holders}");
    };
    let addresses = [
        Strong::as_ptr(&one).addr(),
        Arc::as_ptr(&polled).addr(),
        Arc::as_ptr(&other).addr(),
        Strong::as_ptr(&used).addr(),
    ];
    assert_eq!(path.key_addresses(), addresses);
    assert!(path.to_string().contains("(its own key)"), "{path}");
}

/// Two ways that meet: what they have in common is there once.
#[test]
fn a_graph_of_ways_that_meet() {
    let (key, middle, target) = (node(), node(), node());
    *middle.left.borrow_mut() = Some(target.clone());
    middle.right.borrow_mut().push(target.clone());
    *key.left.borrow_mut() = Some(middle);
    let mut map = WeakMap::from([(&key, key.clone())]);
    let cycles = Cycles::new().with(&mut map);
    let dot = cycles.holders(&target).to_dot();
    let edges: Vec<_> = dot.lines().filter(|line| line.contains(" -> ")).collect();
    let fields = ["", ".left", ".left", ".right"].map(|field| format!("[label={field:?}];"));
    // The entry of each way, and three fields, of which both ways have the first.
    assert_eq!(edges.len(), 5, "{dot}");
    for field in fields {
        assert!(edges.iter().any(|edge| edge.ends_with(&field)), "{dot}");
    }
    let text = format!("{:?}", cycles.at_rest());
    assert!(
        text.contains("WeakMap") && text.contains("at_rest: true"),
        "{text}"
    );
}

/// It changes nothing: neither what it finds, nor what is held, nor after a panic.
#[test]
fn it_changes_nothing() {
    struct Panics;
    impl weakly::cycles::Trace for Panics {
        fn trace(&self, _: &mut weakly::cycles::Tracer<'_>) {
            quiet_panic();
        }
    }
    let all = concurrent::WeakMap::new();
    let key = shared(1);
    all.insert(&key, any(key.clone()));
    let cycles = Cycles::new().with(&all);
    for _ in 0..3 {
        assert_eq!(cycles.holders(&key).count(), Some(2));
    }
    assert_eq!(Strong::strong_count(&key), 2);
    let other = shared(2);
    all.insert(&other, any((key.clone(), Panics)));
    assert!(panics(|| _ = cycles.holders(&key)));
    assert_eq!((all.len(), Strong::strong_count(&key)), (2, 3));
    all.clear();
    assert_eq!(Strong::strong_count(&key), 1);
}
