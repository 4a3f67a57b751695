//! H117: Lookups and changes with a hash computed beforehand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::hash::BuildHasher;

use weakly::{
    Hashed, Interner, Memo, Strong, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakValueMap,
    concurrent, memo, reference::WeakKey,
};

use crate::common::custom::{Code, Custom};
use crate::common::{Kind, new, scaled};
use crate::for_each_shared_kind;

for_each_shared_kind!(
    a_map_is_searched_by_a_hash,
    each_operation_hashes_once,
    only_live_contents_of_the_hash_are_shown,
);

thread_local! {
    /// How often `Hash` was called.
    static HASHED: Cell<usize> = const { Cell::new(0) };
}

/// Counts how often its objects are hashed.
struct Counting;

impl Code for Counting {
    fn hash(&self, of: &Custom) -> usize {
        HASHED.set(HASHED.get() + 1);
        of.number
    }
}

fn number(number: usize) -> Custom {
    Custom::with(&Counting, number, 0)
}

fn is_same<K: WeakKey>(one: &K, other: &K) -> bool {
    K::addr(one) == K::addr(other)
}

/// Each method finds what its counterpart does, and hashes nothing.
fn a_map_is_searched_by_a_hash<P: Kind>() {
    let [key, twin, other] = [1, 1, 2].map(|n| new::<P, _>(number(n)));
    let mut map = WeakHashMap::<_, usize>::new();
    let [one, two] = [1, 2].map(|n: usize| map.hasher().hash_one(n));
    HASHED.set(0);
    *map.entry_hashed(one, &key).or_insert(0) += 1;
    *map.entry_hashed(one, &twin).or_insert(0) += 1;
    map.entry_hashed(two, &other).insert_entry(7);
    assert_eq!(
        (
            map.get(&Hashed(one, |n: &Custom| n.number == 1)),
            map.get(&Hashed(two, |n: &Custom| n.number == 2))
        ),
        (Some(&2), Some(&7))
    );
    assert_eq!(
        (
            map.get(&Hashed(one, |_: &Custom| false)),
            map.get(&Hashed(two, |n: &Custom| n.number == 1))
        ),
        (None, None)
    );
    *map.get_mut(&Hashed(one, |n: &Custom| *n == *twin)).unwrap() += 1;
    assert!(map.get_mut(&Hashed(one, |_: &Custom| false)).is_none());
    let (found, value) = map.get_key_value(&Hashed(one, |_: &Custom| true)).unwrap();
    assert!(is_same(&found, &key) && *value == 3);
    drop(found);
    assert_eq!(HASHED.get(), 0);
    assert_eq!((map.get(&twin), map.get(&other)), (Some(&3), Some(&7)));
    HASHED.set(0);
    assert!(map.remove_entry(&Hashed(one, |_: &Custom| false)).is_none());
    let (found, value) = map
        .remove_entry(&Hashed(one, |n: &Custom| n.number == 1))
        .unwrap();
    assert!(is_same(&found, &key) && value == 3);
    drop(found);
    assert!(map.remove_entry(&Hashed(one, |_: &Custom| true)).is_none());
    assert_eq!((HASHED.get(), map.len()), (0, 1));
    // The entry lives as long as its key.
    map.entry_hashed(one, &key).or_insert(5);
    drop(key);
    assert_eq!(
        (map.get(&Hashed(one, |_: &Custom| true)), map.len_live()),
        (None, 1)
    );
    map.entry_hashed(one, &twin).or_insert(6);
    map.reserve(scaled(1_000, 50));
    map.purge();
    assert_eq!(
        (map.get(&twin), map.len(), map.pending_dead()),
        (Some(&6), 2, 0)
    );
    drop((twin, other));
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// Checks that each operation hashes one content once, whether the operation hits, misses, inserts or replaces.
macro_rules! once {
    ($($act:expr),* $(,)?) => {$(
        HASHED.set(0);
        _ = $act;
        assert_eq!(HASHED.get(), 1, "{}", stringify!($act));
    )*};
}

/// 430: In all collections of one owner.
fn each_operation_hashes_once<P: Kind>() {
    let [key, twin, value] = [1, 1, 7].map(|n| new::<P, _>(number(n)));
    let content = number(1);
    let mut map = WeakHashMap::new();
    once!(
        map.contains_key(&content),
        map.get(&content),
        map.get_mut(&content),
        map.remove(&content),
        map.insert(&key, 1),
        map.get_key_value(&content),
        map.insert(&twin, 2),
        map.entry(&key),
        map.get_or_insert(&key, 3),
        map.remove_if(&content, |_| true),
        map.try_insert(&key, 4).is_ok(),
        map.remove_entry(&content),
        map.get_or_insert_with(&key, |_| 5),
        map.clone() == map,
    );
    let mut set = WeakHashSet::new();
    once!(
        set.contains(&content),
        set.take(&content),
        set.insert(&key),
        set.insert(&twin),
        set.get(&content),
        set.replace(&twin),
        set.remove(&content),
        set.replace(&key),
        set.clone() == set,
    );
    let mut pairs = WeakHashPairMap::new();
    once!(
        pairs.get(&content),
        pairs.insert(&key, &value),
        pairs.insert(&twin, &value),
        pairs.get_key_value(&content),
        pairs.entry(&key),
        pairs.remove(&content),
        pairs.get_or_insert_with(&key, |_| value.clone()),
        pairs.remove_entry(&content),
        pairs.try_insert(&key, &value).is_ok(),
    );
    let mut values = WeakValueMap::new();
    once!(
        values.get(&content),
        values.insert(number(1), &value),
        values.insert(number(1), &value),
        values.get_key_value(&content),
        values.entry(number(1)),
        values.remove(&content),
        values.get_or_insert_with(number(1), |_| value.clone()),
        values.remove_entry(&content),
        values.try_insert(number(1), &value).is_ok(),
    );
    let mut names = Interner::<P::Strong<Custom>>::new();
    once!(
        names.get(&content),
        names.intern(number(1)),
        names.intern(key.clone()),
        names.intern(twin.clone()),
        names.get(&content),
    );
    let mut names = Interner::<P::Strong<Custom>>::new();
    once!(
        names.intern_with(&content, |_| key.clone()),
        names.intern_with(&twin, |key| key.clone()),
    );
    let (is, numbers) = (|n: &usize, there: &Custom| there.number == *n, [1, 2]);
    for n in numbers {
        let hash = names.hasher().hash_one(n);
        HASHED.set(0);
        drop(names.intern_or_make(hash, n, is, number));
        assert_eq!(HASHED.get(), 0);
    }
}

/// 430: In all collections that threads share.
#[test]
fn each_shared_operation_hashes_once() {
    let [key, twin, value] = [1, 1, 7].map(|n| Strong::new(number(n)));
    let content = number(1);
    let map = concurrent::WeakHashMap::new();
    once!(
        map.contains_key(&content),
        map.get(&content),
        map.remove(&content),
        map.insert(&key, 1),
        map.get_key_value(&content),
        map.insert(&twin, 2),
        map.swap(&key, 3),
        map.get_or_insert_with(&key, |_| 4),
        map.remove_if(&content, |_| true),
        map.get_or_insert_racing(&key, |_| 5),
        map.compute(&key, |_| None),
        map.get_or_insert_with(&key, |_| 6),
        map.remove_entry(&content),
        map.try_get_or_insert_with(&key, |_| Err::<usize, ()>(())),
    );
    let set = concurrent::WeakHashSet::new();
    once!(
        set.contains(&content),
        set.take(&content),
        set.insert(&key),
        set.insert(&twin),
        set.get(&content),
        set.replace(&twin),
        set.remove(&content),
        set.replace(&key),
    );
    let values = concurrent::WeakValueMap::new();
    once!(
        values.get(&content),
        values.insert(number(1), &value),
        values.insert(number(1), &value),
        values.get_key_value(&content),
        values.remove(&content),
        values.get_or_insert_with(number(1), |_| value.clone()),
        values.compute(number(1), |_| None),
        values.get_or_insert_racing(number(1), |_| value.clone()),
        values.remove_entry(&content),
    );
    let names = concurrent::Interner::<Strong<Custom>>::new();
    once!(
        names.get(&content),
        names.intern(number(1)),
        names.intern(key.clone()),
        names.intern(twin.clone()),
        names.get(&content),
    );
    let names = concurrent::Interner::<Strong<Custom>>::new();
    once!(
        names.intern_with(&content, |_| key.clone()),
        names.intern_with(&twin, |key| key.clone()),
    );
    let (is, numbers) = (|n: &usize, there: &Custom| there.number == *n, [1, 2]);
    for n in numbers {
        let hash = names.hasher().hash_one(n);
        HASHED.set(0);
        drop(names.intern_or_make(hash, n, is, number));
        assert_eq!(HASHED.get(), 0);
    }
    let results = Memo::<(Strong<u8>, memo::Value<Custom>), usize>::new();
    let (object, part) = (Strong::new(1), || memo::Value(number(1)));
    once!(
        results.get((&object, part())),
        results.remove((&object, part())),
        results.get_or_compute((&object, part()), |_| 1),
        results.get_or_compute((&object, part()), |_| 2),
        results.insert((&object, part()), 3),
        results.get((&object, part())),
        results.contains_key((&object, part())),
        results.remove((&object, part())),
        results.get_or_compute_racing((&object, part()), |_| 4),
        results.invalidate(&object) + usize::from(results.contains_key((&object, part()))),
    );
}

/// Several values at once.
#[test]
fn several_lookups_take_a_hash() {
    let key = Strong::new(number(1));
    let other = Strong::new(number(2));
    let mut map = WeakHashMap::from([(&key, 1_usize), (&other, 2)]);
    let at = [1, 2, 3].map(|n: usize| {
        Hashed(map.hasher().hash_one(n), move |there: &Custom| {
            there.number == n
        })
    });
    HASHED.set(0);
    let [Some(one), Some(two), None] = map.get_disjoint_mut([&at[0], &at[1], &at[2]]) else {
        panic!("two are there");
    };
    std::mem::swap(one, two);
    assert_eq!(HASHED.get(), 0);
    assert_eq!((map[&*key], map[&*other]), (2, 1));
}

/// B29, B30: The closure is called with all contents of the given hash, and never with a dead one.
fn only_live_contents_of_the_hash_are_shown<P: Kind>() {
    let keys: Vec<_> = (0..20).map(|n| new::<P, _>(number(n))).collect();
    let (mut map, mut set) = (WeakHashMap::new(), WeakHashSet::new());
    for key in &keys {
        // Two hashes only.
        map.entry_hashed(key.number as u64 % 2, key).or_insert(0);
        set.insert_hashed(key.number as u64 % 2, key);
    }
    let (live, dead): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.number < 6);
    drop(dead);
    for hash in [0, 1] {
        let seen = RefCell::new(BTreeSet::new());
        let is_shown = |n: &Custom| {
            seen.borrow_mut().insert(n.number);
            false
        };
        let are_seen = || seen.take().into_iter().eq((hash..6).step_by(2));
        let code = hash as u64;
        assert!(map.get(&Hashed(code, is_shown)).is_none() && are_seen());
        assert!(map.get_mut(&Hashed(code, is_shown)).is_none() && are_seen());
        assert!(set.get(&Hashed(code, is_shown)).is_none() && are_seen());
        assert!(set.take(&Hashed(code, is_shown)).is_none() && are_seen());
        assert!(map.remove_entry(&Hashed(code, is_shown)).is_none() && are_seen());
    }
    assert_eq!((map.len_live(), set.len_live()), (live.len(), live.len()));
}

