//! G. The weak set (items 100–109).
//!
//! 101: there is no silent `discard`; `remove` says whether the element was there. 104: a set in
//! place with itself (`a |= &a`) does not compile; a copy stands in for it.

use std::cell::OnceCell;
use std::rc::Rc;

use weakly::WeakSet;

use crate::common::{Key, Kind, Set, downgrade, is_alive, keys, new};
use crate::{for_each_kind, heap};

for_each_kind!(
    insert_says_whether_the_element_is_new,
    remove_says_whether_the_element_was_there,
    a_temporary_element_is_gone_at_once,
    algebra_leaves_its_inputs_and_loses_what_dies,
    algebra_in_place,
    subset_superset_disjoint,
    sets_are_equal_by_identity_of_live_members,
    pop_until_empty,
    elements_may_die_while_the_set_is_iterated,
    elements_that_own_their_set_are_freed_once,
);

fn set<'a, P: Kind>(keys: impl IntoIterator<Item = &'a Key<P>>) -> Set<P> {
    keys.into_iter().collect()
}

fn payloads<P: Kind>(keys: impl IntoIterator<Item = Key<P>>) -> Vec<usize> {
    let mut payloads: Vec<_> = keys.into_iter().map(|key| *key).collect();
    payloads.sort_unstable();
    payloads
}

/// G100: Insert is idempotent, and says whether the element is new.
fn insert_says_whether_the_element_is_new<P: Kind>() {
    let [a, b] = [1, 1].map(new::<P, _>);
    let mut set = Set::<P>::new();
    assert!(set.insert(&a));
    assert!(!set.insert(&a.clone()));
    assert!(set.insert(&b));
    assert_eq!(
        (set.len(), set.contains(&a), P::counts(&a)),
        (2, true, (1, 1))
    );
}

/// G101: Remove says whether the element was there; `take` hands it out.
fn remove_says_whether_the_element_was_there<P: Kind>() {
    let [a, b] = [1, 2].map(new::<P, _>);
    let mut set = Set::<P>::from([&a]);
    assert!(!set.remove(&b));
    assert!(set.remove(&a));
    assert!(!set.remove(&a));
    set.insert(&a);
    assert_eq!(set.get(&a).as_deref(), Some(&1));
    assert_eq!(set.take(&a).as_deref(), Some(&1));
    assert!(set.take(&a).is_none());
}

/// G102: A temporary element is gone at once.
fn a_temporary_element_is_gone_at_once<P: Kind>() {
    let mut set = Set::<P>::from([new::<P, _>(1)]);
    assert!(set.insert(&new::<P, _>(2)));
    assert_eq!((set.len_live(), set.iter().count()), (0, 0));
    set.purge();
    assert!(set.is_empty());
}

