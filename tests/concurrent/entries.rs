//! The methods over all entries, and those that show keys: each collection has all that it can have.

use std::fmt::Debug;
use std::hash::Hash;

use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{
    Anchor, Strong,
    reference::{WeakKey, WeakRef},
};

use crate::faces::{Kind, Life, Ours, Std, lives};

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items = Vec::from_iter(items);
    items.sort();
    items
}

macro_rules! for_each_kind {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn strong() {
                super::check::$test::<super::Ours>();
            }
            #[test]
            fn arc() {
                super::check::$test::<super::Std>();
            }
        }
    )*};
}

for_each_kind!(
    maps,
    maps_by_content,
    value_maps,
    pair_maps,
    sets,
    weak_handles
);

mod check {
    use super::*;

    /// The keys 0 to 3 have the values 10 to 13, and 2 is dead.
    macro_rules! map {
        ($map:ty, $keys:ident) => {{
            let map = <$map>::from_iter($keys.iter().zip(10_usize..));
            drop($keys.remove(2));
            map
        }};
    }

    macro_rules! of_owned_values {
        ($map:ident, $keys:ident) => {
            assert_eq!($map.len_live(), 3);
            assert_eq!(sorted($map.values()), [10, 11, 13]);
            assert_eq!(sorted($map.keys().map(|key| *key)), [0, 1, 3]);
            let weak = $map.iter_weak();
            assert_eq!(weak.size_hint().0, 0);
            let upgraded = weak.map(|(key, value)| (*key.upgrade().unwrap(), value));
            assert_eq!(sorted(upgraded), [(0, 10), (1, 11), (3, 13)]);
            let (key, value) = $map.get_key_value(&$keys[0]).unwrap();
            assert_eq!((*key, value), (0, 10));
            drop(key);
            let (key, value) = $map.remove_entry(&$keys[0]).unwrap();
            assert_eq!((*key, value), (0, 10));
            assert!($map.remove_entry(&$keys[0]).is_none());
            assert!($map.get_key_value(&$keys[0]).is_none());
            $map.retain_values(|value| *value != 11);
            assert_eq!(sorted($map.values()), [13]);
            // The snapshot shows what has been removed no more.
            let rest = ($map.values(), $map.keys(), $map.iter_weak());
            $map.clear();
            assert_eq!((rest.0.count(), rest.1.count(), rest.2.count()), (0, 0, 0));
        };
    }

    pub(super) fn maps<P: Kind>() {
        let mut keys = lives::<P>(4);
        let map = map!(WeakMap<_, _>, keys);
        of_owned_values!(map, keys);
    }

    pub(super) fn maps_by_content<P: Kind>()
    where
        Life<P>: Hash + Eq,
    {
        let mut keys = lives::<P>(4);
        let map = map!(WeakHashMap<_, _>, keys);
        of_owned_values!(map, keys);
    }

    pub(super) fn value_maps<P: Kind>() {
        let mut values = lives::<P>(4);
        let map = <WeakValueMap<_, _>>::from_iter((10_usize..).zip(&values));
        drop(values.remove(2));
        assert_eq!(map.len_live(), 3);
        assert_eq!(sorted(map.keys()), [10, 11, 13]);
        assert_eq!(sorted(map.values().map(|value| *value)), [0, 1, 3]);
        let upgraded = map
            .iter_weak()
            .map(|(key, value)| (key, *value.upgrade().unwrap()));
        assert_eq!(sorted(upgraded), [(10, 0), (11, 1), (13, 3)]);
        let (key, value) = map.get_key_value(&10).unwrap();
        assert_eq!((key, *value), (10, 0));
        let (key, value) = map.remove_entry(&10).unwrap();
        assert_eq!((key, *value), (10, 0));
        assert!(map.remove_entry(&10).is_none() && map.get_key_value(&10).is_none());
        map.retain_values(|value| **value != 1);
        assert_eq!(sorted(map.keys()), [13]);
        let rest = (map.values(), map.keys(), map.iter_weak());
        drop(values);
        assert_eq!((rest.0.count(), rest.1.count(), rest.2.count()), (0, 0, 0));
    }

    pub(super) fn pair_maps<P: Kind>() {
        let (mut keys, mut values) = (lives::<P>(4), lives::<P>(4));
        let map = WeakPairMap::from_iter(keys.iter().zip(&values));
        drop((keys.remove(2), values.remove(3)));
        assert_eq!(map.len_live(), 2);
        assert_eq!(sorted(map.keys().map(|key| *key)), [0, 1]);
        assert_eq!(sorted(map.values().map(|value| *value)), [0, 1]);
        let both = |(key, value): (<Life<P> as WeakKey>::Weak, <Life<P> as WeakKey>::Weak)| {
            (*key.upgrade().unwrap(), *value.upgrade().unwrap())
        };
        assert_eq!(sorted(map.iter_weak().map(both)), [(0, 0), (1, 1)]);
        let (key, value) = map.remove_entry(&keys[0]).unwrap();
        assert_eq!((*key, *value), (0, 0));
        assert!(map.remove_entry(&keys[0]).is_none());
        map.retain_values(|value| **value != 1);
        assert_eq!(map.len_live(), 0);
    }

