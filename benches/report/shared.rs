//! Maps that threads share, behind one face.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ahash::RandomState;
use weak_table::PtrWeakKeyHashMap;
use weakly::{Attribute, Memo, Strong, concurrent};

use crate::theirs::ByAddr;

/// A map from objects to numbers that threads share.
pub(crate) trait Shared: Send + Sync + 'static {
    type Object: Send + Sync + 'static;
    fn with_capacity(capacity: usize) -> Self;
    fn object(number: u64) -> Self::Object;
    fn insert(&self, object: &Self::Object, number: u64);
    fn get(&self, object: &Self::Object) -> Option<u64>;
    /// The object is about to die: for those who have to be told.
    #[inline]
    fn part(&self, _: &Self::Object) {}
}

macro_rules! ours {
    ($name:ty, |$capacity:ident| $new:expr, $insert:ident) => {
        impl Shared for $name {
            type Object = Strong<u64>;
            fn with_capacity($capacity: usize) -> Self {
                $new
            }
            #[inline]
            fn object(number: u64) -> Strong<u64> {
                Strong::new(number)
            }
            #[inline]
            fn insert(&self, object: &Strong<u64>, number: u64) {
                <$name>::$insert(self, object, number);
            }
            #[inline]
            fn get(&self, object: &Strong<u64>) -> Option<u64> {
                <$name>::get(self, object)
            }
        }
    };
}

ours!(
    concurrent::WeakMap<Strong<u64>, u64>,
    |capacity| Self::with_capacity(capacity),
    insert
);
ours!(Attribute<Strong<u64>, u64>, |_capacity| Self::new(), set);

/// Peers keyed by address, with our hash. Nobody tells them of deaths but their users.
macro_rules! by_address {
    ($name:ident, $map:ty, |$capacity:ident| $new:expr, |$this:ident, $key:ident, $number:ident| $insert:expr, $get:expr, $remove:expr) => {
        pub(crate) struct $name($map);

        impl Shared for $name {
            type Object = Arc<u64>;
            fn with_capacity($capacity: usize) -> Self {
                $name($new)
            }
            #[inline]
            fn object(number: u64) -> Arc<u64> {
                Arc::new(number)
            }
            #[inline]
            fn insert(&self, object: &Arc<u64>, $number: u64) {
                let ($this, $key) = (&self.0, Arc::as_ptr(object).addr());
                $insert;
            }
            #[inline]
            fn get(&self, object: &Arc<u64>) -> Option<u64> {
                let ($this, $key) = (&self.0, Arc::as_ptr(object).addr());
                $get
            }
            #[inline]
            fn part(&self, object: &Arc<u64>) {
                let ($this, $key) = (&self.0, Arc::as_ptr(object).addr());
                $remove;
            }
        }
    };
}

by_address!(Papaya, papaya::HashMap<usize, u64, ByAddr>,
    |capacity| papaya::HashMap::builder().capacity(capacity).hasher(ByAddr).build(),
    |map, key, number| map.pin().insert(key, number),
    map.pin().get(&key).copied(),
    map.pin().remove(&key));
by_address!(DashMap, dashmap::DashMap<usize, u64, ByAddr>,
    |capacity| dashmap::DashMap::with_capacity_and_hasher(capacity, ByAddr),
    |map, key, number| map.insert(key, number),
    map.get(&key).map(|number| *number),
    map.remove(&key));
by_address!(
    Locked,
    Mutex<HashMap<usize, u64, ByAddr>>,
    |capacity| Mutex::new(HashMap::with_capacity_and_hasher(capacity, ByAddr)),
    |map, key, number| map.lock().unwrap().insert(key, number),
    map.lock().unwrap().get(&key).copied(),
    map.lock().unwrap().remove(&key)
);

/// `weak-table` behind a lock.
pub(crate) struct LockedWeakTable(Mutex<PtrWeakKeyHashMap<std::sync::Weak<u64>, u64, RandomState>>);

impl Shared for LockedWeakTable {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        let map = PtrWeakKeyHashMap::with_capacity_and_hasher(capacity, RandomState::new());
        LockedWeakTable(Mutex::new(map))
    }
    #[inline]
    fn object(number: u64) -> Arc<u64> {
        Arc::new(number)
    }
    #[inline]
    fn insert(&self, object: &Arc<u64>, number: u64) {
        self.0.lock().unwrap().insert(object.clone(), number);
    }
    #[inline]
    fn get(&self, object: &Arc<u64>) -> Option<u64> {
        self.0.lock().unwrap().get(object).copied()
    }
}

/// A memo, asked for what it has.
impl Shared for Memo<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(_: usize) -> Self {
        Memo::new()
    }
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    fn insert(&self, object: &Strong<u64>, number: u64) {
        self.get_or_compute(object, |_| number);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        Some(self.get_or_compute(object, |_| unreachable!("it is there")))
    }
}

/// A cache with single flight, keyed by address; with ahash, for it hashes more than the address.
pub(crate) struct Moka(moka::sync::Cache<usize, u64, RandomState>);

impl Shared for Moka {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        let cache = moka::sync::Cache::builder().max_capacity(2 * capacity as u64 + 100);
        Moka(cache.build_with_hasher(RandomState::new()))
    }
    fn object(number: u64) -> Arc<u64> {
        Arc::new(number)
    }
    fn insert(&self, object: &Arc<u64>, number: u64) {
        self.0.get_with(Arc::as_ptr(object).addr(), || number);
    }
    #[inline]
    fn get(&self, object: &Arc<u64>) -> Option<u64> {
        Some(
            self.0
                .get_with(Arc::as_ptr(object).addr(), || unreachable!("it is there")),
        )
    }
}
