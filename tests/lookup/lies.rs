//! N181: Hashes that are wrong, and closures that lie, panic, kill, or use the collection: lookups may miss, and
//! contents may be there twice; nothing worse happens.

use std::cell::{Cell, RefCell};
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use weakly::{
    Hashed, Interner, Strong, WeakHashMap, WeakHashSet,
    concurrent::{self, SharedRef},
    reference::{StrongRef, WeakKey},
};

use crate::common::custom::{Custom, customs};
use crate::common::random::random;
use crate::common::{Kind, new, panics, quiet_panic, scaled};
use crate::for_each_shared_kind;

for_each_shared_kind!(
    wrong_hashes_lose_nothing,
    closures_that_panic_change_nothing,
    closures_may_drop_the_last_handle,
);

const MANY: usize = scaled(60, 8);

type Key<P> = <P as Kind>::Strong<Custom>;

/// N181: Each object is in it under several hashes, most of them wrong, while entries move; all go when it dies.
fn wrong_hashes_lose_nothing<P: Kind>() {
    let (mut map, mut set, mut names) = (
        WeakHashMap::new(),
        WeakHashSet::new(),
        Interner::<Key<P>>::new(),
    );
    let (value, mut objects) = (Rc::new(0_usize), customs::<Key<P>>(0..MANY));
    let mut choice = random(7);
    let mut choose = |below: usize| choice.next().unwrap() % below;
    for turn in 0..4 * MANY {
        let (key, hash) = (&objects[turn % MANY], choose(1 << 20) as u64 * 0x9e37_79b9);
        map.entry_hashed(hash, key).or_insert(value.clone());
        assert!(
            map.get(&Hashed(hash, |n: &Custom| n.number == key.number))
                .is_some()
        );
        set.insert_hashed(hash, key);
        assert!(
            set.get(&Hashed(hash, |n: &Custom| n.number == key.number))
                .is_some()
        );
        let name = names.intern_with(&Hashed(hash, |n: &Custom| n.number == key.number), |_| {
            key.clone()
        });
        assert_eq!(name.number, key.number);
        // By its right hash, and with a lie.
        _ = (map.get(key), set.contains(key), names.get(key));
        let lie = |_: &Custom| turn % 3 == 0;
        map.get_mut(&Hashed(hash, lie));
        set.get(&Hashed(hash, lie));
        // This panics if the closure denies what was made.
        panics(|| drop(names.intern_with(&Hashed(hash, lie), |_| key.clone())));
        match choose(MANY) {
            0 => {
                map.reserve(8 * MANY);
                set.reserve(8 * MANY);
                names.reserve(8 * MANY);
            }
            1 => {
                map.shrink_to_fit();
                set.shrink_to_fit();
                names.shrink_to_fit();
            }
            2 => {
                _ = (
                    map.remove_entry(&Hashed(hash, |_: &Custom| true)),
                    set.take(&Hashed(hash, |_: &Custom| true)),
                )
            }
            3 => objects[choose(MANY)] = new::<P, _>(Custom::new(choose(MANY))),
            _ => {}
        }
    }
    // A copy has the same entries: nothing is hashed or compared.
    let copies = (map.len_live(), set.len_live());
    assert!(copies.0 > MANY && copies.1 > MANY, "{copies:?}");
    assert_eq!(set.clone().len_live(), copies.1);
    drop(objects);
    map.purge();
    set.purge();
    names.purge();
    assert_eq!((map.len(), set.len(), names.len()), (0, 0, 0));
    assert_eq!(
        (map.pending_dead(), set.pending_dead(), names.pending_dead()),
        (0, 0, 0)
    );
    assert_eq!(Rc::strong_count(&value), 1);
}

