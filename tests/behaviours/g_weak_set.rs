//! G. The weak sets (items 100–109): by identity, and by content.
//!
//! 101: there is no silent `discard`; `remove` returns whether the element was there. 104: an operation of a set
//! with itself in place (`a |= &a`) does not compile; here a copy takes its place.

use std::cell::OnceCell;
use std::rc::Rc;

use weakly::WeakSet;

use crate::collections::*;
use crate::common::{Kind, downgrade, is_alive, new};
use crate::{for_each_kind, heap};

for_each_set!(
    kit: insert_returns_whether_the_element_is_new,
    remove_returns_whether_the_element_was_there,
    a_temporary_element_is_gone_at_once,
    algebra_leaves_its_inputs_and_loses_the_dead,
    algebra_in_place,
    subset_superset_disjoint,
    sets_are_equal_by_their_live_members,
    pop_until_empty,
    elements_may_die_while_the_set_is_iterated,
);

for_each_kind!(
    elements_that_own_their_set_are_freed_once,
    an_iterator_of_two_sets_can_be_cloned,
);

/// Set algebra, as numbers.
pub(crate) trait Algebra: Changing {
    fn insert(&mut self, life: &Handle) -> bool;
    fn get(&self, life: &Handle) -> Option<Handle>;
    fn take(&mut self, life: &Handle) -> Option<Handle>;
    /// Union, intersection, difference, symmetric difference: by the methods.
    fn methods(&self, other: &dyn Algebra) -> [Vec<usize>; 4];
    /// The same by the operators.
    fn operators(&self, other: &dyn Algebra) -> [Box<dyn Algebra>; 4];
    /// The same in place.
    fn in_place(&self, other: &dyn Algebra) -> [Box<dyn Algebra>; 4];
    fn is_subset(&self, other: &dyn Algebra) -> bool;
    fn is_superset(&self, other: &dyn Algebra) -> bool;
    fn is_disjoint(&self, other: &dyn Algebra) -> bool;
    /// By its `Clone`.
    fn copy_set(&self) -> Box<dyn Algebra>;
}

copied!(Algebra::copy_set);

/// The other set, which is of the same type.
fn same<C: Changing>(other: &dyn Algebra) -> &C {
    other.as_any().downcast_ref().unwrap()
}

macro_rules! algebra {
    ($name:ident, |$life:ident| $by:expr) => {
        impl<K: Known> Algebra for $name<K> {
            fn insert(&mut self, life: &Handle) -> bool {
                self.insert(K::known(life))
            }
            fn get(&self, $life: &Handle) -> Option<Handle> {
                self.get($by).map(K::handle)
            }
            fn take(&mut self, $life: &Handle) -> Option<Handle> {
                self.take($by).map(K::handle)
            }
            fn methods(&self, other: &dyn Algebra) -> [Vec<usize>; 4] {
                let other = same(other);
                [
                    sorted(self.union(other).map(|life| *life)),
                    sorted(self.intersection(other).map(|life| *life)),
                    sorted(self.difference(other).map(|life| *life)),
                    sorted(self.symmetric_difference(other).map(|life| *life)),
                ]
            }
            fn operators(&self, other: &dyn Algebra) -> [Box<dyn Algebra>; 4] {
                let other = same(other);
                [self | other, self & other, self - other, self ^ other]
                    .map(|set| -> Box<dyn Algebra> { Box::new(set) })
            }
            fn in_place(&self, other: &dyn Algebra) -> [Box<dyn Algebra>; 4] {
                let other = same(other);
                let mut results = [(); 4].map(|()| self.clone());
                results[0] |= other;
                results[1] &= other;
                results[2] -= other;
                results[3] ^= other;
                results.map(|set| -> Box<dyn Algebra> { Box::new(set) })
            }
            fn is_subset(&self, other: &dyn Algebra) -> bool {
                self.is_subset(same(other))
            }
            fn is_superset(&self, other: &dyn Algebra) -> bool {
                self.is_superset(same(other))
            }
            fn is_disjoint(&self, other: &dyn Algebra) -> bool {
                self.is_disjoint(same(other))
            }
            fn copy_set(&self) -> Box<dyn Algebra> {
                Box::new(self.clone())
            }
        }
    };
}

