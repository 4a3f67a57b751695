//! H. Weak values, under owned keys and weak ones (items 110–113, 116; 46 and 55 for values), and what a closure
//! that makes a value may do (9–12) where a value may be dead.
//!
//! The other behaviours of these maps are those of all collections, in A to F.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Barrier;
use std::thread;

use weakly::{Strong, WeakPairMap, WeakValueMap, collections::weak_value_map, reference::WeakKey};

use crate::collections::*;
use crate::common::{Counter, Key, Kind, downgrade, is_alive, new, panics, scaled};
use crate::for_each_kind;

for_each_weak_value!(
    kit: a_dead_value_is_as_if_never_inserted,
    a_returned_handle_keeps_the_value_alive,
    the_death_of_a_replaced_value_removes_nothing,
    a_value_that_dies_while_it_is_replaced_removes_nothing,
    a_value_made_for_a_dead_one_counts_once,
    a_maker_that_fails_leaves_no_trace,
    a_maker_may_end_the_values_of_others,
    try_insert_over_a_dead_value_inserts,
);

for_each_kind!(
    the_key_of_a_dead_value_is_dropped_when_it_is_reclaimed,
    a_key_object_stays_and_another_of_the_same_content_goes,
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

/// H110: When a value dies, its key reads as one that was never inserted, by every method.
fn a_dead_value_is_as_if_never_inserted(kit: Kit<dyn Mapping>) {
    let keys = kit.lives(4);
    let values = [10, 11].map(|n| kit.life(n));
    let mut map = kit.map(keys.iter().zip(&values));
    let [kept, dead] = values;
    drop(dead);
    for absent in [&keys[1], &keys[2]] {
        assert_eq!((map.get(absent), map.get_key_value(absent)), (None, None));
        assert!(!map.contains_key(absent));
        assert_eq!(
            (map.entry_look(absent), map.entry_modify(absent)),
            (None, None)
        );
        assert_eq!((map.remove(absent), map.remove_entry(absent)), (None, None));
        assert_eq!(map.entry_remove(absent), None);
        assert_eq!(map.insert(absent, &kept), None);
        assert_eq!(map.remove(absent), Some(10));
    }
    assert_eq!((map.len(), map.get(&keys[0])), (1, Some(10)));
}

/// H111: A lookup returns a strong pointer, which keeps the value alive.
fn a_returned_handle_keeps_the_value_alive(kit: Kit<dyn Lookup>) {
    let [key, value] = [1, 10].map(|n| kit.life(n));
    let mut map = kit.empty();
    map.insert(&key, &value);
    let found = map.strong(&key).unwrap();
    assert_eq!(value.counts().0, 2);
    drop(value);
    map.purge();
    assert_eq!((map.get(&key), map.len()), (Some(10), 1));
    assert_eq!(*map.expected(&key), 10);
    drop(found);
    assert_eq!(map.get(&key), None);
}

/// The lookups that return a strong pointer.
trait Lookup: Mapping {
    fn strong(&self, key: &Handle) -> Option<Handle>;
    fn expected(&self, key: &Handle) -> Handle;
}

impl<K: Known> Lookup for ValueMaps<K> {
    fn strong(&self, key: &Handle) -> Option<Handle> {
        self.get(&**key).map(K::handle)
    }
    fn expected(&self, key: &Handle) -> Handle {
        self.expect(&**key).handle()
    }
}

impl<K: Known> Lookup for PairsByKey<K> {
    fn strong(&self, key: &Handle) -> Option<Handle> {
        self.all.get(K::known(key)).map(K::handle)
    }
    fn expected(&self, key: &Handle) -> Handle {
        self.all.expect(K::known(key)).handle()
    }
}

/// H112, C46: The death of a value that was replaced never removes its replacement: not by `insert`, not by an
/// entry, not if it was removed first.
fn the_death_of_a_replaced_value_removes_nothing(kit: Kit<dyn Mapping>) {
    let ways: [fn(&mut dyn Mapping, &Handle, &Handle); 3] = [
        |map, key, new| assert_eq!(map.insert(key, new), Some(10)),
        |map, key, new| assert_eq!(map.entry_insert(key, new), Some(10)),
        |map, key, new| {
            assert_eq!(map.remove(key), Some(10));
            assert_eq!(map.insert(key, new), None);
        },
    ];
    for replace in ways {
        let [key, old, new] = [1, 10, 20].map(|n| kit.life(n));
        let mut map = kit.map([(&key, &old)]);
        replace(&mut *map, &key, &new);
        drop(old);
        assert_eq!(
            (map.get(&key), map.len(), map.pending_dead()),
            (Some(20), 1, 0)
        );
        map.purge();
        assert_eq!((map.get(&key), map.len()), (Some(20), 1));
        drop(new);
        assert_eq!((map.get(&key), map.len_live()), (None, 0));
        assert_eq!(map.pending_dead(), kit.notified(1));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}

/// H112, C46: Nor if the old value dies first, and its notice waits behind others until the replacement is
/// there.
fn a_value_that_dies_while_it_is_replaced_removes_nothing(kit: Kit<dyn Mapping>) {
    let [key, old, new] = [100, 10, 20].map(|n| kit.life(n));
    let (others, values) = (kit.lives(40), kit.lives(40));
    let mut map = kit.map(others.iter().zip(&values));
    map.insert(&key, &old);
    drop(old); // the first to die, and the last to be reclaimed
    drop(values);
    assert_eq!(map.pending_dead(), kit.notified(41));
    assert_eq!(map.insert(&key, &new), None);
    if kit.notifies {
        assert_eq!((map.len(), map.pending_dead() > 16), (1, true));
    }
    map.purge();
    assert_eq!(
        (map.get(&key), map.len(), map.pending_dead()),
        (Some(20), 1, 0)
    );
    drop(new);
    assert_eq!((map.get(&key), map.len()), (None, 1 - kit.notified(1)));
}

/// H116: A value made for a key whose value died is made as for an absent one, and counts once.
fn a_value_made_for_a_dead_one_counts_once(kit: Kit<dyn Mapping>) {
    let ways: [fn(&mut dyn Mapping, &Handle, &Handle) -> usize; 5] = [
        |map, key, value| map.get_or_insert(key, value),
        |map, key, value| map.get_or_insert_with(key, &mut || value),
        |map, key, value| map.try_get_or_insert_with(key, &mut || Ok(value)).unwrap(),
        |map, key, value| map.entry_or_insert(key, value),
        |map, key, value| map.entry_or_insert_with(key, &mut || value),
    ];
    for make in ways {
        let [key, old, new, spare] = [1, 10, 20, 30].map(|n| kit.life(n));
        let mut map = kit.map([(&key, &old)]);
        assert_eq!(make(&mut *map, &key, &spare), 10);
        drop(old);
        assert_eq!(make(&mut *map, &key, &new), 20);
        assert_eq!((map.get(&key), map.len(), map.len_live()), (Some(20), 1, 1));
        assert_eq!(make(&mut *map, &key, &spare), 20);
        map.purge();
        assert_eq!(
            (map.get(&key), map.len(), map.pending_dead()),
            (Some(20), 1, 0)
        );
        assert_eq!(spare.counts().0, 1);
    }
}

/// H116, A11: A closure that fails or panics leaves no trace, whether the key is new or its value dead.
fn a_maker_that_fails_leaves_no_trace(kit: Kit<dyn Mapping>) {
    let [key, other, value] = [1, 2, 10].map(|n| kit.life(n));
    let mut map = kit.map([(&other, &value)]);
    let capacity = map.capacity();
    map.insert(&key, &kit.life(20)); // dead by now
    for _ in 0..20 {
        assert_eq!(
            map.try_get_or_insert_with(&key, &mut || Err("no")),
            Err("no")
        );
        assert!(panics(
            || _ = map.get_or_insert_with(&key, &mut || panic!("no value"))
        ));
        assert!(panics(
            || _ = map.entry_or_insert_with(&key, &mut || panic!("no value"))
        ));
        let left = (map.len(), map.pending_dead(), map.capacity());
        assert_eq!(left, (1, 0, capacity));
        assert_eq!((map.get(&key), map.get(&other)), (None, Some(10)));
    }
    assert_eq!(key.counts(), (1, 0));
    assert_eq!(map.get_or_insert_with(&key, &mut || &value), 10);
    assert_eq!(map.len(), 2);
}

/// H116, A13: A closure may end the values of other keys: all effects are visible.
fn a_maker_may_end_the_values_of_others(kit: Kit<dyn Mapping>) {
    let (keys, value) = (kit.lives(30), kit.life(100));
    let mut values = kit.lives(29);
    let mut map = kit.map(keys.iter().zip(&values));
    let made = map.get_or_insert_with(&keys[29], &mut || {
        values.clear();
        &value
    });
    assert_eq!((made, map.len_live(), map.get(&keys[3])), (100, 1, None));
    assert!(!kit.notifies || (map.len(), map.pending_dead()) == (1, 29));
    map.purge();
    assert_eq!((map.len(), map.get(&keys[29])), (1, Some(100)));
}

/// H116: `try_insert` refuses to replace a live value, but not a dead one.
fn try_insert_over_a_dead_value_inserts(kit: Kit<dyn Mapping>) {
    let [key, old, new] = [1, 10, 20].map(|n| kit.life(n));
    let mut map = kit.map([(&key, &old)]);
    let (present, message) = map.try_insert(&key, &new).unwrap_err();
    assert_eq!(present, 10);
    assert!(message.contains("already has a value"));
    drop(old);
    assert_eq!(map.try_insert(&key, &new), Ok(()));
    assert_eq!((map.get(&key), map.len()), (Some(20), 1));
}

/// H110, C39: The key of a dead value is dropped when the entry is reclaimed; not by the death, not by a lookup.
/// If a value is inserted in the place of a dead one, the old key is dropped, and the new one stays.
fn the_key_of_a_dead_value_is_dropped_when_it_is_reclaimed<P: Kind>() {
    let [old, new] = [Counter::default(), Counter::default()];
    let value = new_value::<P>();
    let mut map = WeakValueMap::<Owned, Key<P>>::new();
    map.insert(Owned::new(1, &counted(&old)), &value);
    drop(value);
    assert!(map.get(&1).is_none() && !map.contains_key(&1));
    assert_eq!((map.keys().count(), old.get()), (0, 0));
    let value = new_value::<P>();
    map.insert(Owned::new(1, &counted(&new)), &value);
    assert_eq!((old.get(), new.get()), (1, 0));
    let (key, found) = map.get_key_value(&1).unwrap();
    assert_eq!(
        (key.number, P::Strong::addr(&found)),
        (1, P::Strong::addr(&value))
    );
    drop(found);
    drop(value);
    drop(map);
    assert_eq!((old.get(), new.get()), (1, 1));
}

fn new_value<P: Kind>() -> Key<P> {
    new::<P, usize>(7)
}

/// H112, A3: As in std's map: an equal key that comes with a new value is dropped, the existing one stays.
fn a_key_object_stays_and_another_of_the_same_content_goes<P: Kind>() {
    let [first, second] = [Counter::default(), Counter::default()];
    let [one, other] = [new_value::<P>(), new_value::<P>()];
    let mut map = WeakValueMap::<Owned, Key<P>>::new();
    map.insert(Owned::new(1, &counted(&first)), &one);
    map.insert(Owned::new(1, &counted(&second)), &other);
    assert_eq!((first.get(), second.get(), map.len()), (0, 1, 1));
    let weak_value_map::Entry::Occupied(entry) = map.entry(Owned::new(1, &counted(&second))) else {
        panic!("its value lives");
    };
    let (given, value) = entry.remove_entry();
    assert_eq!(
        (first.get(), second.get()),
        (1, 1),
        "the key comes back as it was given"
    );
    assert_eq!(P::Strong::addr(&value), P::Strong::addr(&other));
    drop(given);
    assert_eq!((second.get(), map.len()), (2, 0));
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
