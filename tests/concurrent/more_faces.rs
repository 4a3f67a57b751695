//! The faces of collections keyed by content, and of pairs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use weakly::Reclaim;
use weakly::concurrent::{WeakHashMap, WeakHashSet, WeakPairMap};

use super::{Changing, Collection, Ends, Kind, Life, Owned, Removed, WeakLife, agreed, is_same};

pub(crate) struct HashMaps<P: Kind>(WeakHashMap<Life<P>, Arc<Owned>>);
pub(crate) struct HashSets<P: Kind>(WeakHashSet<Life<P>>);
/// Pairs that live as long as their keys: all have the value that is stored here.
pub(crate) struct PairsByKey<P: Kind>(WeakPairMap<Life<P>, Life<P>>, Life<P>);
/// Pairs that live as long as their values: the key of each number is stored here.
pub(crate) struct PairsByValue<P: Kind>(
    WeakPairMap<Life<P>, Life<P>>,
    Mutex<HashMap<usize, Life<P>>>,
);

defaults!(HashMaps HashSets PairsByKey PairsByValue);

impl<P: Kind> PairsByValue<P> {
    /// The key that finds the entry of a number.
    fn key(&self, number: usize) -> Life<P> {
        let mut keys = self.1.lock().unwrap();
        keys.entry(number).or_insert_with(|| number.into()).clone()
    }
}

impl<P: Kind> Collection for HashMaps<P> {
    const OWNS: bool = true;

    housekeeping!(WeakHashMap);

    fn enter(&self, life: &Life<P>, ends: &Ends) -> bool {
        self.0.insert(life, Arc::new(Owned::new(**life, ends)))
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get_key_value(&**life);
        found.is_some_and(|(key, owned)| is_same::<P>(&key, life) && owned.number == **life)
    }
    fn has_dead(&self, number: usize, _: &WeakLife<P>) -> bool {
        self.0.contains_key(&number)
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter().map(|(life, owned)| {
            assert_eq!(*life, owned.number);
            life
        })
    }
}

impl<P: Kind> Changing for HashMaps<P> {
    map_changes!(|_all, life| &**life, |life, owned| agreed(
        **life,
        owned.number
    ));
}

impl<P: Kind> Collection for HashSets<P> {
    housekeeping!(WeakHashSet);

    fn enter(&self, life: &Life<P>, _: &Ends) -> bool {
        self.0.insert(life)
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get(&**life);
        found.is_some_and(|found| is_same::<P>(&found, life))
    }
    fn has_dead(&self, number: usize, _: &WeakLife<P>) -> bool {
        self.0.contains(&number)
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter()
    }
}

impl<P: Kind> Changing for HashSets<P> {
    set_changes!(|life| &**life);
}

impl<P: Kind> Collection for PairsByKey<P> {
    housekeeping!(WeakPairMap, 0.into());

    fn enter(&self, life: &Life<P>, _: &Ends) -> bool {
        self.0.insert(life, &self.1).is_none()
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get(life);
        found.is_some_and(|found| is_same::<P>(&found, &self.1))
    }
    fn has_dead(&self, _: usize, weak: &WeakLife<P>) -> bool {
        self.0.contains_key(weak) || self.0.get(weak).is_some()
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter().map(|(key, _)| key)
    }
}

impl<P: Kind> Changing for PairsByKey<P> {
    map_changes!(|_all, life| life, |key, _| **key);
}

impl<P: Kind> Collection for PairsByValue<P> {
    housekeeping!(WeakPairMap, Mutex::default());

    fn enter(&self, life: &Life<P>, _: &Ends) -> bool {
        self.0.insert(&self.key(**life), life).is_none()
    }
    fn has(&self, life: &Life<P>) -> bool {
        let found = self.0.get(&self.key(**life));
        found.is_some_and(|found| is_same::<P>(&found, life))
    }
    fn has_dead(&self, number: usize, _: &WeakLife<P>) -> bool {
        let key = self.key(number);
        self.0.contains_key(&key) || self.0.get(&key).is_some()
    }
    fn iter(&self) -> impl Iterator<Item = Life<P>> + Send {
        self.0.iter().map(|(key, value)| {
            assert_eq!(*key, *value);
            value
        })
    }
}

impl<P: Kind> Changing for PairsByValue<P> {
    map_changes!(|all, life| &all.key(**life), |key, value| agreed(
        **key, **value
    ));
}