algebra!(Sets, |life| K::known(life));
algebra!(HashSets, |life| &**life);

/// G100: Insert is idempotent, and returns whether the element is new: by identity, or by content.
fn insert_returns_whether_the_element_is_new(kit: Kit<dyn Algebra>) {
    let [a, b] = [1, 1].map(|n| kit.life(n));
    let mut set = kit.empty();
    assert!(set.insert(&a));
    assert!(!set.insert(&a.clone()));
    assert_eq!(set.insert(&b), !kit.by_content);
    assert_eq!(set.len(), 2 - usize::from(kit.by_content));
    assert!(set.contains(&a));
    assert_eq!(a.counts(), (1, 1));
    assert_eq!(b.counts().1, usize::from(!kit.by_content));
}

/// G101: Remove returns whether the element was there; `take` returns the element.
fn remove_returns_whether_the_element_was_there(kit: Kit<dyn Algebra>) {
    let [a, b] = [1, 2].map(|n| kit.life(n));
    let mut set = kit.of([&a], &quietly());
    assert!(!set.drop_out(&b));
    assert!(set.drop_out(&a));
    assert!(!set.drop_out(&a));
    set.insert(&a);
    assert_eq!(set.get(&a).as_deref(), Some(&1));
    assert_eq!(set.take(&a).as_deref(), Some(&1));
    assert!(set.take(&a).is_none() && set.get(&a).is_none());
}

/// G102: A temporary element is gone at once.
fn a_temporary_element_is_gone_at_once(kit: Kit<dyn Algebra>) {
    let mut set = kit.of(&[kit.life(1)], &quietly());
    assert!(set.insert(&kit.life(2)));
    assert_eq!((set.len_live(), set.iter().count()), (0, 0));
    set.purge();
    assert!(set.is_empty());
}

/// G103: Union, intersection, difference and symmetric difference leave their inputs unchanged; the results lose
/// elements as these die.
fn algebra_leaves_its_inputs_and_loses_the_dead(kit: Kit<dyn Algebra>) {
    let mut lives = kit.lives(6);
    let (a, b) = (
        kit.of(&lives[..4], &quietly()),
        kit.of(&lives[2..], &quietly()),
    );
    let expected = [&[0, 1, 2, 3, 4, 5][..], &[2, 3], &[0, 1], &[0, 1, 4, 5]];
    assert_eq!(a.methods(&*b), expected);
    let results = a.operators(&*b);
    assert_eq!(results.each_ref().map(|set| set.len()), [6, 2, 2, 4]);
    assert_eq!(results.each_ref().map(|set| set.numbers()), expected);
    assert_eq!((a.len(), b.len()), (4, 4));
    lives.retain(|life| **life % 2 == 1);
    let live = results.map(|result| result.numbers());
    assert_eq!(live, [&[1, 3, 5][..], &[3], &[1], &[1, 5]]);
    assert_eq!(a.methods(&*b), live);
    assert_eq!((a.numbers(), b.numbers()), (vec![1, 3], vec![3, 5]));
}

/// G104: The same in place, also with an equal set.
fn algebra_in_place(kit: Kit<dyn Algebra>) {
    let mut lives = kit.lives(6);
    let (a, b) = (
        kit.of(&lives[..4], &quietly()),
        kit.of(&lives[2..], &quietly()),
    );
    lives.remove(3);
    let expected = [&[0, 1, 2, 4, 5][..], &[2], &[0, 1], &[0, 1, 4, 5]];
    assert_eq!(a.in_place(&*b).map(|result| result.numbers()), expected);
    let with_itself = [&[0, 1, 2][..], &[0, 1, 2], &[], &[]];
    assert_eq!(a.in_place(&*a).map(|result| result.numbers()), with_itself);
}

