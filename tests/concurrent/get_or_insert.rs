//! One face for the maps that compute a value for a key.

use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use weakly::concurrent::{SharedRef, WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};

use crate::common::subject::{Life, new_lives};
use crate::dynamic::*;
use crate::faces::{self, Owned, owned, quietly};

/// The error of any closure, and the closure: the library is compiled once for all of them.
type Failure = Box<dyn Any>;
type Making<'m> = &'m mut dyn FnMut() -> Result<usize, Failure>;

const ONCE: &str = "a closure is called once";

fn erased<V, E: 'static>(
    make: impl FnOnce() -> Result<usize, E>,
    ask: impl FnOnce(Making<'_>) -> Result<V, Failure>,
) -> Result<V, E> {
    let mut make = Some(make);
    let asked = ask(&mut || {
        let made = make.take().expect(ONCE)();
        made.map_err(|error| Box::new(error) as Failure)
    });
    asked.map_err(|error| *error.downcast().expect("it is the closure's"))
}

/// What a value contains.
pub(crate) trait Made {
    fn number(&self) -> usize;
}

impl Made for usize {
    fn number(&self) -> usize {
        *self
    }
}

impl Made for Owned {
    fn number(&self) -> usize {
        self.number
    }
}

/// A map that computes values for the keys 0 to 7.
pub(crate) trait GetOrInsert: Sync {
    type Value: Deref<Target: Made> + Clone + Send + Sync;

    fn new() -> Self;
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> Self::Value;
    /// The same, where making it may fail.
    fn try_ask_for(&self, key: usize, make: Making<'_>) -> Result<Self::Value, Failure>;
    /// The same, where threads do not wait for each other.
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<Self::Value, Failure>;

    #[track_caller]
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Self::Value {
        let mut make = Some(make);
        self.ask_for(key, &mut || make.take().expect(ONCE)())
    }
    fn try_ask<E: 'static>(
        &self,
        key: usize,
        make: impl FnOnce() -> Result<usize, E>,
    ) -> Result<Self::Value, E> {
        erased(make, |make| self.try_ask_for(key, make))
    }
    fn race<E: 'static>(
        &self,
        key: usize,
        make: impl FnOnce() -> Result<usize, E>,
    ) -> Result<Self::Value, E> {
        erased(make, |make| self.race_for(key, make))
    }
    fn get(&self, key: usize) -> Option<Self::Value>;
    /// Sets it; returns whether there was none.
    fn set(&self, key: usize, value: &Self::Value) -> bool;
    fn remove(&self, key: usize) -> bool;
    /// Removes it, if the closure says so of a value.
    fn remove_if(&self, key: usize, wanted: impl FnMut() -> bool) -> bool;
    fn clear(&self);
    fn retain(&self, keep: bool);
    fn len(&self) -> usize;
    fn value(number: usize) -> Self::Value;
}

pub(crate) fn is_same<M: GetOrInsert>(one: &M::Value, other: &M::Value) -> bool {
    std::ptr::eq(&raw const **one, &raw const **other)
}

/// The methods with the same names, and how a value is made.
macro_rules! alike {
    ($value:ty) => {
        type Value = $value;

        fn clear(&self) {
            self.map.clear();
        }
        fn retain(&self, keep: bool) {
            self.map.retain(|_, _| keep);
        }
        fn len(&self) -> usize {
            self.map.len()
        }
    };
}

/// Weak keys, by identity.
pub(crate) struct Maps<K: Life + SharedRef> {
    map: faces::Maps<K>,
    keys: Vec<K>,
}

impl<K: Life + SharedRef> GetOrInsert for Maps<K> {
    alike!(Arc<Owned>);

    fn value(number: usize) -> Arc<Owned> {
        owned(number, &quietly())
    }

    fn new() -> Self {
        let (map, keys) = (WeakMap::new(), new_lives::<K>(8));
        Maps { map, keys }
    }
    #[track_caller]
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> Arc<Owned> {
        self.map
            .get_or_insert_dyn(&self.keys[key], &mut || Self::value(make()))
    }
    fn try_ask_for(&self, key: usize, make: Making<'_>) -> Result<Arc<Owned>, Failure> {
        let make = |_: &_| make().map(Self::value);
        self.map.try_get_or_insert_with(&self.keys[key], make)
    }
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<Arc<Owned>, Failure> {
        let make = |_: &_| make().map(Self::value);
        self.map.try_get_or_insert_racing(&self.keys[key], make)
    }
    fn get(&self, key: usize) -> Option<Arc<Owned>> {
        self.map.get(&self.keys[key])
    }
    fn set(&self, key: usize, value: &Arc<Owned>) -> bool {
        self.map.insert(&self.keys[key], value.clone())
    }
    fn remove_if(&self, key: usize, mut wanted: impl FnMut() -> bool) -> bool {
        self.map.remove_if(&self.keys[key], |_| wanted())
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&self.keys[key]).is_some()
    }
}