// === Shared ===

/// Each method that takes a hash finds what its counterpart does, and hashes nothing.
#[test]
fn shared_collections_are_searched_by_a_hash() {
    let [key, twin] = [1, 1].map(|n| Strong::new(number(n)));
    let (map, set) = (
        concurrent::WeakHashMap::new(),
        concurrent::WeakHashSet::new(),
    );
    let names = concurrent::Interner::<Strong<Custom>>::new();
    let hashes = [
        map.hasher().hash_one(1_usize),
        set.hasher().hash_one(1_usize),
        names.hasher().hash_one(1_usize),
    ];
    HASHED.set(0);
    _ = map.insert_hashed(hashes[0], &key, 1);
    let there = map.get_or_insert_with_hashed(hashes[0], &twin, |_| panic!("it is there"));
    assert_eq!(there, 1);
    _ = map.insert_hashed(hashes[0], &twin, 2);
    let found = map.get_key_value(&Hashed(hashes[0], |n: &Custom| n.number == 1));
    assert!(found.is_some_and(|(found, value)| is_same(&found, &twin) && value == 2));
    assert_eq!(map.get(&Hashed(hashes[0], |_: &Custom| false)), None);
    assert_eq!(map.get(&Hashed(!hashes[0], |_: &Custom| true)), None);
    assert!(set.insert_hashed(hashes[1], &key) && !set.insert_hashed(hashes[1], &twin));
    let query = Hashed(hashes[2], |n: &Custom| n.number == 1);
    let made = names.intern_with(&query, |_| number(1));
    let found = names.intern_with(&query, |_| -> Custom { panic!("it is there") });
    assert_eq!(HASHED.get(), 0);
    assert!(is_same(&made, &found) && is_same(&names.intern_with(&twin, Strong::clone), &made));
    assert_eq!((map.get(&key), set.contains(&twin)), (Some(2), true));
}
