//! What is removed or replaced is alive at that moment, or was dead before: though another user of the object sees it gone, and
//! drops the last handle, before the operation returns it.
//!
//! The other user is called when the collection asks whether the object is dead: another thread could come at each such moment.

use std::rc::Rc;

use weakly::concurrent::{WeakHashMap, WeakHashSet, WeakMap, WeakSet, WeakValueMap};
use weakly::reference::WeakKey;

use crate::common::custom::{Custom, On, with_callback};
use crate::common::lease::{Lease, WeakLease};

/// Equal to all others.
fn content(number: usize) -> Custom {
    Custom::from(number).equal(|_, _| true)
}

fn lease(number: usize) -> Lease {
    content(number).into()
}

/// Changes a collection, while another user has the last handle to the object, until it sees that gone.
fn beside_the_last_user<M: 'static, R>(
    all: M,
    object: Lease,
    is_there: impl Fn(&M, &WeakLease) -> bool + 'static,
    change: impl FnOnce(&M) -> R,
) -> R {
    let (all, weak) = (Rc::new(all), Lease::downgrade(&object));
    let (seen, mut last) = (Rc::clone(&all), Some(object));
    let user = move |on, _: *const ()| {
        if on == On::Asked && last.is_some() && !is_there(&seen, &weak) {
            last = None;
        }
    };
    with_callback(user, || change(&all))
}

fn number(object: Option<Lease>) -> Option<usize> {
    object.map(|object| object.number)
}

/// 157: A value.
#[test]
fn of_a_map_with_weak_values() {
    type Map = WeakValueMap<Custom, Lease>;
    let new = lease(2);
    let changes: [fn(&Map, &Lease) -> Option<Lease>; 4] = [
        |map, new| map.insert(0.into(), new),
        |map, _| map.remove(&Custom::from(0)),
        |map, _| map.remove_entry(&Custom::from(0)).map(|(_, value)| value),
        |map, _| map.remove_if(&Custom::from(0), |_| true),
    ];
    for change in changes {
        let (map, old) = (Map::new(), lease(1));
        map.insert(0.into(), &old);
        let is_there = |map: &Map, _: &_| number(map.get(&Custom::from(0))) == Some(1);
        let shown = beside_the_last_user(map, old, is_there, |map| number(change(map, &new)));
        assert_eq!(shown, Some(1));
    }
}

/// 157: A key that comes back.
#[test]
fn of_a_map_and_a_set() {
    let key = lease(1);
    let weak = Lease::downgrade(&key);
    let map = WeakMap::from([(&key, content(7))]);
    let is_there = |map: &WeakMap<Lease, Custom>, key: &_| map.contains_key(key);
    let removed = beside_the_last_user(map, key, is_there, |map| map.remove_entry(&weak));
    assert_eq!(
        removed.map(|(key, value)| (key.number, value.number)),
        Some((1, 7))
    );

    let key = lease(1);
    let weak = Lease::downgrade(&key);
    let set = WeakSet::from([&key]);
    let is_there = |set: &WeakSet<Lease>, key: &_| set.contains(key);
    let taken = beside_the_last_user(set, key, is_there, |set| set.take(&weak));
    assert_eq!(number(taken), Some(1));
}

/// 157: A key of equal content.
#[test]
fn of_a_map_and_a_set_by_content() {
    let (old, new) = (lease(1), lease(2));
    let map = WeakHashMap::new();
    map.insert(&old, content(1));
    let is_there = |map: &WeakHashMap<Lease, Custom>, _: &_| {
        map.get(&content(0)).is_some_and(|value| value.number == 1)
    };
    let is_first = beside_the_last_user(map, old, is_there, |map| map.insert(&new, content(2)));
    assert!(!is_first);

    let old = lease(1);
    let set = WeakHashSet::new();
    set.insert(&old);
    let is_there = |set: &WeakHashSet<Lease>, _: &_| number(set.get(&content(0))) == Some(1);
    let replaced = beside_the_last_user(set, old, is_there, |set| set.replace(&new));
    assert_eq!(number(replaced), Some(1));
}
