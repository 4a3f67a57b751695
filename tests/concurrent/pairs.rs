//! What a map of pairs adds: an entry ends with the first of its two sides, and counts once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Barrier};
use std::thread;

use weakly::Strong;
use weakly::concurrent::WeakPairMap;

use crate::common::custom::{Custom, On};
use crate::common::own::{self, Own};
use crate::common::pairs::end_in_any_order;
use crate::common::{panics, scaled};
use crate::faces::{Kind, Life, Ours, Over, Std, is_same, lives};

/// A `#[test]` for each two kinds of pointer, of keys and of values.
macro_rules! for_each_two {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use super::{Ours, Std};
            #[test]
            fn strong_strong() {
                super::$test::<Ours, Ours>();
            }
            #[test]
            fn strong_arc() {
                super::$test::<Ours, Std>();
            }
            #[test]
            fn arc_strong() {
                super::$test::<Std, Ours>();
            }
            #[test]
            fn arc_arc() {
                super::$test::<Std, Std>();
            }
        }
    )*};
}

for_each_two!(
    a_pair_lives_as_long_as_both,
    an_ended_pair_gets_no_further_notice,
    small_both_sides_die_at_once,
);

type Pairs<K, V> = WeakPairMap<Life<K>, Life<V>>;
type Customs = WeakPairMap<Strong<Custom>, Strong<Custom>>;

/// `(len, len_live, pending_dead)`
fn counts<K: Kind, V: Kind>(map: &Pairs<K, V>) -> (usize, usize, usize) {
    (map.len(), map.len_live(), map.pending_dead())
}

/// H114, H118, E76: In whatever order they die, and however many have died before a purge: other entries are not
/// affected, and each counts once.
fn a_pair_lives_as_long_as_both<K: Kind, V: Kind>() {
    // Of which keys a lookup has found the value dead, by the map.
    let evicted = RefCell::new(BTreeMap::new());
    let look = |map: &Pairs<K, V>, keys: &[Option<Life<K>>], value: &Option<Life<V>>| {
        let mut evicted = evicted.borrow_mut();
        let evicted: &mut [bool; 3] = evicted.entry(ptr::from_ref(map)).or_default();
        let mut live = 0;
        for (key, evicted) in keys.iter().zip(&mut *evicted) {
            if let Some(key) = key {
                assert_eq!(map.get(key).is_some(), value.is_some());
                live += usize::from(value.is_some());
                *evicted |= value.is_none() && !V::NOTIFIES;
            }
        }
        assert_eq!((map.len_live(), map.iter().count()), (live, live));
        // An entry whose death is not notified counts until a purge, unless a lookup has met it.
        let untold = keys
            .iter()
            .zip(&*evicted)
            .filter(|(key, evicted)| !**evicted && (key.is_some() || !K::NOTIFIES));
        let not_notified = if value.is_some() || !V::NOTIFIES {
            untold.count()
        } else {
            0
        };
        let evicted = evicted.iter().filter(|evicted| **evicted).count();
        assert_eq!(
            (map.len(), map.pending_dead()),
            (not_notified, 3 - not_notified - evicted),
            "once"
        );
    };
    end_in_any_order(look, |map| {
        evicted.borrow_mut().clear();
        map.purge();
        assert_eq!(counts::<K, V>(&map), (0, 0, 0));
    });
}

/// C43, H118: An entry that was removed, or ended with the death of one side, gets no further notice, even while
/// a thread reads it.
fn an_ended_pair_gets_no_further_notice<K: Kind, V: Kind>() {
    for (is_removed, the_key_is_first) in
        [(true, true), (true, false), (false, true), (false, false)]
    {
        let kept = (Life::<K>::from(1), Life::<V>::from(1));
        let gone = (Life::<K>::from(2), Life::<V>::from(2));
        let sides = [(&kept.0, &kept.1), (&gone.0, &gone.1)];
        let map = Pairs::<K, V>::from_iter(sides);
        let gone = (Cell::new(Some(gone.0)), Cell::new(Some(gone.1)));
        let kill = |key: bool| {
            if key {
                drop(gone.0.take())
            } else {
                drop(gone.1.take())
            }
        };
        // An entry that is unlinked inside the closure is still being read.
        map.retain(|key, _| {
            if **key == 1 {
                if is_removed {
                    let key = gone.0.take().expect("it lives");
                    assert!(map.remove(&key).is_some());
                    gone.0.set(Some(key));
                }
                kill(the_key_is_first);
                if !is_removed {
                    map.purge();
                }
                assert_eq!(counts::<K, V>(&map), (1, 1, 1));
                kill(!the_key_is_first);
                assert_eq!(counts::<K, V>(&map), (1, 1, 1));
            }
            true
        });
        assert!(map.contains_key(&kept.0));
    }
}

