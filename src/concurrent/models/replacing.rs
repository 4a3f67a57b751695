//! What is replaced or removed, against the last user of its object: that user has seen the entry
//! gone (T6 of the table, R5 of `raw`).

use super::*;
use crate::Reclaim;
use crate::concurrent::{WeakHashMap, WeakHashSet};

type Set = WeakHashSet<Strong<u32>, BuildHasherDefault<DefaultHasher>>;

/// A map with an entry, and its object.
fn with_entry(maker: &Maker) -> (Arc<Map>, Strong<Payload>) {
    let (map, a) = (Arc::new(Map::default()), maker.object());
    map.insert(0, &a);
    (map, a)
}

/// Another thread drops the object as soon as the entry is another or none, and not before.
fn returned_against_the_last_user(
    change: impl Fn(&Map) -> Option<Strong<Payload>> + Send + Sync + 'static,
) {
    check(1, move |maker| {
        let (map, a) = with_entry(maker);
        let other = Arc::clone(&map);
        let last_user = move || {
            let is_there = other.get(&0).is_some_and(|now| Strong::ptr_eq(&now, &a));
            is_there.then_some(a)
        };
        let (kept, old) = both(last_user, || change(&map));
        assert!(old.is_some(), "it was there when it was replaced");
        drop((kept, old));
    });
}

#[test]
fn remove_against_the_last_user() {
    returned_against_the_last_user(|map| map.remove(&0));
}

#[test]
fn remove_if_against_the_last_user() {
    returned_against_the_last_user(|map| map.remove_if(&0, |_| true));
}

#[test]
fn insert_against_the_last_user() {
    check(2, move |maker| {
        let (map, a) = with_entry(maker);
        let b = maker.object();
        let other = Arc::clone(&map);
        let last_user = move || {
            let is_there = other.get(&0).is_some_and(|now| Strong::ptr_eq(&now, &a));
            is_there.then_some(a)
        };
        let (kept, old) = both(last_user, || map.insert(0, &b));
        assert!(old.is_some(), "it was there when it was replaced");
        drop((kept, old));
    });
}

/// Another thread replaces the object, and drops it: there is an entry all the time.
fn there_while_it_is_replaced(ask: impl Fn(&Map) -> bool + Send + Sync + 'static) {
    check(2, move |maker| {
        let (map, a) = with_entry(maker);
        let b = maker.object();
        let other = Arc::clone(&map);
        let replace = move || {
            drop(other.insert(0, &b));
            drop(a);
            b
        };
        let (b, found) = both(replace, || ask(&map));
        assert!(found, "there is one all the time");
        drop(b);
    });
}

#[test]
fn get_while_it_is_replaced() {
    there_while_it_is_replaced(|map| map.get(&0).is_some());
}

#[test]
fn contains_key_while_it_is_replaced() {
    there_while_it_is_replaced(|map| map.contains_key(&0));
}

#[test]
fn remove_if_while_it_is_replaced() {
    there_while_it_is_replaced(|map| map.remove_if(&0, |_| true).is_some());
}

/// The same of an element by content, which another of the same content replaces.
fn there_while_an_equal_one_replaces_it(
    make: impl Fn() -> Set + Send + Sync + 'static,
    ask: impl Fn(&Set) -> bool + Send + Sync + 'static,
) {
    check(0, move |_| {
        let (set, a, b) = (Arc::new(make()), Strong::new(7), Strong::new(7));
        set.insert(&a);
        let other = Arc::clone(&set);
        let replace = move || {
            drop(other.replace(&b));
            drop(a);
            b
        };
        let (b, found) = both(replace, || ask(&set));
        assert!(found, "there is one all the time");
        drop(b);
    });
}

#[test]
fn contains_while_an_equal_one_replaces_it() {
    there_while_an_equal_one_replaces_it(Set::default, |set| set.contains(&7));
}

#[test]
fn remove_while_an_equal_one_replaces_it() {
    there_while_an_equal_one_replaces_it(Set::default, |set| set.remove(&7));
}

/// A set that has once reclaimed on request makes no plain changes.
#[test]
fn remove_unusually_while_an_equal_one_replaces_it() {
    let make = || {
        let set = Set::default();
        set.set_reclaim(Reclaim::OnRequest);
        set.set_reclaim(Reclaim::OnUse);
        set
    };
    there_while_an_equal_one_replaces_it(make, |set| set.remove(&7));
}

/// Likewise, for a closure that is shown what there is, and removes that.
#[test]
fn compute_while_an_equal_one_replaces_it() {
    check(0, |_| {
        let [a, b, c] = [(); 3].map(|()| Strong::new(7));
        let map: WeakHashMap<Strong<u32>, u32, _> =
            WeakHashMap::with_hasher(BuildHasherDefault::<DefaultHasher>::new());
        let map = Arc::new(map);
        map.insert(&a, 1);
        let other = Arc::clone(&map);
        let replace = move || {
            other.insert(&b, 2);
            drop(a);
            b
        };
        let mut shown = None;
        let change = |old: Option<&u32>| {
            shown = old.copied();
            None
        };
        let (b, _) = both(replace, || map.compute(&c, change));
        // If it came first, what was inserted stays.
        assert!(shown.is_some(), "there is one all the time");
        assert_eq!(map.len(), usize::from(shown == Some(1)));
        drop(b);
    });
}
