//! Who holds an object (`Cycles::holders`).

use std::cell::RefCell;
use std::collections::BTreeSet;
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
    let mut paths: Vec<_> = holders.paths().map(|path| path.to_string()).collect();
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
    assert_eq!((holders.count, holders.elsewhere()), (Some(4), Some(1)));
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
        text.starts_with("Node: 4 strong handles, 3 found (maps searched: 1)\n  held by entry of"),
        "{text}"
    );
    assert_eq!(text.matches("\n  held by ").count(), 3);
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
    assert_eq!((holders.count, holders.paths().len()), (Some(2), 1));
    let path = &holders.groups[0].path;
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
    assert_eq!(holders.paths().len(), 1, "{holders}");
    let path = &holders.groups[0].path;
    // In no order that is promised: the memo sorts what a computation depends on by address.
    let addresses = BTreeSet::from([
        Strong::as_ptr(&one).addr(),
        Arc::as_ptr(&polled).addr(),
        Arc::as_ptr(&other).addr(),
        Strong::as_ptr(&used).addr(),
    ]);
    assert_eq!(path.key_addresses().len(), 4);
    assert_eq!(
        BTreeSet::from_iter(path.key_addresses().iter().copied()),
        addresses
    );
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
    // The entry, and three fields; both ways begin with the entry and the first field.
    assert_eq!(edges.len(), 4, "{dot}");
    assert_eq!(dot.matches("  subgraph cluster").count(), 2, "{dot}");
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
        assert_eq!(cycles.holders(&key).count, Some(2));
    }
    assert_eq!(Strong::strong_count(&key), 2);
    let other = shared(2);
    all.insert(&other, any((key.clone(), Panics)));
    assert!(panics(|| _ = cycles.holders(&key)));
    assert_eq!((all.len(), Strong::strong_count(&key)), (2, 3));
    all.clear();
    assert_eq!(Strong::strong_count(&key), 1);
}

/// A chain of nodes from the returned one, whose last one owns nodes that each own the target.
fn chain(length: usize, owners: usize, target: &local::Strong<Node>) -> Vec<local::Strong<Node>> {
    let chain: Vec<_> = (0..length).map(|_| node()).collect();
    for pair in chain.windows(2) {
        *pair[0].left.borrow_mut() = Some(pair[1].clone());
    }
    let owner = |_| {
        let owner = node();
        *owner.left.borrow_mut() = Some(target.clone());
        owner
    };
    *chain[length - 1].right.borrow_mut() = (0..owners).map(owner).collect();
    chain
}

/// 612: Handles that are like each other are one group, the largest group first, with its shortest path.
#[test]
fn handles_that_are_alike_are_one_group() {
    let (key, target) = (node(), node());
    let chain = chain(100, 50, &target);
    // One more in the same field of the same type, on a shorter path.
    *key.left.borrow_mut() = Some(target.clone());
    let mut map = WeakMap::new();
    map.insert(&key, vec![key.clone(), chain[0].clone()]);
    map.insert(&target, vec![target.clone()]);
    let holders = Cycles::new().with(&mut map).holders(&target);
    let entry = "entry of WeakMap<Strong<Node, Local>, Vec<Strong<Node, Local>>>";
    let counts: Vec<_> = holders
        .groups
        .iter()
        .map(|group| (group.count, group.bytes))
        .collect();
    assert_eq!(counts, [(51, 51 * size_of::<Node>()), (1, 0)]);
    let best = &holders.groups[0].path;
    assert_eq!(best.to_string(), format!("{entry} -> Node .left -> Node"));
    assert_eq!(
        best.steps(),
        [("".into(), "Node".into()), (".left".into(), "Node".into())]
    );
    let own = &holders.groups[1].path;
    assert_eq!(own.to_string(), format!("{entry} (its own key) -> Node"));
    assert_eq!((holders.paths().len(), holders.count), (52, Some(53)));
    let text = holders.to_string();
    assert!(text.contains("\n    and 50 more like it, in "), "{text}");
    assert!(text.lines().count() < 12, "{text}");
    // A long path, which programs get as a whole, is cut in texts.
    let last = holders.paths().last().unwrap();
    assert_eq!(last.steps().len(), 102);
    assert!(
        last.to_string()
            .contains(" -> (70 more) .left -> Node .left"),
        "{last}"
    );
}

/// 612: A path that meets the object on its way is not lost among shorter ones: it shows a ring.
#[test]
fn a_ring_is_a_group_of_its_own() {
    let (target, other) = (node(), node());
    // Both own the target by the same field, and the target owns one of them.
    let back = node();
    for owner in [&other, &back] {
        *owner.left.borrow_mut() = Some(target.clone());
    }
    target.right.borrow_mut().push(back);
    let mut map = WeakMap::from([(&other, other.clone())]);
    let holders = Cycles::new().with(&mut map).holders(&target);
    let steps: Vec<_> = holders
        .groups
        .iter()
        .map(|group| group.path.steps().len())
        .collect();
    assert_eq!(steps, [2, 4], "{holders}");
    target.right.take();
}

