//! What an anchor is equal to, what a clone of it is, and what happens when anchors themselves change places.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};
use std::mem;

use weakly::{WeakMap, WeakSet, ptr};

use crate::common::Own;
use crate::for_each_flavour;

/// As a user would write it: all traits derived.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Anchored<A> {
    x: i32,
    anchor: A,
    y: i32,
}

type Point<F> = Anchored<ptr::Anchor<F>>;

fn point<F: Own>(x: i32, y: i32) -> Point<F> {
    let anchor = ptr::Anchor::new();
    Anchored { x, anchor, y }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

for_each_flavour!(
    derived_traits_keep_their_meaning,
    a_clone_is_another,
    a_weak_handle_knows_its_anchor,
);

fn derived_traits_keep_their_meaning<F: Own>() {
    let (a, b, c) = (point::<F>(1, 2), point(1, 2), point(1, 3));
    let mut seen = WeakSet::new();
    seen.insert(&a.anchor);
    assert!(a == b && a != c && a < c && c > b && a.cmp(&b).is_eq());
    assert_eq!(hash(&a), hash(&b));
    assert_eq!(hash(&a), hash(&(1, 2))); // nothing of the anchor
    assert_ne!(hash(&a), hash(&c));
    assert_eq!(HashSet::from([a.clone(), b.clone(), c.clone()]).len(), 2);
    let sorted: BTreeSet<_> = [c, a, b].into();
    let order: Vec<_> = sorted.iter().map(|point| point.y).collect();
    assert_eq!(order, [2, 3]);
    assert_eq!(Point::<F>::default(), point(0, 0));
}

/// 171: The clone of a value is another value, without its attributes.
fn a_clone_is_another<F: Own>() {
    let mut numbers = WeakMap::<_, usize>::new();
    let mut one = point::<F>(1, 2);
    numbers.insert(&one.anchor, 1);
    let other = one.clone();
    assert_eq!(numbers.get(&other.anchor), None);
    numbers.insert(&other.anchor, 2);
    assert_eq!(numbers.get(&one.anchor), Some(&1));
    assert!(!one.anchor.ptr_eq(&other.anchor) && one.anchor.ptr_eq(&one.anchor));
    // As an assignment of a clone does.
    one.clone_from(&other);
    assert_eq!((numbers.get(&one.anchor), numbers.len()), (None, 1));
}

/// A trap: the identity is the anchor, not the value around it.
fn a_weak_handle_knows_its_anchor<F: Own>() {
    let (one, mut other) = (ptr::Anchor::<F>::new(), ptr::Anchor::new());
    let weak = one.downgrade();
    assert!(weak.is(&one) && weak.clone().is(&one));
    assert!(!weak.is(&other), "which nobody has watched");
    let weak_other = other.downgrade();
    assert!(!weak.is(&other) && weak_other.is(&other) && !weak_other.is(&one));
    let moved = Box::new(one);
    assert!(weak.is(&moved));
    let again = mem::take(&mut other);
    assert!(weak_other.is(&again) && !weak_other.is(&other));
    drop(moved);
    // None of them is at the address of the dead one.
    let later: Vec<_> = (0..20).map(|_| ptr::Anchor::<F>::new()).collect();
    assert!(later.iter().all(|anchor| anchor.downgrade().is(anchor)));
    assert!(weak.is_expired() && !later.iter().any(|anchor| weak.is(anchor)));
}
