//! A. Map basics, of one entry or a few: further ways to the same entries (items 1–8, 11, 16).

use weakly::collections::weak_value_map::Entry;
use weakly::{Strong, WeakHashMap, WeakHashPairMap, WeakMap, WeakPairMap, WeakValueMap};

use crate::common::{Key, Kind, Map, downgrade, is_alive, keys, new, panics, place_of_panic};
use crate::for_each_kind;

for_each_kind!(
    an_inserted_entry_keeps_its_weak_value,
    retain_asks_about_live_keys_only,
    several_values_are_changed_at_once,
    several_weak_values_are_found_at_once,
    extend_clones_values_behind_references,
    an_entry_gives_its_key_back,
);

/// A3: The entry that `insert_entry` returns keeps the value alive, by the one handle that it was given; the map
/// keeps nothing. A key that the map owns is moved there, and shown from there.
fn an_inserted_entry_keeps_its_weak_value<P: Kind>() {
    let mut map = WeakValueMap::<String, Key<P>>::new();
    let Entry::Vacant(vacant) = map.entry("key".to_owned()) else {
        panic!("it is empty");
    };
    let entry = vacant.insert_entry(7.into());
    let weak = downgrade(entry.get());
    assert_eq!((entry.key().as_str(), **entry.get()), ("key", 7));
    assert_eq!(P::counts(entry.get()).0, 1);
    let value = entry.into_value();
    assert!(map.get("key").is_some());
    drop(value);
    assert!(!is_alive(&weak) && map.get("key").is_none());

    drop(map.entry("key".to_owned()).insert_entry(8.into()));
    assert!(map.get("key").is_none(), "its last handle was the entry's");
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// A6: `retain_values` shows no value of a key that has died meanwhile.
fn retain_asks_about_live_keys_only<P: Kind>() {
    let mut keys = [0, 1, 2].map(|n| Some(new::<P, usize>(n)));
    let mut map: WeakMap<_, _> = keys.iter().flatten().map(|key| (key, ())).collect();
    let mut asked = 0;
    map.retain_values(|()| {
        keys.fill(None);
        asked += 1;
        true
    });
    assert_eq!((asked, map.len_live()), (1, 0));
}

/// A2, A7: Several values are borrowed mutably at once, each under its own key; a key without a value gets none,
/// any number of times.
fn several_values_are_changed_at_once<P: Kind>() {
    let keys = keys::<P>(40);
    let mut map: Map<P, usize> = keys[..30].iter().zip(0_usize..).collect();
    let [Some(a), None, Some(b), None] =
        map.get_disjoint_mut([&keys[3], &keys[35], &keys[7], &keys[35]])
    else {
        panic!("two of them are there");
    };
    std::mem::swap(a, b);
    assert_eq!((map[&keys[3]], map[&keys[7]]), (7, 3));
    assert!(map.get_disjoint_mut::<Key<P>, 0>([]).is_empty());
    let weak = [&keys[0], &keys[1]].map(downgrade);
    let [Some(a), Some(b)] = map.get_disjoint_mut([&weak[0], &weak[1]]) else {
        panic!("both are there");
    };
    (*a, *b) = (100, 200);
    let sum: usize = (0..30).map(|n| map[&keys[n]]).sum();
    assert_eq!(sum, (0..30).sum::<usize>() - 1 + 300);
    assert!(keys.iter().all(|key| P::counts(key).0 == 1));
}

/// A2, H115: Several weak values are found at once, by each kind of key, and no handle is kept. A dead value is not
/// found, any number of times; a live one is refused to two keys.
fn several_weak_values_are_found_at_once<P: Kind>() {
    let keys = [1, 2, 3, 10].map(new::<P, usize>);
    macro_rules! check {
        ($map:ident, |$key:ident| $given:expr, $sought:expr) => {
            let values = [1, 2, 3].map(new::<P, usize>);
            let mut map = $map::<_, P::Strong<usize>>::new();
            for ($key, value) in keys.iter().zip(&values) {
                map.insert($given, value);
            }
            let [one, two, three, ten] = keys.each_ref().map(|$key| $sought);
            let found = map.get_disjoint_mut([three, ten, one, ten]);
            assert_eq!(
                found.map(|it| it.map(|it| *it)),
                [Some(3), None, Some(1), None]
            );
            assert!(panics(|| _ = map.get_disjoint_mut([one, two, one])));
            assert!(values.iter().all(|value| P::counts(value).0 == 1));
            let [a, _b, c] = values;
            drop((a, c));
            let found = map.get_disjoint_mut([one, two, three, one]);
            assert_eq!(
                found.map(|it| it.map(|it| *it)),
                [None, Some(2), None, None]
            );
        };
    }
    check!(WeakPairMap, |key| key, key);
    check!(WeakHashPairMap, |key| key, &**key);
    check!(WeakValueMap, |key| **key, &**key);
    assert!(keys.iter().all(|key| P::counts(key).0 == 1));
}

/// A2: Two keys with one value are refused, by identity or by content, at the place of the call; nothing has changed.
#[test]
fn the_same_value_twice_is_refused() {
    let key = Strong::new(1_usize);
    let mut map = WeakMap::from([(&key, 10_usize)]);
    let (file, line) = place_of_panic(|| _ = map.get_disjoint_mut([&key, &key]));
    assert_eq!((&*file, line), (file!(), line!() - 1));
    assert_eq!((map[&key], map.len()), (10, 1));
    let mut map = WeakHashMap::from([(&key, 10_usize)]);
    assert!(panics(|| _ = map.get_disjoint_mut([&1, &2, &1])));
    assert_eq!((map[&1], map.len(), Strong::strong_count(&key)), (10, 1, 1));
}

/// A16: `extend` clones values behind references, under keys given by value or by reference.
fn extend_clones_values_behind_references<P: Kind>() {
    let keys = keys::<P>(4);
    let first = Map::<P, _>::from([(&keys[0], vec![0_usize]), (&keys[1], vec![1])]);
    let mut map = Map::<P, _>::from([(&keys[2], vec![2])]);
    map.extend(&first);
    map.extend([(&keys[3], &vec![3])]);
    let value = |n: usize| map.get(&keys[n]).map(|value| value[0]);
    assert_eq!([0, 1, 2, 3].map(value), [0, 1, 2, 3].map(Some));
}

/// A16: The types of a map follow from the items that it is made of or extended by.
#[test]
fn the_types_of_a_map_follow_from_its_items() {
    let keys: Vec<_> = (0..4_usize).map(Strong::new).collect();
    let mut inferred = WeakMap::new();
    inferred.extend([(&keys[0], "text"), (&keys[1], "text")]);
    inferred.extend(keys.iter().cloned().map(|key| (key, "text")));
    assert_eq!(inferred.len(), 4);
    let texts = ["text".to_owned()];
    let collected: WeakMap<_, _> = keys.iter().zip(&texts).collect();
    assert_eq!(collected[&keys[0]], &texts[0], "a reference is a value too");
    let collected = WeakMap::from([(&keys[0], &texts[0])]);
    assert_eq!(collected[&keys[0]], &texts[0]);
    let copied: WeakMap<_, _> = collected.iter().collect();
    assert_eq!(copied[&keys[0]], &&texts[0]);
    let collected: WeakHashMap<_, _> = keys.iter().cloned().zip(&texts).collect();
    assert_eq!(collected[&0], &texts[0]);
}

/// A2: An entry shows its key, whether it is there or not. A vacant one gives it back, and nothing was inserted.
fn an_entry_gives_its_key_back<P: Kind>() {
    let mut map = WeakValueMap::<String, Key<P>>::new();
    let entry = map.entry("key".to_owned());
    assert_eq!(entry.key(), "key");
    let Entry::Vacant(entry) = entry else {
        panic!("it is empty");
    };
    let given = entry.into_key();
    assert_eq!((given.as_str(), map.len()), ("key", 0));
    let value = new::<P, usize>(1);
    map.insert(given, &value);
    assert_eq!(map.entry("key".to_owned()).key(), "key");

    let key = new::<P, usize>(5);
    let mut map = WeakMap::<Key<P>, usize>::new();
    assert_eq!(***map.entry(&key).key(), 5);
    map.insert(&key, 1);
    assert_eq!(***map.entry(&key).key(), 5);
}

/// A8: The default of a weak value is made for a vacant entry only, and lives as long as who has it.
#[test]
fn the_default_of_a_weak_value() {
    let mut map = WeakValueMap::<String, Strong<usize>>::new();
    let made = map.entry("key".to_owned()).or_default();
    let found = map.entry("key".to_owned()).or_default();
    assert!(Strong::ptr_eq(&made, &found) && *made == 0);
    drop((made, found));
    assert_eq!(map.len_live(), 0);
}