/// G103: Union, intersection, difference and symmetric difference leave their inputs as they are; the
/// results lose elements as these die.
fn algebra_leaves_its_inputs_and_loses_what_dies<P: Kind>() {
    let mut keys = keys::<P>(6);
    let (a, b) = (set::<P>(&keys[..4]), set::<P>(&keys[2..]));
    assert_eq!(payloads::<P>(a.union(&b)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(payloads::<P>(a.intersection(&b)), [2, 3]);
    assert_eq!(payloads::<P>(a.difference(&b)), [0, 1]);
    assert_eq!(payloads::<P>(a.symmetric_difference(&b)), [0, 1, 4, 5]);
    let results = [&a | &b, &a & &b, &a - &b, &a ^ &b];
    assert_eq!(results.each_ref().map(WeakSet::len), [6, 2, 2, 4]);
    assert_eq!((a.len(), b.len()), (4, 4));
    keys.retain(|key| **key % 2 == 1);
    let live = results.map(payloads::<P>);
    assert_eq!(live, [&[1, 3, 5][..], &[3], &[1], &[1, 5]]);
    assert_eq!(
        (payloads::<P>(&a), payloads::<P>(&b)),
        (vec![1, 3], vec![3, 5])
    );
}

/// G104: The same in place, also with an equal set.
fn algebra_in_place<P: Kind>() {
    let mut keys = keys::<P>(6);
    let (a, b) = (set::<P>(&keys[..4]), set::<P>(&keys[2..]));
    keys.remove(3);
    let apply = |change: fn(&mut Set<P>, &Set<P>), other: &Set<P>| {
        let mut result = a.clone();
        change(&mut result, other);
        payloads::<P>(result)
    };
    assert_eq!(apply(|a, b| *a |= b, &b), [0, 1, 2, 4, 5]);
    assert_eq!(apply(|a, b| *a &= b, &b), [2]);
    assert_eq!(apply(|a, b| *a -= b, &b), [0, 1]);
    assert_eq!(apply(|a, b| *a ^= b, &b), [0, 1, 4, 5]);
    assert_eq!(apply(|a, b| *a |= b, &a), [0, 1, 2]);
    assert_eq!(apply(|a, b| *a &= b, &a), [0, 1, 2]);
    assert_eq!(apply(|a, b| *a -= b, &a), []);
    assert_eq!(apply(|a, b| *a ^= b, &a), []);
}

/// G105: Subset, superset and disjoint, with proper ones, equal ones, empty ones and dead elements.
fn subset_superset_disjoint<P: Kind>() {
    let mut keys = keys::<P>(5);
    let (some, all, others) = (
        set::<P>(&keys[..2]),
        set::<P>(&keys[..4]),
        set::<P>(&keys[4..]),
    );
    let empty = Set::<P>::new();
    assert!(some.is_subset(&all) && all.is_superset(&some));
    assert!(!all.is_subset(&some) && !some.is_superset(&all));
    assert!(all.is_subset(&all) && all.is_superset(&all));
    assert!(some.is_disjoint(&others) && !some.is_disjoint(&all));
    assert!(empty.is_subset(&some) && some.is_superset(&empty) && !some.is_subset(&empty));
    assert!(empty.is_disjoint(&empty) && empty.is_disjoint(&all) && empty.is_subset(&empty));
    keys.drain(2..4);
    assert!(all.is_subset(&some), "what was more is dead");
    keys.clear();
    assert!(all.is_subset(&empty) && all.is_disjoint(&all));
}

/// G106: Sets are equal if their live members are the same objects.
fn sets_are_equal_by_identity_of_live_members<P: Kind>() {
    let (mut keys, twins) = (keys::<P>(3), keys::<P>(3));
    let (all, some) = (set::<P>(&keys), set::<P>(&keys[..2]));
    assert!(all == all.clone() && all != some && some != all);
    assert!(all != set::<P>(&twins), "equal values, other objects");
    keys.pop();
    assert!(all == some && some == all);
}

/// G107: `pop` hands out each live element once, until the set is empty.
fn pop_until_empty<P: Kind>() {
    let mut keys = keys::<P>(20);
    let mut set = set::<P>(&keys);
    keys.truncate(15);
    let popped = std::iter::from_fn(|| set.pop());
    assert_eq!(payloads::<P>(popped), (0..15).collect::<Vec<_>>());
    assert!(set.pop().is_none());
    assert_eq!(set.len_live(), 0);
}

/// G108: Elements may die, and be removed, while the set is walked.
fn elements_may_die_while_the_set_is_iterated<P: Kind>() {
    let mut keys = keys::<P>(20);
    let mut set = set::<P>(&keys);
    let mut seen = Vec::new();
    for key in &set {
        seen.push(*key);
        keys.retain(|other| **other != *key ^ 1);
    }
    assert_eq!(seen.len(), 10, "each killed its partner");
    set.retain(|key| {
        keys.pop();
        **key > 100
    });
    assert_eq!(set.len_live(), 0);
    set.purge();
    assert!(set.is_empty());
}

/// G109: Elements that own the set they are in: once the last handle from outside goes, all is freed,
/// and freed once.
fn elements_that_own_their_set_are_freed_once<P: Kind>() {
    struct Member<P: Kind>(OnceCell<Rc<WeakSet<P::Strong<Member<P>>>>>);
    let start = heap::bytes();
    let members: Vec<_> = (0..3)
        .map(|_| new::<P, _>(Member::<P>(OnceCell::new())))
        .collect();
    let set: Rc<WeakSet<_>> = Rc::new(members.iter().collect());
    for member in &members {
        assert!(member.0.set(set.clone()).is_ok());
    }
    let (weak_set, first) = (Rc::downgrade(&set), downgrade(&members[0]));
    drop(set);
    assert_eq!(weak_set.upgrade().map(|set| set.len()), Some(3));
    drop(members);
    assert!(weak_set.upgrade().is_none() && !is_alive(&first));
    drop((weak_set, first));
    assert_eq!(heap::bytes(), start);
}