/// G105: Subset, superset and disjoint, with proper ones, equal ones, empty ones and dead elements.
fn subset_superset_disjoint(kit: Kit<dyn Algebra>) {
    let mut lives = kit.lives(5);
    let (some, all, others) = (
        kit.of(&lives[..2], &quietly()),
        kit.of(&lives[..4], &quietly()),
        kit.of(&lives[4..], &quietly()),
    );
    let empty = kit.empty();
    assert!(some.is_subset(&*all) && all.is_superset(&*some));
    assert!(!all.is_subset(&*some) && !some.is_superset(&*all));
    assert!(all.is_subset(&*all) && all.is_superset(&*all));
    assert!(some.is_disjoint(&*others) && !some.is_disjoint(&*all));
    assert!(empty.is_subset(&*some) && some.is_superset(&*empty) && !some.is_subset(&*empty));
    assert!(empty.is_disjoint(&*empty) && empty.is_disjoint(&*all) && empty.is_subset(&*empty));
    lives.drain(2..4);
    assert!(all.is_subset(&*some), "what was more is dead");
    lives.clear();
    assert!(all.is_subset(&*empty) && all.is_disjoint(&*all));
}

/// G106: Sets are equal if their live elements are the same objects, or have equal contents.
fn sets_are_equal_by_their_live_members(kit: Kit<dyn Algebra>) {
    let (mut lives, mut twins) = (kit.lives(3), kit.lives(3));
    let (all, some, others) = (
        kit.of(&lives, &quietly()),
        kit.of(&lives[..2], &quietly()),
        kit.of(&twins, &quietly()),
    );
    assert!(all == all.clone() && all != some && some != all);
    assert_eq!(all == others, kit.by_content);
    assert_eq!(all.is_subset(&*others), kit.by_content);
    twins.pop();
    assert!(all != others && others != all);
    lives.pop();
    assert!(all == some && some == all);
    assert_eq!(all == others, kit.by_content);
}

/// G107: `pop` returns each live element once, until the set is empty.
fn pop_until_empty(kit: Kit<dyn Algebra>) {
    let (mut set, mut lives) = kit.numbered(20);
    lives.truncate(15);
    let popped = sorted(std::iter::from_fn(|| set.pop()).map(|life| *life));
    assert_eq!(popped, (0..15).collect::<Vec<_>>());
    assert!(set.pop().is_none());
    assert_eq!(set.len_live(), 0);
}

/// G108: Elements may die, and be removed, during an iteration over the set.
fn elements_may_die_while_the_set_is_iterated(kit: Kit<dyn Algebra>) {
    let (mut set, mut lives) = kit.numbered(20);
    let mut seen = Vec::new();
    for life in set.iter() {
        seen.push(*life);
        lives.retain(|other| **other != *life ^ 1);
    }
    assert_eq!(seen.len(), 10, "each killed its partner");
    set.retain(&mut |number| {
        lives.pop();
        number > 100
    });
    assert_eq!(set.len_live(), 0);
    set.purge();
    assert!(set.is_empty());
}

/// G109: Elements that own the set they are in: once the last outside handle is dropped, everything is freed,
/// once.
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

/// G103: The clone goes on from there, on its own.
fn an_iterator_of_two_sets_can_be_cloned<P: Kind>() {
    let all: Vec<_> = (0..6).map(new::<P, usize>).collect();
    let (one, other): (WeakSet<_>, WeakSet<_>) =
        (all[..4].iter().collect(), all[2..].iter().collect());
    macro_rules! check {
        ($($method:ident, $count:literal;)*) => {$(
            let mut iterator = one.$method(&other);
            assert!(iterator.next().is_some());
            let clone = iterator.clone();
            assert_eq!(iterator.count(), $count - 1, stringify!($method));
            assert_eq!(clone.count(), $count - 1, stringify!($method));
        )*};
    }
    check! { union, 6; intersection, 2; difference, 2; symmetric_difference, 4; }
}