/// Weak values, which the test keeps alive.
pub(crate) struct Values<K: Life + SharedRef> {
    map: WeakValueMap<usize, K>,
}

impl<K: Life + SharedRef> GetOrInsert for Values<K> {
    alike!(K);

    fn value(number: usize) -> K {
        number.into()
    }

    fn new() -> Self {
        let map = WeakValueMap::new();
        Values { map }
    }
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> K {
        self.map.get_or_insert_with(key, |asked| {
            assert_eq!(*asked, key);
            make().into()
        })
    }
    fn try_ask_for(&self, key: usize, make: Making<'_>) -> Result<K, Failure> {
        let make = |_: &_| make().map(Into::into);
        self.map.try_get_or_insert_with(key, make)
    }
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<K, Failure> {
        let make = |_: &_| make().map(Into::into);
        self.map.try_get_or_insert_racing(key, make)
    }
    fn get(&self, key: usize) -> Option<K> {
        self.map.get(&key)
    }
    fn set(&self, key: usize, value: &K) -> bool {
        self.map.insert(key, value).is_none()
    }
    fn remove_if(&self, key: usize, mut wanted: impl FnMut() -> bool) -> bool {
        self.map.remove_if(&key, |_| wanted()).is_some()
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&key).is_some()
    }
}

/// Weak keys by content; lookups use another object each time.
pub(crate) struct HashMaps<K: Life + SharedRef> {
    map: faces::HashMaps<K>,
    keys: [Mutex<Vec<K>>; 8],
}

impl<K: Life + SharedRef> HashMaps<K> {
    fn key(&self, key: usize) -> K {
        let new = K::from(key);
        self.keys[key].lock().unwrap().push(new.clone());
        new
    }
}

impl<K: Life + SharedRef> GetOrInsert for HashMaps<K> {
    alike!(Arc<Owned>);

    fn value(number: usize) -> Arc<Owned> {
        owned(number, &quietly())
    }

    fn new() -> Self {
        let (map, keys) = (WeakHashMap::new(), Default::default());
        HashMaps { map, keys }
    }
    #[track_caller]
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> Arc<Owned> {
        let key = self.key(key);
        self.map
            .get_or_insert_dyn(&key, &mut || Self::value(make()))
    }
    fn try_ask_for(&self, key: usize, make: Making<'_>) -> Result<Arc<Owned>, Failure> {
        let make = |_: &_| make().map(Self::value);
        self.map.try_get_or_insert_with(&self.key(key), make)
    }
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<Arc<Owned>, Failure> {
        let make = |_: &_| make().map(Self::value);
        self.map.try_get_or_insert_racing(&self.key(key), make)
    }
    fn get(&self, key: usize) -> Option<Arc<Owned>> {
        self.map.get(&key)
    }
    fn set(&self, key: usize, value: &Arc<Owned>) -> bool {
        self.map.insert(&self.key(key), value.clone())
    }
    fn remove_if(&self, key: usize, mut wanted: impl FnMut() -> bool) -> bool {
        self.map.remove_if(&key, |_| wanted())
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&key).is_some()
    }
}

/// Weak values of weak keys.
pub(crate) struct Pairs<K: Life + SharedRef> {
    map: WeakPairMap<K, K>,
    keys: Vec<K>,
}

impl<K: Life + SharedRef> GetOrInsert for Pairs<K> {
    alike!(K);

    fn value(number: usize) -> K {
        number.into()
    }

    fn new() -> Self {
        let (map, keys) = (WeakPairMap::new(), new_lives::<K>(8));
        Pairs { map, keys }
    }
    #[track_caller]
    fn ask_for(&self, key: usize, make: &mut dyn FnMut() -> usize) -> K {
        self.map.get_or_insert_with(&self.keys[key], |asked| {
            assert_eq!(**asked, key);
            make().into()
        })
    }
    fn try_ask_for(&self, key: usize, make: Making<'_>) -> Result<K, Failure> {
        let make = |_: &_| make().map(Into::into);
        self.map.try_get_or_insert_with(&self.keys[key], make)
    }
    fn race_for(&self, key: usize, make: Making<'_>) -> Result<K, Failure> {
        let make = |_: &_| make().map(Into::into);
        self.map.try_get_or_insert_racing(&self.keys[key], make)
    }
    fn get(&self, key: usize) -> Option<K> {
        self.map.get(&self.keys[key])
    }
    fn set(&self, key: usize, value: &K) -> bool {
        self.map.insert(&self.keys[key], value).is_none()
    }
    fn remove_if(&self, key: usize, mut wanted: impl FnMut() -> bool) -> bool {
        self.map.remove_if(&self.keys[key], |_| wanted()).is_some()
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&self.keys[key]).is_some()
    }
}

crate::subjects! {
    $ in [crate::get_or_insert];

    for_each_making [strong: Atomic, arc: StdArc]
        [weak_map: Maps, weak_value_map: Values, weak_hash_map: HashMaps, weak_pair_map: Pairs];
}
