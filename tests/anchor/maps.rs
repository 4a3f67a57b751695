//! The methods that collections of one owner have for keys that they cannot give back.

use weakly::{WeakMap, WeakPairMap, WeakSet, collections::weak_map::Entry, local, ptr};

use crate::common::Own;
use crate::for_each_flavour;

for_each_flavour!(
    every_method_of_a_map_without_keys,
    entries,
    retaining_by_value,
    weak_iteration_tells_whose_a_value_is,
    values_are_made_for_weak_handles,
    pairs,
);

fn anchors<F: Own>(n: usize) -> Vec<ptr::Anchor<F>> {
    (0..n).map(|_| ptr::Anchor::new()).collect()
}

fn sorted(values: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable();
    values
}

fn every_method_of_a_map_without_keys<F: Own>() {
    let all = anchors::<F>(4);
    let mut map = WeakMap::<_, usize>::with_capacity(8);
    assert_eq!(map.insert(&all[0], 1), None);
    assert_eq!(map.insert(&all[0], 2), Some(1));
    assert!(map.try_insert(&all[0], 3).is_err());
    assert_eq!(*map.try_insert(&all[1], 3).unwrap(), 3);
    assert_eq!(*map.get_or_insert(&all[2], 4), 4);
    map.extend([(&all[3], 5)]);
    assert_eq!((map.len(), map.len_live()), (4, 4));
    assert!(map.contains_key(&all[3]) && map.capacity() >= 8);
    *map.get_mut(&all[3]).unwrap() += 1;
    assert_eq!(map[&all[3]], 6);
    assert_eq!(sorted(map.values().copied()), [2, 3, 4, 6]);
    map.values_mut().for_each(|value| *value *= 10);
    assert_eq!(map.remove(&all[0]), Some(20));
    assert_eq!(map.remove(&all[0]), None);
    map.shrink_to_fit();
    assert_eq!(sorted(map.into_values()), [30, 40, 60]);
    let mut again: WeakMap<_, usize> = all.iter().zip(0..).collect();
    assert_eq!(again.len(), 4);
    again.clear();
    assert!(again.is_empty() && !again.contains_key(&all[1]));
}

fn entries<F: Own>() {
    let all = anchors::<F>(2);
    let mut map = WeakMap::<_, usize>::new();
    *map.entry(&all[0]).or_default() += 7;
    *map.entry(&all[0]).or_insert(100) += 1;
    map.entry(&all[1]).or_insert_with(|| 3);
    let Entry::Occupied(entry) = map.entry(&all[0]) else {
        panic!("it has a value")
    };
    assert!(entry.key().ptr_eq(&all[0]));
    assert_eq!(entry.remove(), 8);
    assert!(matches!(map.entry(&all[0]), Entry::Vacant(_)));
    assert_eq!(map.len(), 1);
}

/// More have died than the method reclaims before it begins.
fn retaining_by_value<F: Own>() {
    let mut all = anchors::<F>(48);
    let mut map: WeakMap<_, usize> = all.iter().zip(0..48).collect();
    all.truncate(8);
    let mut seen = Vec::new();
    map.retain_values(|value| {
        seen.push(*value);
        *value += 100;
        *value % 2 == 0
    });
    assert_eq!(sorted(seen), [0, 1, 2, 3, 4, 5, 6, 7]); // not those of the dead
    assert_eq!(sorted(map.values().copied()), [100, 102, 104, 106]);
    // A new entry where one was taken out.
    assert_eq!(map.insert(&all[1], 1), None);
    assert_eq!((map.get(&all[1]), map.len()), (Some(&1), 5));
}

/// The handle of an entry identifies its anchor, and finds the entry again.
fn weak_iteration_tells_whose_a_value_is<F: Own>() {
    let mut all = anchors::<F>(4);
    let map: WeakMap<_, usize> = all.iter().zip(0..).collect();
    let set: WeakSet<_> = all.iter().collect();
    let pair = local::Strong::new(7);
    let pairs: WeakPairMap<_, _> = all.iter().map(|key| (key, &pair)).collect();
    all.remove(1);
    let number_of = |anchor| map[anchor];
    let mut seen = Vec::new();
    for (key, &value) in map.iter_weak() {
        let anchor = all.iter().find(|anchor| key.is(anchor)).unwrap();
        assert_eq!((number_of(anchor), map.get(&key)), (value, Some(&value)));
        seen.push(value);
    }
    assert_eq!(sorted(seen), [0, 2, 3]);
    let of_set = set.iter_weak().map(|key| map[&key]);
    assert_eq!(sorted(of_set), [0, 2, 3]);
    let of_pairs = pairs.iter_weak();
    assert_eq!(
        sorted(of_pairs.map(|(key, value)| map[&key] + *value.upgrade().unwrap())),
        [7, 9, 10]
    );
    // Handles that are kept do not keep an entry.
    let kept: Vec<_> = map.iter_weak().map(|(key, _)| key).collect();
    drop(all);
    assert!(kept.iter().all(|key| key.is_expired()) && map.is_empty());
    assert_eq!((map.iter_weak().count(), set.iter_weak().count()), (0, 0));
    assert_eq!(pairs.iter_weak().count(), 0);
}

fn values_are_made_for_weak_handles<F: Own>() {
    let all = anchors::<F>(2);
    let mut map = WeakMap::<_, usize>::new();
    let number = |of: &ptr::AnchorRef<F>| all.iter().position(|anchor| of.is(anchor)).unwrap();
    assert_eq!(*map.get_or_insert_with(&all[0], number), 0);
    let failed = map.try_get_or_insert_with(&all[1], |of| Err(of.clone()));
    assert!(failed.unwrap_err().is(&all[1]));
    assert_eq!(*map.entry(&all[1]).or_insert_with_key(number), 1);
    assert_eq!(map.len(), 2);
    drop(all);
    assert!(map.is_empty());
}

/// 114: From an anchor to an object that nobody here owns: gone with the first of the two.
fn pairs<F: Own>() {
    let all = anchors::<F>(3);
    let [mut one, other] = [1_usize, 2].map(local::Strong::new);
    let mut shows = WeakPairMap::new();
    assert_eq!(shows.insert(&all[0], &one), None);
    shows.insert(&all[1], &one);
    shows.insert(&all[2], &other);
    assert_eq!(shows.get(&all[0]).as_deref(), Some(&1));
    assert_eq!(shows.values().map(|value| *value).sum::<usize>(), 4);
    assert_eq!(shows.iter_weak().count(), 3);
    one = local::Strong::new(3);
    assert!(shows.get(&all[0]).is_none() && !shows.contains_key(&all[1]));
    assert_eq!(shows.len(), 1);
    assert_eq!(*shows.get_or_insert(&all[0], one.clone()), 3);
    drop(all);
    assert!(shows.is_empty());
    assert_eq!(shows.into_values().count(), 0);
}
