//! The methods that collections of one owner have for keys that they cannot give back.

use weakly::{WeakMap, WeakPairMap, WeakSet, local, ptr};

use crate::common::Own;
use crate::for_each_flavour;

for_each_flavour!(
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