/// N181: Wherever the panic comes.
fn closures_that_panic_change_nothing<P: Kind>() {
    let objects = customs::<Key<P>>(0..MANY);
    let (mut map, mut set, mut names) = (
        WeakHashMap::new(),
        WeakHashSet::new(),
        Interner::<Key<P>>::new(),
    );
    for key in &objects {
        map.entry_hashed(1, key).or_insert(Rc::new(key.number));
        set.insert_hashed(1, key);
        _ = names.intern_with(&Hashed(1, |n: &Custom| n.number == key.number), |_| {
            key.clone()
        });
    }
    for patience in 0..scaled(5, 2) {
        let left = Cell::new(0);
        let wear = |_: &Custom| {
            if left.get() == patience {
                quiet_panic();
            }
            left.set(left.get() + 1);
            false
        };
        let check = |act: &mut dyn FnMut()| {
            left.set(0);
            assert!(panics(act));
        };
        check(&mut || _ = map.get(&Hashed(1, wear)));
        check(&mut || _ = map.get_mut(&Hashed(1, wear)));
        check(&mut || _ = map.remove_entry(&Hashed(1, wear)));
        check(&mut || _ = set.get(&Hashed(1, wear)));
        check(&mut || _ = set.take(&Hashed(1, wear)));
        check(&mut || _ = names.get(&Hashed(1, wear)));
        check(&mut || _ = names.intern_with(&Hashed(1, wear), |_| Custom::new(MANY)));
    }
    assert_eq!(
        (map.len_live(), set.len_live(), names.len_live()),
        (MANY, MANY, MANY)
    );
    assert!(objects.iter().all(|key| {
        map.get(&Hashed(1, |n: &Custom| n.number == key.number))
            .is_some_and(|value| **value == key.number)
    }));
    assert!(objects.iter().all(|key| P::counts(key).0 == 1));
    drop(objects);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// C55: The key that is compared lives until the lookup is over, and no longer.
fn closures_may_drop_the_last_handle<P: Kind>() {
    let mut map = WeakHashMap::new();
    for is_match in [true, false] {
        for lookup in 0..3 {
            let object = new::<P, _>(Custom::new(7));
            let weak = WeakKey::downgrade(&object);
            map.entry_hashed(3, &object).or_insert(Rc::new(1));
            let last = RefCell::new(Some(object));
            let kill = |n: &Custom| {
                drop(last.take());
                n.number == 7 && is_match
            };
            let found = match lookup {
                0 => map.get(&Hashed(3, kill)).is_some(),
                1 => map.get_mut(&Hashed(3, kill)).is_some(),
                _ => map.remove_entry(&Hashed(3, kill)).is_some(),
            };
            assert_eq!(found, is_match);
            assert!(weakly::reference::WeakRef::upgrade(&weak).is_none());
            map.purge();
            assert_eq!((map.len(), map.pending_dead()), (0, 0));
        }
    }
}

// === Shared ===

fn shared_wrong_hashes<K>()
where
    K: SharedRef + StrongRef<Target = Custom> + weakly::reference::Content + From<Custom> + Clone,
{
    let mut objects = customs::<K>(0..MANY);
    let (map, set, names) = (
        concurrent::WeakHashMap::new(),
        concurrent::WeakHashSet::new(),
        concurrent::Interner::<K>::new(),
    );
    let (value, mut choice) = (Arc::new(0_usize), random(11));
    let mut choose = |below: usize| choice.next().unwrap() % below;
    for turn in 0..4 * MANY {
        let (key, hash) = (&objects[turn % MANY], choose(1 << 20) as u64 * 0x9e37_79b9);
        let content = K::content(key).number;
        let is_it = |n: &Custom| n.number == content;
        if turn % 2 == 0 {
            _ = map.insert_hashed(hash, key, value.clone());
        } else {
            map.get_or_insert_with_hashed(hash, key, |_| value.clone());
        }
        assert!(map.get(&Hashed(hash, is_it)).is_some());
        set.insert_hashed(hash, key);
        assert!(set.get(&Hashed(hash, is_it)).is_some());
        let name = names.intern_with(&Hashed(hash, is_it), |_| key.clone());
        assert_eq!(K::content(&name).number, content);
        _ = (map.get(key), set.contains(key), names.get(key));
        let lie = |_: &Custom| turn % 3 == 0;
        _ = (
            map.get(&Hashed(hash, lie)),
            set.get(&Hashed(hash, lie)),
            names.get(&Hashed(hash, lie)),
        );
        match choose(MANY) {
            0 => map.shrink_to_fit(),
            1 => {
                _ = (
                    map.remove_entry(&Hashed(hash, |_: &Custom| true)),
                    set.take(&Hashed(hash, |_: &Custom| true)),
                )
            }
            2 => objects[choose(MANY)] = K::from(Custom::new(choose(MANY))),
            _ => {}
        }
    }
    assert!(map.len_live() > MANY);
    drop(objects);
    map.purge();
    set.purge();
    names.purge();
    assert_eq!((map.len(), set.len(), names.len()), (0, 0, 0));
    assert_eq!(Arc::strong_count(&value), 1);
}

/// N181: In shared collections too.
#[test]
fn shared_wrong_hashes_lose_nothing() {
    shared_wrong_hashes::<Strong<Custom>>();
}

/// N181, D64: The closure uses the collection that calls it, also to remove or replace what it is asked about; then it
/// panics.
#[test]
fn closures_may_use_shared_collections() {
    let objects = customs::<Strong<Custom>>(0..MANY);
    let map = concurrent::WeakHashMap::new();
    let hash = map.hasher().hash_one(0_usize);
    let acts: [&dyn Fn(usize); 6] = [
        &|n| _ = map.remove_entry(&Hashed(hash, |there: &Custom| there.number == n)),
        &|n| _ = map.insert_hashed(hash, &objects[n], Arc::new(n + 1)),
        &|n| _ = map.get_or_insert_with_hashed(hash, &objects[n], |_| Arc::new(n)),
        &|_| map.clear(),
        &|_| _ = map.purge(),
        &|n| {
            _ = map
                .get(&Hashed(hash, |there: &Custom| there.number == n))
                .is_some_and(|_| map.remove(&Custom::new(0)).is_some())
        },
    ];
    for (number, act) in acts.into_iter().enumerate() {
        for end in [false, true] {
            let fill = || {
                objects
                    .iter()
                    .for_each(|key| _ = map.insert_hashed(hash, key, Arc::new(key.number)))
            };
            let is_it = |n: &Custom| {
                act(n.number);
                end && n.number == MANY / 2
            };
            fill();
            let found = map.get(&Hashed(hash, is_it));
            assert!(
                found.is_none_or(|value| end && (*value == MANY / 2 || *value == MANY / 2 + 1))
            );
            fill();
            // A comparison that sets the entry whenever a removal finds it is called for ever.
            if !(end && number == 1) {
                let taken = map.remove_entry(&Hashed(hash, is_it));
                assert!(taken.is_none_or(|(key, _)| end && key.number == MANY / 2));
            }
            fill();
            let panicking = |n: &Custom| {
                act(n.number);
                quiet_panic()
            };
            assert!(panics(|| _ = map.get(&Hashed(hash, panicking))));
            fill();
            assert!(panics(|| _ = map.remove_entry(&Hashed(hash, panicking))));
            fill();
            assert_eq!((map.len(), map.len_live()), (MANY, MANY));
            assert!(objects.iter().all(|key| {
                map.get(&Hashed(hash, |n: &Custom| n.number == key.number))
                    == Some(Arc::new(key.number))
            }));
        }
    }
    assert!(objects.iter().all(|key| Strong::strong_count(key) == 1));
    drop(objects);
    assert_eq!(map.len_live(), 0);
}
