//! A lookup that finds nothing but a dead entry evicts that entry: of handles that do not notify, since others have none.

use std::sync::{Arc, Mutex};

use weakly::concurrent::{WeakHashMap, WeakMap, WeakSet, WeakValueMap};
use weakly::{Addr, Reclaim};

use crate::common::custom::{Custom, On};
use crate::common::lease::Lease;
use crate::common::{on_a_stack_of, scaled};
use crate::faces::{ValueMaps, token};

const NAME: usize = 5;

/// Lookups of each kind find nothing in a collection whose only object has died: each evicts the entry.
fn evicts<C>(
    new: impl Fn(&Arc<usize>) -> C,
    len: impl Fn(&C) -> usize,
    finds: &[(&str, &dyn Fn(&C) -> bool)],
) {
    for (lookup, finds) in finds {
        let object = Arc::new(NAME);
        let all = new(&object);
        assert!(finds(&all), "{lookup}");
        assert_eq!(len(&all), 1, "{lookup}");
        drop(object);
        assert_eq!(len(&all), 1, "{lookup}: nobody has looked");
        assert!(!finds(&all), "{lookup}");
        assert_eq!(len(&all), 0, "{lookup}");
    }
}

/// 281
#[test]
fn a_map_with_weak_values_evicts_what_a_lookup_finds_dead() {
    type Map = WeakValueMap<usize, Arc<usize>>;
    evicts::<Map>(
        |value| Map::from([(1, value)]),
        Map::len,
        &[
            ("get", &|map| map.get(&1).is_some()),
            ("contains_key", &|map| map.contains_key(&1)),
            ("get_key_value", &|map| map.get_key_value(&1).is_some()),
        ],
    );
}

/// 281
#[test]
fn a_map_by_content_evicts_what_a_lookup_finds_dead() {
    type Map = WeakHashMap<Arc<usize>, usize>;
    evicts::<Map>(
        |key| Map::from([(key, 7)]),
        Map::len,
        &[
            ("get", &|map| map.get(&NAME).is_some()),
            ("contains_key", &|map| map.contains_key(&NAME)),
            ("get_key_value", &|map| map.get_key_value(&NAME).is_some()),
            ("with", &|map| map.with(&NAME, |value| *value).is_some()),
        ],
    );
    let map = Map::new();
    map.insert(&Arc::new(NAME), 7);
    assert_eq!(map.remove(&NAME), None);
    assert!(map.is_empty());
}

/// 281, 47: Not an entry by identity, which the destructor of its key may look up.
#[test]
fn an_entry_stays_for_the_destructor_of_its_key() {
    let (map, set) = (Arc::new(WeakMap::new()), Arc::new(WeakSet::new()));
    let seen = Arc::new(Mutex::new(None));
    let object = {
        let (map, set, seen) = (map.clone(), set.clone(), seen.clone());
        Custom::from(7).on(On::Drop, move |object| {
            let key = Addr::of(object);
            assert!(map.get_key_value(&key).is_none() && set.get(&key).is_none());
            *seen.lock().unwrap() = Some((set.contains(&key), map.get(&key)));
        })
    };
    let key = Lease::from(object);
    map.insert(&key, Custom::from(7));
    set.insert(&key);
    drop(key);
    assert_eq!(*seen.lock().unwrap(), Some((true, Some(7.into()))));
}

type Customs = WeakValueMap<Custom, Lease>;

fn link(number: usize) -> Custom {
    Custom::from(number).hashed(number)
}

/// 281, 53: What is evicted is destroyed by the lookup, whose destructors may look up the next: the stack does not grow with
/// the chain.
#[test]
fn evictions_in_destructors_nest_a_few_deep() {
    on_a_stack_of(256 << 10, || {
        let chain = Arc::new(Customs::new());
        let value = Lease::from(link(0));
        let links = scaled(20_000, 60);
        for number in 0..links {
            let chain_of_key = Arc::downgrade(&chain);
            let key = link(number).on(On::Drop, move |key| {
                // (Not there any more if the test has failed.)
                if let Some(chain) = chain_of_key.upgrade() {
                    assert!(chain.get(&link(key.number + 1)).is_none());
                }
            });
            chain.insert(key, &value);
        }
        drop(value);
        assert_eq!(chain.len(), links);
        assert!(chain.get(&link(0)).is_none());
        assert!(chain.len() < links);
        chain.purge();
        assert!(chain.is_empty());
    });
}

/// 281: A destructor that an eviction runs inserts the same key.
#[test]
fn a_destructor_inserts_what_was_evicted() {
    let (map, two) = (Arc::new(Customs::new()), Lease::from(link(2)));
    let (same, new) = (Arc::downgrade(&map), two.clone());
    let key = link(1).on(On::Drop, move |_| {
        let map = same.upgrade().expect("it is there");
        map.insert(link(1), &new);
    });
    map.insert(key, &link(1).into());
    assert!(map.get(&link(1)).is_none());
    assert!(map.get(&link(1)) == Some(two));
    assert_eq!(map.len(), 1);
}

/// 281: With [`Reclaim::OnRequest`] no lookup runs a destructor: what was evicted is kept.
#[test]
fn what_is_evicted_is_kept_on_request() {
    let (map, name) = (ValueMaps::new(), token());
    map.set_reclaim(Reclaim::OnRequest);
    map.insert(Arc::clone(&name), &Arc::new(1));
    assert_eq!(map.get(&name), None);
    assert!(map.is_empty());
    assert_eq!((Arc::strong_count(&name), map.pending_dead()), (2, 1));
    map.purge();
    assert_eq!((Arc::strong_count(&name), map.pending_dead()), (1, 0));
}