    pub(super) fn sets<P: Kind>() {
        let mut keys = lives::<P>(4);
        let set = WeakSet::from_iter(&keys);
        let by_content = <WeakHashSet<_>>::from_iter(&keys);
        let interner = Interner::<Life<P>>::new();
        for key in &keys {
            _ = interner.intern(key.clone());
        }
        drop(keys.remove(2));
        let numbers = |weak: <Life<P> as WeakKey>::Weak| *weak.upgrade().unwrap();
        assert_eq!(sorted(set.iter_weak().map(numbers)), [0, 1, 3]);
        assert_eq!(sorted(by_content.iter_weak().map(numbers)), [0, 1, 3]);
        assert_eq!(sorted(interner.iter_weak().map(numbers)), [0, 1, 3]);
        assert!((&interner).into_iter().count() == 3 && interner.len_live() == 3);
        assert_eq!(*set.get(&keys[0]).unwrap(), 0);
        assert_eq!(*set.take(&keys[0]).unwrap(), 0);
        assert!(set.get(&keys[0]).is_none() && set.take(&keys[0]).is_none());
    }

    /// They keep nothing alive, and stay what they are when the entry has gone.
    pub(super) fn weak_handles<P: Kind>() {
        let keys = lives::<P>(2);
        let map = WeakMap::from_iter(keys.iter().zip(10_usize..));
        let weak: Vec<_> = map.iter_weak().collect();
        // Once more, where each has a handle.
        assert_eq!(map.iter_weak().count(), 2);
        map.clear();
        assert!(weak.iter().all(|(key, _)| !key.is_expired()));
        drop(keys);
        assert!(weak.iter().all(|(key, _)| key.is_expired()));
    }
}

/// Without bounds on keys and hashers: functions for all of them.
#[test]
fn housekeeping_asks_for_nothing() {
    fn maps<V, S>(map: &WeakHashMap<Strong<f32>, V, S>) -> usize {
        map.purge();
        map.clear();
        map.len() + map.len_live() + map.keys().count()
    }
    fn values<K, S>(map: &WeakValueMap<K, Strong<f32>, S>) -> usize {
        map.purge();
        map.shrink_to_fit();
        map.retain_values(|_| true);
        map.clear();
        map.len() + map.len_live()
    }
    fn sets<S>(set: &WeakHashSet<Strong<f32>, S>, interner: &Interner<Strong<f32>, S>) -> usize {
        interner.clear();
        set.iter().count() + interner.iter().count() + set.len()
    }
    assert_eq!(maps::<(), _>(&WeakHashMap::with_hasher(())), 0);
    assert_eq!(values::<f32, _>(&WeakValueMap::with_hasher(())), 0);
    let (set, interner) = (WeakHashSet::with_hasher(()), Interner::with_hasher(()));
    assert_eq!(sets(&set, &interner), 0);
    fn shows(_: &dyn Debug) {}
    shows(&set);
}

/// An anchor's component knows whose it is.
#[test]
fn anchors() {
    let all = [(); 3].map(|()| Anchor::new());
    let map = WeakMap::from_iter(all.iter().zip(0_usize..));
    let set = WeakSet::from_iter(&all);
    let name = |map: &Anchor| map.downgrade();
    let pairs = WeakPairMap::new();
    let [value, other] = [7_usize, 8].map(Strong::new);
    pairs.insert(&all[0], &value);
    pairs.insert(&all[1], &other);
    for (anchor, value) in map.iter_weak() {
        assert!(anchor.is(&all[value]));
    }
    assert_eq!(map.iter_weak().count(), 3);
    assert_eq!(
        set.iter_weak()
            .filter(|weak| *weak == name(&all[1]))
            .count(),
        1
    );
    let (anchor, weak) = pairs
        .iter_weak()
        .find(|(_, weak)| weak.upgrade() == Some(value.clone()))
        .unwrap();
    assert!(anchor.is(&all[0]) && weak.upgrade().is_some());
    map.get_or_insert_with(&Anchor::new(), |anchor| {
        assert!(all.iter().all(|it| !anchor.is(it)));
        3
    });
    assert_eq!(map.iter_weak().count(), 3);
    drop(all);
    assert_eq!(
        (
            map.iter_weak().count(),
            set.iter_weak().count(),
            pairs.iter_weak().count()
        ),
        (0, 0, 0)
    );
}
