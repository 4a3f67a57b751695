//! One face for the maps that compute a value for a key.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use weakly::concurrent::{WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};

use crate::faces::{Kind, Life, lives};

/// A map that computes values for the keys 0 to 7.
pub(crate) trait GetOrInsert: Sync {
    type Value: Deref<Target = usize> + Clone + Send + Sync;

    fn new() -> Self;
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Self::Value;
    fn get(&self, key: usize) -> Option<Self::Value>;
    /// Sets it; returns whether there was none.
    fn set(&self, key: usize, value: &Self::Value) -> bool;
    fn remove(&self, key: usize) -> bool;
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
        fn value(number: usize) -> $value {
            number.into()
        }
    };
}

/// Weak keys, by identity.
pub(crate) struct Maps<P: Kind> {
    map: WeakMap<Life<P>, Arc<usize>>,
    keys: Vec<Life<P>>,
}

impl<P: Kind> GetOrInsert for Maps<P> {
    alike!(Arc<usize>);

    fn new() -> Self {
        let (map, keys) = (WeakMap::new(), lives::<P>(8));
        Maps { map, keys }
    }
    #[track_caller]
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Arc<usize> {
        self.map
            .get_or_insert_with(&self.keys[key], || Arc::new(make()))
    }
    fn get(&self, key: usize) -> Option<Arc<usize>> {
        self.map.get(&self.keys[key])
    }
    fn set(&self, key: usize, value: &Arc<usize>) -> bool {
        self.map.insert(&self.keys[key], value.clone())
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&self.keys[key]).is_some()
    }
}

/// Weak values, which the test keeps alive.
pub(crate) struct Values<P: Kind> {
    map: WeakValueMap<usize, Life<P>>,
}

impl<P: Kind> GetOrInsert for Values<P> {
    alike!(Life<P>);

    fn new() -> Self {
        let map = WeakValueMap::new();
        Values { map }
    }
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Life<P> {
        self.map.get_or_insert_with(key, |asked| {
            assert_eq!(*asked, key);
            make().into()
        })
    }
    fn get(&self, key: usize) -> Option<Life<P>> {
        self.map.get(&key)
    }
    fn set(&self, key: usize, value: &Life<P>) -> bool {
        self.map.insert(key, value).is_none()
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&key).is_some()
    }
}

/// Weak keys by content; lookups use another object each time.
pub(crate) struct HashMaps<P: Kind> {
    map: WeakHashMap<Life<P>, Arc<usize>>,
    keys: [Mutex<Vec<Life<P>>>; 8],
}

impl<P: Kind> HashMaps<P> {
    fn key(&self, key: usize) -> Life<P> {
        let new = Life::<P>::from(key);
        self.keys[key].lock().unwrap().push(new.clone());
        new
    }
}

impl<P: Kind> GetOrInsert for HashMaps<P> {
    alike!(Arc<usize>);

    fn new() -> Self {
        let (map, keys) = (WeakHashMap::new(), Default::default());
        HashMaps { map, keys }
    }
    #[track_caller]
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Arc<usize> {
        let key = self.key(key);
        self.map.get_or_insert_with(&key, || Arc::new(make()))
    }
    fn get(&self, key: usize) -> Option<Arc<usize>> {
        self.map.get(&key)
    }
    fn set(&self, key: usize, value: &Arc<usize>) -> bool {
        self.map.insert(&self.key(key), value.clone())
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&key).is_some()
    }
}

/// Weak values of weak keys.
pub(crate) struct Pairs<P: Kind> {
    map: WeakPairMap<Life<P>, Life<P>>,
    keys: Vec<Life<P>>,
}

impl<P: Kind> GetOrInsert for Pairs<P> {
    alike!(Life<P>);

    fn new() -> Self {
        let (map, keys) = (WeakPairMap::new(), lives::<P>(8));
        Pairs { map, keys }
    }
    #[track_caller]
    fn ask(&self, key: usize, make: impl FnOnce() -> usize) -> Life<P> {
        self.map.get_or_insert_with(&self.keys[key], |asked| {
            assert_eq!(**asked, key);
            make().into()
        })
    }
    fn get(&self, key: usize) -> Option<Life<P>> {
        self.map.get(&self.keys[key])
    }
    fn set(&self, key: usize, value: &Life<P>) -> bool {
        self.map.insert(&self.keys[key], value).is_none()
    }
    fn remove(&self, key: usize) -> bool {
        self.map.remove(&self.keys[key]).is_some()
    }
}
