//! Anchors in what threads share: maps, sets, attributes, memos, and the reference queue.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use weakly::{
    Anchor, Attribute, AttributeKey, Attributes, Memo, ReferenceQueue, Strong, concurrent,
};

use crate::common::Count;

/// What a user of attributes writes: a value of his own, and statics.
struct Node {
    name: &'static str,
    anchor: Anchor,
}

impl Node {
    fn new(name: &'static str) -> Self {
        let anchor = Anchor::new();
        Node { name, anchor }
    }
}

static RANK: Attribute<Anchor, usize> = Attribute::new();

#[test]
fn a_static_attribute_of_values_in_a_vec() {
    let mut nodes: Vec<_> = ["a", "b", "c"].map(Node::new).into();
    RANK.insert(&nodes[1].anchor, 2);
    assert_eq!(RANK.len(), 1);
    nodes.swap(0, 1);
    assert_eq!(RANK.get(&nodes[0].anchor), Some(2));
    assert!(!RANK.contains_key(&nodes[1].anchor));
    let greater = |rank: Option<&usize>| rank.map(|rank| rank + 10);
    assert_eq!(RANK.compute(&nodes[0].anchor, greater), Some(12));
    assert_eq!(
        RANK.get_or_insert_with(&nodes[2].anchor, |_| nodes[2].name.len()),
        1
    );
    assert!(RANK.remove(&nodes[2].anchor).is_some());
    assert_eq!(format!("{RANK:?}"), "[12]");
    nodes.clear();
    assert!(RANK.is_empty());
}

struct Depth;
impl AttributeKey for Depth {
    type Value = u32;
}
struct Label;
impl AttributeKey for Label {
    type Value = String;
}

/// 166: Two namespaces do not see each other.
#[test]
fn a_namespace_of_attributes() {
    let (mine, yours) = (Attributes::new(), Attributes::new());
    let (node, other) = (Box::new(Node::new("a")), Node::new("b"));
    mine.insert(&node.anchor, Depth, 3);
    mine.insert(&node.anchor, Label, "leaf".into());
    yours.insert(&node.anchor, Depth, 7);
    let node = *node;
    assert_eq!(mine.get(&node.anchor, Depth), Some(3));
    assert_eq!(yours.get(&node.anchor, Depth), Some(7));
    assert_eq!(mine.list(&node.anchor).len(), 2);
    assert_eq!(mine.get(&other.anchor, Depth), None);
    assert!(
        mine.remove(&node.anchor, Depth).is_some() && mine.remove(&other.anchor, Depth).is_none()
    );
    assert!(mine.forget(&node.anchor) && mine.is_empty());
    drop(node);
    assert_eq!(yours.len(), 0);
}

/// 180: As in a map of one owner.
#[test]
fn a_dead_weak_handle_finds_nothing() {
    let map = concurrent::WeakMap::<_, usize>::new();
    let anchor = Anchor::new();
    let weak = anchor.downgrade();
    map.insert(&anchor, 0);
    assert_eq!(map.get(&weak), Some(0));
    drop(anchor);
    for n in 0..50 {
        let other = Anchor::new();
        map.insert(&other, n);
        assert!(map.get(&weak).is_none() && map.remove(&weak).is_none());
        assert_eq!(map.get(&other), Some(n));
    }
}

/// 172: A result goes with its inputs, whoever owns them.
#[test]
fn a_memo_of_anchors() {
    let memo = Memo::<Anchor, usize>::new();
    let pairs = Memo::<(Anchor, Strong<usize>), usize>::new();
    let (one, other, object) = (Node::new("one"), Node::new("other"), Strong::new(1));
    let computed = AtomicUsize::new(0);
    let length = |node: &Node| {
        memo.get_or_compute(&node.anchor, |cx| {
            computed.fetch_add(1, Relaxed);
            cx.depends_on(&other.anchor);
            node.name.len()
        })
    };
    assert_eq!(
        (length(&one), length(&one), computed.load(Relaxed)),
        (3, 3, 1)
    );
    assert_eq!(pairs.get_or_compute((&one.anchor, &object), |_| 5), 5);
    assert_eq!(pairs.get((&one.anchor, &object)), Some(5));
    drop(other);
    assert_eq!((memo.get(&one.anchor), memo.pending_dead()), (None, 1));
    memo.purge();
    assert!(memo.is_empty());
    drop(one);
    pairs.purge();
    assert!(pairs.is_empty());
}

/// 138: The ticket as for an object, and the anchor may be anywhere.
#[test]
fn a_reference_queue_takes_the_deaths_of_anchors() {
    let queue = ReferenceQueue::new();
    let mut nodes: Vec<_> = ["a", "b", "c"].map(Node::new).into();
    let tickets: Vec<_> = nodes
        .iter()
        .map(|node| queue.register_anchor(&node.anchor, node.name))
        .collect();
    assert!(tickets.iter().all(|ticket| ticket.is_pending()));
    assert_eq!(tickets[1].cancel(), Some("b"));
    nodes.swap(0, 2);
    assert_eq!(queue.poll(), None);
    drop(nodes.pop());
    assert_eq!(queue.poll(), Some("a"));
    drop(nodes);
    assert_eq!((queue.poll(), queue.poll()), (Some("c"), None));
    assert_eq!(tickets[0].cancel(), None);
    // A queue that goes first drops its message where the anchor does.
    let count = Count::default();
    struct Message(Count);
    impl Drop for Message {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    let (queue, anchor) = (ReferenceQueue::new(), Anchor::new());
    queue.register_anchor(&anchor, Message(count.clone()));
    drop(queue);
    assert_eq!(count.get(), 0);
    drop(anchor);
    assert_eq!(count.get(), 1);
}
