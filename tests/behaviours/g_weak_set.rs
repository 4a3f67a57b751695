//! G. The weak sets (items 103–106, 109): by identity, and by content. The model states the others.
//!
//! 101: there is no silent `discard`; `remove` returns whether the element was there.

use std::cell::OnceCell;
use std::rc::Rc;

use weakly::{Strong, WeakHashSet, WeakSet};

use crate::common::subject::sorted;
use crate::common::{Kind, downgrade, is_alive, new};
use crate::{for_each_kind, heap};

for_each_kind!(elements_that_own_their_set_are_freed_once);

fn numbers(set: impl IntoIterator<Item = Strong<usize>>) -> Vec<usize> {
    sorted(set.into_iter().map(|element| *element))
}

/// The tests of set algebra, of this type of set.
macro_rules! algebra {
    ($($name:ident: $set:ident;)*) => {$(
        mod $name {
            use super::*;

            type Set = $set<Strong<usize>>;

            /// Union, intersection, difference and symmetric difference: by methods and by operators.
            fn all(one: &Set, other: &Set) -> [Vec<usize>; 4] {
                let by_methods = [
                    numbers(one.union(other)),
                    numbers(one.intersection(other)),
                    numbers(one.difference(other)),
                    numbers(one.symmetric_difference(other)),
                ];
                let by_operators = [one | other, one & other, one - other, one ^ other];
                assert_eq!(by_operators.map(numbers), by_methods);
                by_methods
            }

            /// G103: Operations of two sets leave these as they are; the results lose what dies.
            #[test]
            fn operations_of_two() {
                let mut lives: Vec<_> = (0..6).map(Strong::new).collect();
                let (one, other): (Set, Set) =
                    (lives[..4].iter().collect(), lives[2..].iter().collect());
                let expected = [&[0, 1, 2, 3, 4, 5][..], &[2, 3], &[0, 1], &[0, 1, 4, 5]];
                assert_eq!(all(&one, &other), expected);
                let itself = [&[0, 1, 2, 3][..], &[0, 1, 2, 3], &[], &[]];
                assert_eq!(all(&one, &one), itself);
                let result = &one ^ &other;
                // The clone of an iterator goes on from there, on its own.
                let mut iterator = one.symmetric_difference(&other);
                assert!(iterator.next().is_some());
                let clone = iterator.clone();
                assert_eq!((iterator.count(), clone.count()), (3, 3));
                lives.retain(|life| **life % 2 == 1);
                let live = [&[1, 3, 5][..], &[3], &[1], &[1, 5]];
                assert_eq!(all(&one, &other), live);
                assert_eq!(numbers(result), [1, 5]);
                assert_eq!((numbers(one), numbers(other)), (vec![1, 3], vec![3, 5]));
            }

            /// G105, G106: Subset, superset, disjoint and equality, of proper, equal and empty ones, with the dead.
            #[test]
            fn comparisons_of_two() {
                let mut lives: Vec<_> = (0..5).map(Strong::new).collect();
                let set = |lives: &[Strong<usize>]| -> Set { lives.iter().collect() };
                let (some, all) = (set(&lives[..2]), set(&lives[..4]));
                let (others, none) = (set(&lives[4..]), set(&[]));
                assert!(some.is_subset(&all) && all.is_superset(&some) && some != all);
                assert!(!all.is_subset(&some) && !some.is_superset(&all));
                assert!(all.is_subset(&all) && all.is_superset(&all) && all == all.clone());
                assert!(some.is_disjoint(&others) && !some.is_disjoint(&all));
                assert!(none.is_subset(&some) && some.is_superset(&none) && !some.is_subset(&none));
                assert!(none.is_disjoint(&none) && none.is_disjoint(&all) && none.is_subset(&none));
                lives.drain(2..4);
                assert!(all.is_subset(&some) && all == some, "what was more is dead");
                lives.clear();
                assert!(all.is_subset(&none) && all.is_disjoint(&all) && all == none);
            }
        }
    )*};
}

algebra! {
    by_identity: WeakSet;
    by_content: WeakHashSet;
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