/// 612: The text about 40 groups has at most 100 lines, and the number of what it does not show.
#[test]
fn a_long_answer_is_cut() {
    struct Fields(Vec<Option<Strong<u8>>>);
    const NAMES: [&str; 40] = {
        let all = "0123456789012345678901234567890123456789";
        let mut names = [""; 40];
        let mut at = 0;
        while at < 40 {
            names[at] = all.split_at(at).0;
            at += 1;
        }
        names
    };
    impl weakly::cycles::Trace for Fields {
        fn trace(&self, tracer: &mut weakly::cycles::Tracer<'_>) {
            for (field, name) in self.0.iter().zip(NAMES) {
                field.trace(&mut tracer.field(name));
            }
        }
    }
    let (key, target) = (Strong::new(1), Strong::new(2_u8));
    let fields = vec![Some(target.clone()); 40];
    let mut map = WeakMap::from([(&key, Fields(fields))]);
    let mut holders = Cycles::new().with(&mut map).holders(&target);
    assert_eq!((holders.groups.len(), holders.elsewhere()), (40, Some(1)));
    let text = holders.to_string();
    assert!(text.lines().count() <= 100, "{text}");
    assert!(text.contains("\nand 20 more groups, of 20\n"), "{text}");
    holders.groups[0].count = 0; // as a program may write
    assert!(!holders.to_string().contains("more like it"));
}

/// 614: An answer says what was not looked at: other handles, types without `Trace`, what is borrowed or locked.
#[test]
fn what_was_not_looked_at_is_named() {
    struct Opaque;
    struct Value {
        opaque: Strong<Opaque>,
        cell: RefCell<Option<Strong<u8>>>,
        lock: std::sync::Mutex<Option<Strong<u8>>>,
    }
    impl weakly::cycles::Trace for Value {
        fn trace(&self, tracer: &mut weakly::cycles::Tracer<'_>) {
            tracer.leaf(&self.opaque);
            self.cell.trace(tracer);
            self.lock.trace(tracer);
        }
    }
    let (key, target) = (Strong::new(1), Strong::new(2_u8));
    let value = std::rc::Rc::new(Value {
        opaque: Strong::new(Opaque),
        cell: RefCell::new(Some(target.clone())),
        lock: Some(target.clone()).into(),
    });
    let mut map = WeakMap::from([(&key, value.clone())]);
    let mut other = WeakMap::from([(&key, target.clone())]);
    let mut unseen = |busy: bool| {
        let _busy = busy.then(|| (value.cell.borrow_mut(), value.lock.lock()));
        let holders = Cycles::new().with(&mut map).holders(&target);
        assert_eq!(
            (holders.count, holders.elsewhere()),
            (Some(4), Some(if busy { 4 } else { 2 }))
        );
        let text = holders.to_string();
        for unseen in &holders.unseen {
            assert!(text.contains(unseen), "{text}");
        }
        holders.unseen
    };
    let free = unseen(false);
    assert!(free[0].starts_with(
        "handles elsewhere: 2, such as the argument of the search, variables, fields"
    ));
    assert_eq!(
        free[1],
        "not looked at: 1 of `Opaque`, which has no `Trace` (`impl_trace!` and `#[derive(Trace)]` \
         implement it)"
    );
    assert_eq!(free.len(), 2 + usize::from(cfg!(not(feature = "holders"))));
    let busy = unseen(true);
    let all = busy.join("\n");
    assert!(
        all.contains(
            "1 of `RefCell<Option<Strong<u8, Atomic>>>`, which is mutably borrowed: search when"
        ),
        "{all}"
    );
    assert!(
        all.contains("1 of `Option<Strong<u8, Atomic>>`, which is locked: search when"),
        "{all}"
    );
    // No map leads to the object: that is no clean bill.
    let none = Cycles::new().holders(&target);
    assert_eq!(
        (none.count, none.elsewhere(), none.groups.len()),
        (Some(4), Some(4), 0)
    );
    assert!(
        none.to_string()
            .starts_with("u8: 4 strong handles, 0 found (maps searched: 0)\n"),
        "{none}"
    );
    let found = Cycles::new().with(&mut other).holders(&target);
    assert_eq!((found.elsewhere(), found.groups.len()), (Some(3), 1));
}

/// 615: In the graph of the answer each group is a cluster; it names its numbers.
#[test]
fn a_cluster_for_each_group() {
    let (key, target) = (node(), node());
    let chain = chain(3, 5, &target);
    let mut map = WeakMap::from([(&key, (chain[0].clone(), target.clone()))]);
    let dot = Cycles::new().with(&mut map).holders(&target).to_dot();
    let clusters: Vec<_> = dot.split("subgraph cluster").collect();
    assert_eq!(clusters.len(), 3, "{dot}");
    let bytes = 5 * size_of::<Node>();
    assert!(
        clusters[1].contains(&format!("label=\"5 handles, {bytes} bytes\";")),
        "{dot}"
    );
    // One of the five paths, with each of its objects once; the entry and the target are common.
    assert_eq!(dot.matches(" -> ").count(), 6, "{dot}");
    assert_eq!(dot.matches("[label=\"Node\"]").count(), 5, "{dot}");
    assert_eq!(dot.matches("shape=box").count(), 1, "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}
