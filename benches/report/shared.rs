//! Maps that threads share, behind one trait, and interners behind another.

use std::array;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use ahash::RandomState;
use equivalent::Equivalent;
use weakly::{Interner, Memo, Strong, concurrent};

use crate::peers::{Collection, Object};
use crate::theirs::ByAddr;

/// A map from objects to numbers that threads share.
pub(crate) trait Shared: Send + Sync + 'static {
    type Object: Object<Payload = u64> + Send + Sync;
    fn with_capacity(capacity: usize) -> Self;
    fn insert(&self, object: &Self::Object, number: u64);
    fn get(&self, object: &Self::Object) -> Option<u64>;
    /// Called before the object is dropped: for collections that must be notified explicitly.
    #[inline]
    fn before_drop(&self, _: &Self::Object) {}
}

/// A map that threads share, with one owner.
pub(crate) struct Alone<M>(M);

impl<M: Shared> Collection for Alone<M> {
    type Object = M::Object;
    fn with_capacity(capacity: usize) -> Self {
        Alone(M::with_capacity(capacity))
    }
    #[inline]
    fn insert(&mut self, object: &M::Object, number: u64) {
        self.0.insert(object, number);
    }
}

impl Shared for concurrent::WeakMap<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn insert(&self, object: &Strong<u64>, number: u64) {
        Self::insert(self, object, number);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        Self::get(self, object)
    }
}

/// Peers keyed by address, with our hash. Only their users remove the dead.
macro_rules! by_address {
    ($name:ident, $map:ty, |$capacity:ident| $new:expr, |$this:ident, $key:ident, $number:ident| $insert:expr, $get:expr, $remove:expr) => {
        pub(crate) struct $name($map);

        impl Shared for $name {
            type Object = Arc<u64>;
            fn with_capacity($capacity: usize) -> Self {
                $name($new)
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
            fn before_drop(&self, object: &Arc<u64>) {
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

/// A memo, asked for results that it has.
impl Shared for Memo<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(_: usize) -> Self {
        Memo::new()
    }
    fn insert(&self, object: &Strong<u64>, number: u64) {
        let computed = self.get_or_compute(object, |_| number);
        debug_assert_eq!(computed, number, "a miss");
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        Some(self.get_or_compute(object, |_| unreachable!("it is present")))
    }
}

/// A cache with single flight, keyed by address; with ahash, because it hashes more than the address.
pub(crate) struct Moka(moka::sync::Cache<usize, u64, RandomState>);

impl Shared for Moka {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        let cache = moka::sync::Cache::builder().max_capacity(2 * capacity as u64 + 100);
        Moka(cache.build_with_hasher(RandomState::new()))
    }
    fn insert(&self, object: &Arc<u64>, number: u64) {
        let computed = self.0.get_with(Arc::as_ptr(object).addr(), || number);
        debug_assert_eq!(computed, number, "a miss");
    }
    #[inline]
    fn get(&self, object: &Arc<u64>) -> Option<u64> {
        let absent = || unreachable!("it is present");
        Some(self.0.get_with(Arc::as_ptr(object).addr(), absent))
    }
    #[inline]
    fn before_drop(&self, object: &Arc<u64>) {
        self.0.invalidate(&Arc::as_ptr(object).addr());
    }
}

/// One live handle for each word, for threads that intern together.
pub(crate) trait SharedInterner: Send + Sync + 'static {
    fn with_capacity(capacity: usize) -> Self;
    fn intern(&self, word: &str) -> Strong<str>;
}

impl SharedInterner for concurrent::Interner<Strong<str>> {
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn intern(&self, word: &str) -> Strong<str> {
        self.intern_ref(word)
    }
}

/// An interner of a single owner behind a lock.
pub(crate) type OneLocked = Mutex<Interner<Strong<str>>>;

impl SharedInterner for OneLocked {
    fn with_capacity(capacity: usize) -> Self {
        Mutex::new(Interner::with_capacity(capacity))
    }
    #[inline]
    fn intern(&self, word: &str) -> Strong<str> {
        self.lock().unwrap().intern_ref(word)
    }
}

/// Interners of a single owner, each behind a lock on cache lines of its own. A word is hashed once, for both
/// the choice of the interner and the lookup.
pub(crate) struct Sharded {
    shards: [Shard; 16],
    hasher: RandomState,
}

#[repr(align(128))]
struct Shard(Mutex<Interner<Strong<str>, Hashes>>);

impl SharedInterner for Sharded {
    fn with_capacity(capacity: usize) -> Self {
        // The distribution of words is not quite even.
        let each = capacity / 16 + capacity / 64;
        let shard = || Shard(Mutex::new(Interner::with_capacity_and_hasher(each, Hashes)));
        Sharded {
            shards: array::from_fn(|_| shard()),
            hasher: RandomState::new(),
        }
    }
    #[inline]
    fn intern(&self, word: &str) -> Strong<str> {
        let hash = self.hasher.hash_one(word);
        // Neither the bits of positions nor those of tags.
        let shard = &self.shards[(hash >> 40) as usize % 16];
        shard.0.lock().unwrap().intern_ref(&Hashed { word, hash })
    }
}

/// A word whose hash is known.
struct Hashed<'w> {
    word: &'w str,
    hash: u64,
}

impl Hash for Hashed<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<str> for Hashed<'_> {
    #[inline]
    fn equivalent(&self, word: &str) -> bool {
        self.word == word
    }
}

impl From<&Hashed<'_>> for Strong<str> {
    #[inline]
    fn from(hashed: &Hashed<'_>) -> Self {
        Strong::from(hashed.word)
    }
}

/// Passes known hashes on.
struct Hashes;

struct KnownHash(u64);

impl BuildHasher for Hashes {
    type Hasher = KnownHash;
    #[inline]
    fn build_hasher(&self) -> KnownHash {
        KnownHash(0)
    }
}

impl Hasher for KnownHash {
    fn write(&mut self, _: &[u8]) {
        unreachable!("all hashes are known");
    }
    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
