//! Who may own the value: anybody. Wherever it moves, its attributes are found, and its end is their end.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::rc::Rc;

use weakly::{WeakMap, ptr};

use crate::common::{Own, scaled};
use crate::for_each_flavour;

/// A value with an anchor.
struct Node<F: Own> {
    number: usize,
    anchor: ptr::Anchor<F>,
}

impl<F: Own> Node<F> {
    fn new(number: usize) -> Self {
        Node {
            number,
            anchor: ptr::Anchor::new(),
        }
    }
}

type Numbers<F> = WeakMap<ptr::Anchor<F>, usize>;

fn note<F: Own>(numbers: &mut Numbers<F>, node: &Node<F>) {
    assert_eq!(numbers.insert(&node.anchor, node.number), None);
}

fn is_noted<F: Own>(numbers: &Numbers<F>, node: &Node<F>) -> bool {
    numbers.get(&node.anchor) == Some(&node.number)
}

for_each_flavour!(
    a_value_on_the_stack,
    a_value_in_a_box,
    a_vec_that_grows,
    an_arena_whose_nodes_move,
    values_of_a_map,
    a_shared_value,
    values_that_change_places,
    an_optional_value,
    an_array,
);

fn a_value_on_the_stack<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    {
        let node = Node::new(7);
        note(&mut numbers, &node);
        assert!(is_noted(&numbers, &node));
    }
    assert!(numbers.is_empty());
}

fn a_value_in_a_box<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let node = Box::new(Node::new(7));
    note(&mut numbers, &node);
    // Out of the box, and into another.
    let unboxed = *node;
    assert!(is_noted(&numbers, &unboxed));
    let again = Box::new(unboxed);
    assert!(is_noted(&numbers, &again));
    assert_eq!(numbers.len(), 1);
    drop(again);
    assert_eq!((numbers.len(), numbers.pending_dead()), (0, 1));
}

/// Growth moves the values: an identity by address would end there.
fn a_vec_that_grows<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let (mut nodes, mut moves) = (Vec::with_capacity(1), 0);
    let mut at = nodes.as_ptr();
    for number in 0..scaled(1000, 20) {
        nodes.push(Node::new(number));
        note(&mut numbers, &nodes[number]);
        moves += usize::from(nodes.as_ptr() != at);
        at = nodes.as_ptr();
    }
    assert!(moves > 1);
    assert!(nodes.iter().all(|node| is_noted(&numbers, node)));
    nodes.retain(|node| node.number % 3 == 0);
    assert_eq!(numbers.len(), nodes.len());
    assert!(nodes.iter().all(|node| is_noted(&numbers, node)));
    nodes.clear();
    assert!(numbers.is_empty());
}

/// An arena with a free list by `swap_remove`: another node comes to where a dead one was, and has its own
/// attributes only.
fn an_arena_whose_nodes_move<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let mut arena: Vec<Node<F>> = (0..10).map(Node::new).collect();
    for node in arena.iter().filter(|node| node.number != 9) {
        note(&mut numbers, node);
    }
    let removed = arena.swap_remove(3);
    assert_eq!(arena[3].number, 9);
    assert_eq!(numbers.get(&arena[3].anchor), None);
    assert!(is_noted(&numbers, &removed));
    drop(removed);
    assert_eq!(numbers.get(&arena[3].anchor), None);
    assert_eq!(numbers.len(), 8);
}

fn values_of_a_map<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let mut by_name: HashMap<usize, Node<F>> = (0..20).map(|n| (n, Node::new(n))).collect();
    by_name.values().for_each(|node| note(&mut numbers, node));
    let mut sorted: BTreeMap<usize, Node<F>> = by_name.drain().collect();
    assert!(sorted.values().all(|node| is_noted(&numbers, node)));
    sorted.retain(|number, _| number % 2 == 0);
    assert_eq!(numbers.len(), 10);
    // A value that is replaced is another value.
    sorted.insert(0, Node::new(0));
    assert_eq!(numbers.get(&sorted[&0].anchor), None);
    assert_eq!(numbers.len(), 9);
}

fn a_shared_value<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let node = Rc::new(RefCell::new(Node::new(7)));
    let again = Rc::clone(&node);
    note(&mut numbers, &node.borrow());
    drop(node);
    assert!(is_noted(&numbers, &again.borrow()));
    drop(again);
    assert!(numbers.is_empty());
}

/// Whole values change places, with their anchors.
fn values_that_change_places<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let (mut one, mut other) = (Node::new(1), Node::new(2));
    note(&mut numbers, &one);
    note(&mut numbers, &other);
    mem::swap(&mut one, &mut other);
    assert_eq!((one.number, other.number), (2, 1));
    assert!(is_noted(&numbers, &one) && is_noted(&numbers, &other));
    let mut nodes = [one, other, Node::new(3)];
    note(&mut numbers, &nodes[2]);
    nodes.sort_by_key(|node| node.number);
    nodes.rotate_left(1);
    assert!(nodes.iter().all(|node| is_noted(&numbers, node)));
}

fn an_optional_value<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let mut slot = Some(Node::new(1));
    note(&mut numbers, slot.as_ref().unwrap());
    let old = slot.replace(Node::new(2));
    assert_eq!(numbers.get(&slot.as_ref().unwrap().anchor), None);
    assert!(is_noted(&numbers, old.as_ref().unwrap()));
    drop(old);
    assert!(numbers.is_empty());
    note(&mut numbers, slot.as_ref().unwrap());
    drop(slot.take());
    assert!(numbers.is_empty());
}

fn an_array<F: Own>() {
    let mut numbers = Numbers::<F>::new();
    let nodes: [Node<F>; 4] = std::array::from_fn(Node::new);
    nodes.iter().for_each(|node| note(&mut numbers, node));
    let [first, .., last] = nodes; // the middle ones stay until the end of this scope
    assert!(is_noted(&numbers, &first) && is_noted(&numbers, &last));
    assert_eq!(numbers.len(), 4);
    drop(first);
    assert_eq!(numbers.len(), 3);
}
