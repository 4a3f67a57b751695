//! A. Map basics: a value moves to the key that takes the place of another.

use std::cell::RefCell;
use std::rc::Rc;

use weakly::ptr::Strong;
use weakly::{WeakHashMap, WeakHashPairMap, WeakMap, WeakPairMap};

use crate::common::{Counter, Key, Kind, Map, Own, downgrade, keys, new};
use crate::{for_each_flavour, for_each_kind};

for_each_kind!(
    a_value_moves_with_its_life,
    a_transfer_of_nothing_changes_nothing,
    all_values_move_through_a_growing_table,
    a_value_moves_to_another_content,
    a_weak_value_moves,
);

for_each_flavour!(a_dying_key_leaves_its_value_to_another);

/// A650: It is not cloned and not destroyed, what the other key had comes back, and the entry lives as long as that key.
fn a_value_moves_with_its_life<P: Kind>() {
    struct Unique(usize);
    let [from, to, other] = [0, 1, 2].map(new::<P, usize>);
    let mut map = Map::<P, Unique>::new();
    map.insert(&from, Unique(10));
    map.insert(&other, Unique(12));
    assert!(map.transfer(&from, &to).is_none() && map.get(&from).is_none());
    map.insert(&from, Unique(20));
    // By a weak handle, which identifies the key, too.
    let replaced = map.transfer(&downgrade(&from), &to);
    assert_eq!(replaced.map(|value| value.0), Some(10));
    assert_eq!((map.len(), map[&to].0), (2, 20));
    drop(from);
    map.purge();
    assert_eq!((map.len(), map[&to].0), (2, 20));
    drop(to);
    map.purge();
    assert_eq!((map.len(), map[&other].0), (1, 12));
}

/// A650: Nor does one to the same key: the value stays, and was not replaced.
fn a_transfer_of_nothing_changes_nothing<P: Kind>() {
    let (keys, dropped) = (keys::<P>(3), Counter::default());
    let mut map = Map::<P, _>::new();
    assert!(map.transfer(&keys[0], &keys[1]).is_none());
    assert!(map.is_empty());
    map.insert(&keys[1], dropped.witness());
    assert!(map.transfer(&keys[0], &keys[1]).is_none());
    assert!(map.transfer(&keys[1], &keys[1]).is_none());
    let expired = downgrade(&new::<P, usize>(7));
    assert!(map.transfer(&expired, &keys[1]).is_none());
    assert_eq!((map.len(), dropped.get()), (1, 0));
    assert!(map.contains_key(&keys[1]));
}

/// A650, C47: In the destructor of the key, by plain reference.
fn a_dying_key_leaves_its_value_to_another<F: Own>() {
    struct Node<F: Own>(Option<Heir<F>>);
    struct Heir<F: Own>(Rc<RefCell<Values<F>>>, Strong<Node<F>, F>);
    type Values<F> = WeakMap<Strong<Node<F>, F>, Vec<usize>>;
    impl<F: Own> Drop for Node<F> {
        fn drop(&mut self) {
            if let Some(Heir(map, heir)) = self.0.take() {
                assert_eq!(map.borrow_mut().transfer(self, &heir), None);
            }
        }
    }
    let map = Rc::<RefCell<Values<F>>>::default();
    let heir = Strong::<_, F>::new(Node(None));
    let dies = Strong::<_, F>::new(Node(Some(Heir(map.clone(), heir.clone()))));
    map.borrow_mut().insert(&dies, vec![7]);
    drop(dies);
    assert_eq!(map.borrow().get(&heir), Some(&vec![7]));
    assert_eq!((map.borrow().len(), map.borrow().pending_dead()), (1, 0));
    drop(heir);
    assert!(map.borrow().is_empty());
}

/// A650: None is lost, whichever of the keys have values, and while tombstones fill the table.
fn all_values_move_through_a_growing_table<P: Kind>() {
    let (old, new) = (keys::<P>(500), keys::<P>(500));
    let mut map: Map<P, usize> = old.iter().zip(0..).collect();
    map.shrink_to_fit();
    for (at, (from, to)) in old.iter().zip(&new).enumerate() {
        if at % 3 == 0 {
            map.insert(to, 1_000);
        }
        let replaced = map.transfer(from, to);
        assert_eq!(replaced, (at % 3 == 0).then_some(1_000));
    }
    drop(old);
    map.purge();
    assert_eq!(map.len(), 500);
    assert!(new.iter().zip(0..).all(|(key, at)| map[key] == at));
}

/// A651: Of a map by content. To an equal content nothing moves but the life of the entry.
fn a_value_moves_to_another_content<P: Kind>() {
    let [one, two, again] = [1, 2, 1].map(new::<P, usize>);
    let mut map = WeakHashMap::<Key<P>, &str>::new();
    map.insert(&one, "one");
    assert_eq!(map.transfer(&1, &two), None);
    assert_eq!((map.get(&1), map.get(&2)), (None, Some(&"one")));
    assert_eq!(map.transfer(&2, &one), None);
    map.insert(&two, "two");
    assert_eq!(map.transfer(&2, &one), Some("one"));
    assert_eq!(map.transfer(&3, &one), None);
    assert_eq!((map.len(), map.get(&1)), (1, Some(&"two")));
    assert_eq!(map.transfer(&1, &again), None);
    drop(one);
    map.purge();
    assert_eq!((map.len(), map.get(&1)), (1, Some(&"two")));
    drop(again);
    map.purge();
    assert!(map.is_empty());
}

/// A650, A651: Of maps with weak values, which no transfer keeps alive. A dead value does not move.
fn a_weak_value_moves<P: Kind>()
where
    Key<P>: PartialEq,
{
    let [from, to, same] = [1, 2, 1].map(new::<P, usize>);
    let values = keys::<P>(2);
    let mut pairs = WeakPairMap::<Key<P>, Key<P>>::new();
    let mut contents = WeakHashPairMap::<Key<P>, Key<P>>::new();
    pairs.insert(&from, &values[0]);
    contents.insert(&from, &values[0]);
    assert!(pairs.transfer(&from, &to).is_none() && contents.transfer(&1, &to).is_none());
    assert!(pairs.get(&from).is_none() && contents.get(&1).is_none());
    pairs.insert(&from, &values[1]);
    contents.insert(&from, &values[1]);
    assert!(pairs.transfer(&from, &to).as_ref() == Some(&values[0]));
    assert!(contents.transfer(&1, &to).as_ref() == Some(&values[0]));
    assert!(pairs.transfer(&to, &to).is_none() && contents.transfer(&2, &to).is_none());
    contents.transfer(&2, &from);
    assert!(contents.transfer(&1, &same).is_none());
    drop(from);
    assert!(pairs.get(&to).as_ref() == Some(&values[1]));
    assert!(contents.get(&1).as_ref() == Some(&values[1]));
    assert_eq!(P::counts(&values[1]).0, 1);
    drop(values);
    assert!(pairs.transfer(&to, &same).is_none() && contents.transfer(&1, &to).is_none());
    pairs.purge();
    contents.purge();
    assert_eq!((pairs.len(), contents.len()), (0, 0));
}
