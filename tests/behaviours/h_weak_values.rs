//! H. Weak values, under owned keys and weak ones (items 110–113, 116; 46 and 55 for values), and what a closure
//! that makes a value may do (9–12) where a value may be dead.
//!
//! The other behaviours of these maps are those of all collections, in A to F.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Barrier;
use std::thread;

use weakly::{Strong, WeakPairMap, WeakValueMap, collections::weak_value_map};

use crate::common::{Key, Kind, downgrade, is_alive, new, panics, scaled};
use crate::for_each_kind;

for_each_kind!(
    a_dying_value_is_not_found_in_its_own_destructor,
    an_occupied_entry_keeps_its_value,
    values_are_retained_by_themselves,
);

/// Values of the dead are not shown; what is not visited, when the closure panics, stays.
fn values_are_retained_by_themselves<P: Kind>() {
    let mut lives: Vec<Key<P>> = (0..8).map(new::<P, _>).collect();
    let mut by_name: WeakValueMap<_, _> = lives.iter().map(|life| (**life, life)).collect();
    let mut by_life: WeakPairMap<_, _> = lives.iter().map(|life| (life, life)).collect();
    lives.truncate(6);
    let mut seen = Vec::new();
    by_name.retain_values(|life| {
        seen.push(**life);
        **life % 2 == 0
    });
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    assert!(
        lives
            .iter()
            .all(|life| by_name.contains_key(&**life) == (**life % 2 == 0))
    );
    by_life.retain_values(|life| **life % 2 == 1);
    assert!(
        lives
            .iter()
            .all(|life| by_life.contains_key(life) == (**life % 2 == 1))
    );
    assert!(panics(
        || by_name.retain_values(|_| crate::common::quiet_panic())
    ));
    assert_eq!((by_name.len_live(), by_life.len_live()), (3, 3));
    drop(lives);
    assert_eq!((by_name.len_live(), by_life.len_live()), (0, 0));
}

/// C55, C47: In its own destructor a value is not found any more: there is no strong pointer to return.
fn a_dying_value_is_not_found_in_its_own_destructor<P: Kind>() {
    type Shared<P> = Rc<RefCell<WeakValueMap<usize, <P as Kind>::Strong<Dying<P>>>>>;
    struct Dying<P: Kind>(Shared<P>);
    impl<P: Kind> Drop for Dying<P> {
        fn drop(&mut self) {
            let mut map = self.0.borrow_mut();
            assert!(!map.contains_key(&1));
            assert!(map.get(&1).is_none() && map.get_key_value(&1).is_none());
            assert!(map.iter().next().is_none() && map.keys().next().is_none());
            assert_eq!(map.len_live(), 0);
            assert!(map.remove(&1).is_none() && map.pop().is_none());
            assert!(matches!(map.entry(1), weak_value_map::Entry::Vacant(_)));
        }
    }
    let map = Shared::<P>::default();
    let value = new::<P, _>(Dying::<P>(map.clone()));
    map.borrow_mut().insert(1, &value);
    map.borrow_mut().insert(2, &value);
    drop(value);
    map.borrow_mut().purge();
    assert_eq!((map.borrow().len(), map.borrow().pending_dead()), (0, 0));
}

/// H111: An occupied entry keeps its value alive while it is open, and returns it.
fn an_occupied_entry_keeps_its_value<P: Kind>() {
    let [key, value, other] = [1, 10, 20].map(new::<P, usize>);
    let weak = downgrade(&value);
    let mut map = WeakPairMap::from([(&key, &value)]);
    let weakly::collections::weak_pair_map::Entry::Occupied(entry) = map.entry(&key) else {
        panic!("both live");
    };
    drop(value);
    assert_eq!((**entry.get(), ***entry.key()), (10, 1));
    assert_eq!(*entry.insert(&other), 10);
    assert!(!is_alive(&weak));
    assert_eq!((map.len(), map.get(&key).as_deref()), (1, Some(&20)));
    map.purge();
    assert_eq!(map.len(), 1);
}

/// H113: While another thread lets values die, every lookup and insertion gets a live value of its key; removals
/// and replacements affect no other.
#[test]
fn values_that_die_elsewhere_are_made_again() {
    let rounds = scaled(300, 5);
    let barrier = Barrier::new(2);
    let (send, receive) = std::sync::mpsc::channel::<Strong<usize>>();
    let mut map = WeakValueMap::<usize, Strong<usize>>::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            receive.into_iter().for_each(drop);
        });
        barrier.wait();
        for round in 0..rounds {
            for key in 0..20 {
                let value = map.get_or_insert_with(key, |key| Strong::new(*key));
                assert_eq!(*value, key);
                let again = map.get(&key).expect("it is kept alive");
                assert!(Strong::ptr_eq(&again, &value));
                match (key + round) % 4 {
                    0 => assert_eq!(map.remove(&key).as_deref(), Some(&key)),
                    1 => {
                        let new = Strong::new(key);
                        let old = map.insert(key, &new).expect("it is kept alive");
                        assert!(Strong::ptr_eq(&old, &value));
                        send.send(new).unwrap();
                    }
                    _ => {}
                }
                // Both are the last handle, or not: this thread's or the other's.
                send.send(again).unwrap();
                drop(value);
            }
            assert!(map.len() <= 20);
        }
        drop(send);
    });
    assert_eq!((map.len(), map.len_live()), (0, 0));
    map.purge();
    assert_eq!(map.pending_dead(), 0);
}

/// H110: A value without an owner leaves nothing, also where it is passed by value; one that is returned lives
/// as long as it is kept.
#[test]
fn a_value_given_by_value_is_dropped_as_it_goes_in() {
    let mut map: WeakValueMap<_, _> = [
        ("a".to_owned(), Strong::new(1_usize)),
        ("b".to_owned(), Strong::new(2_usize)),
    ]
    .into();
    assert!(map.is_empty());
    let kept = map.get_or_insert("c".to_owned().to_owned(), Strong::new(3_usize));
    map.extend([("a".to_owned(), kept.clone())]);
    assert_eq!((map.len(), *map.expect("a")), (2, 3));
    drop(kept);
    assert_eq!((map.len(), map.get("a")), (0, None));
}