/// H115, H118, L161: The sides die on two threads, and two more reclaim and replace: each entry ends once, and
/// no other entry is affected.
fn small_both_sides_die_at_once<K: Kind, V: Kind>() {
    for _ in 0..scaled(60, 2) {
        let many = scaled(40, 5);
        let (keys, values) = (lives::<K>(many), lives::<V>(many));
        let kept = (Life::<K>::from(100), Life::<V>::from(100));
        let map: Pairs<K, V> = keys.iter().zip(&values).collect();
        map.insert(&kept.0, &kept.1);
        let (barrier, over) = (Barrier::new(4), Over::default());
        thread::scope(|scope| {
            let (barrier, over, map, kept) = (&barrier, &over, &map, &kept);
            let killer = scope.spawn(move || {
                barrier.wait();
                drop(keys);
            });
            scope.spawn(move || {
                let _end = over.at_the_end();
                barrier.wait();
                drop(values);
                killer.join().unwrap();
            });
            scope.spawn(move || {
                barrier.wait();
                while !over.is_near() {
                    map.purge();
                    assert!(map.len_live() <= many + 1);
                    thread::yield_now();
                }
            });
            barrier.wait();
            while !over.is_near() {
                assert!(map.insert(&kept.0, &kept.1).is_some());
                assert!(map.iter().all(|(key, value)| *key == *value));
                thread::yield_now();
            }
        });
        assert_eq!(map.len_live(), 1);
        map.purge();
        assert_eq!(counts::<K, V>(&map), (1, 1, 0));
        assert!(
            map.get(&kept.0)
                .is_some_and(|got| is_same::<V>(&got, &kept.1))
        );
    }
}

/// H118: One object on both sides, which notifies the entry twice.
#[test]
fn an_object_may_be_its_own_value() {
    let mut all = lives::<Ours>(5);
    let map: Pairs<Ours, Ours> = all.iter().zip(&all).collect();
    for left in (0..5).rev() {
        all.truncate(left);
        assert_eq!(counts::<Ours, Ours>(&map), (left, left, 5 - left));
    }
    map.purge();
    assert_eq!(counts::<Ours, Ours>(&map), (0, 0, 0));
}

/// H114: A pair whose key has died is none of its value's, though nothing has told the map.
#[test]
fn a_dead_key_is_no_key_of_its_value() {
    let (keys, value) = ([1, 2].map(Arc::new), Arc::new(0));
    let pairs: WeakPairMap<_, _> = keys.iter().map(|key| (key, &value)).collect();
    let [dead, _live] = keys;
    drop(dead);
    assert_eq!(pairs.remove_value(&value), 1);
}

/// C47: A plain reference finds the value until the key's destructor is over; the pair itself is not shown.
#[test]
fn a_key_finds_its_value_in_its_destructor() {
    let (map, value) = (Arc::new(Customs::new()), Strong::new(Custom::from(7)));
    let found = map.clone();
    let key = Strong::new(Custom::from(1).on(On::Drop, move |key| {
        assert!(found.get(key).is_some_and(|value| value.number == 7));
        assert!(found.get_key_value(key).is_none() && found.iter().next().is_none());
        assert_eq!((found.len(), found.len_live()), (1, 0));
    }));
    map.insert(&key, &value);
    drop(key);
    assert!(map.is_empty());
}

/// C47: For the map the value is dead when its destructor runs, although its notice is not delivered yet.
#[test]
fn a_value_is_not_found_in_its_destructor() {
    let (map, key) = (Arc::new(Customs::new()), Strong::new(Custom::from(7)));
    let (found, its_key) = (map.clone(), key.clone());
    let value = Strong::new(Custom::from(1).on(On::Drop, move |_| {
        assert!(found.get(&its_key).is_none() && !found.contains_key(&its_key));
        assert_eq!((found.len(), found.len_live()), (1, 0));
    }));
    map.insert(&key, &value);
    drop(value);
    assert!(map.is_empty());
}

/// H119, D65: A user's pointer that panics when asked for its handle, on either side: nothing is left of the
/// pair, nor of the registration that was already made.
#[test]
fn a_panic_between_the_registrations_leaves_nothing() {
    for patience in 0..3 {
        let map = WeakPairMap::new();
        let (key, value) = (Own::<()>::new(1), Own::<()>::new(2));
        own::set_requests_left(Some(patience));
        let panicked = panics(|| _ = map.insert(&key, &value));
        own::set_requests_left(None);
        assert_eq!(panicked, patience < 2);
        assert_eq!(map.len(), usize::from(!panicked));
        assert_eq!(map.contains_key(&key), !panicked);
        drop((key, value));
        assert_eq!((map.len(), map.pending_dead()), (0, usize::from(!panicked)));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
}
