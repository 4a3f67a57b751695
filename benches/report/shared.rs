//! Maps that threads share, behind one trait, and interners behind another.

use std::array;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use ahash::RandomState;
use equivalent::Equivalent;
use weak_table::PtrWeakKeyHashMap;
use weakly::memo::{Many, Value};
use weakly::{Interner, Memo, Strong, concurrent};

use crate::peers::{self, Collection, Lookup, Object, Purge, Remove, Walk};
use crate::theirs::ByAddr;

/// A map from objects to numbers that threads share.
pub(crate) trait Shared: Send + Sync + 'static {
    type Object: Send + Sync + 'static;
    fn with_capacity(capacity: usize) -> Self;
    fn object(number: u64) -> Self::Object;
    fn insert(&self, object: &Self::Object, number: u64);
    fn get(&self, object: &Self::Object) -> Option<u64>;
    /// Called before the object is dropped: for collections that must be notified explicitly.
    #[inline]
    fn before_drop(&self, _: &Self::Object) {}
}

/// A map that threads share, with one owner.
pub(crate) struct Alone<M>(M);

impl<M: Shared<Object: Object>> Collection for Alone<M> {
    type Object = M::Object;
    fn with_capacity(capacity: usize) -> Self {
        Alone(M::with_capacity(capacity))
    }
    #[inline]
    fn insert(&mut self, object: &M::Object, number: u64) {
        self.0.insert(object, number);
    }
}

impl<M: Shared<Object: Object>> Lookup for Alone<M> {
    #[inline]
    fn look_up(&self, object: &M::Object) -> Option<u64> {
        self.0.get(object)
    }
}

impl Walk for Alone<concurrent::WeakMap<Strong<u64>, u64>> {
    fn walk(&self) -> u64 {
        let numbers = self.0.iter().map(|(_, number)| number);
        numbers.fold(0, u64::wrapping_add)
    }
}

impl Purge for Alone<concurrent::WeakMap<Strong<u64>, u64>> {
    fn purge(&mut self) {
        self.0.purge();
    }
}

impl Remove for Alone<concurrent::WeakMap<Strong<u64>, u64>> {
    #[inline]
    fn remove(&mut self, object: &Strong<u64>) {
        self.0.remove(object);
    }
}

impl peers::Interner for concurrent::Interner<Strong<str>> {
    type Word = Strong<str>;
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn intern(&mut self, word: &str) -> Strong<str> {
        self.intern_ref(word)
    }
}

impl Shared for concurrent::WeakMap<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
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

/// A map whose values are made under a reservation, by the thread that misses them.
pub(crate) struct Reserved(concurrent::WeakMap<Strong<u64>, u64>);

impl Shared for Reserved {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Reserved(Shared::with_capacity(capacity))
    }
    #[inline]
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    #[inline]
    fn insert(&self, object: &Strong<u64>, number: u64) {
        self.0.get_or_insert_with(object, |_| number);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        self.0.get(object)
    }
}

/// A number with a destructor, which owns nothing outside of itself: so that a lookup's cost for the destructor
/// is not hidden behind a cache miss.
pub(crate) struct Destructible(u64);

impl Drop for Destructible {
    fn drop(&mut self) {
        black_box(self.0);
    }
}

impl Shared for concurrent::WeakMap<Strong<u64>, Destructible> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    #[inline]
    fn insert(&self, object: &Strong<u64>, number: u64) {
        Self::insert(self, object, Destructible(number));
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        self.with(object, |number| number.0)
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
by_address!(PapayaOfDestructibles, papaya::HashMap<usize, Destructible, ByAddr>,
    |capacity| papaya::HashMap::builder().capacity(capacity).hasher(ByAddr).build(),
    |map, key, number| map.pin().insert(key, Destructible(number)),
    map.pin().get(&key).map(|number| number.0),
    map.pin().remove(&key));
by_address!(DashMap, dashmap::DashMap<usize, u64, ByAddr>,
    |capacity| dashmap::DashMap::with_capacity_and_hasher(capacity, ByAddr),
    |map, key, number| map.insert(key, number),
    map.get(&key).map(|number| *number),
    map.remove(&key));
by_address!(DashMapOfDestructibles, dashmap::DashMap<usize, Destructible, ByAddr>,
    |capacity| dashmap::DashMap::with_capacity_and_hasher(capacity, ByAddr),
    |map, key, number| map.insert(key, Destructible(number)),
    map.get(&key).map(|number| number.0),
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

/// A memo, asked for results that it has.
impl Shared for Memo<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(_: usize) -> Self {
        Memo::new()
    }
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
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

/// A memo that is asked by a task.
pub(crate) struct Awaited(Memo<Strong<u64>, u64>);

impl Shared for Awaited {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Awaited(Shared::with_capacity(capacity))
    }
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    fn insert(&self, object: &Strong<u64>, number: u64) {
        Shared::insert(&self.0, object, number);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        let absent = |_, _| async { unreachable!("it is present") };
        let flight = pin!(self.0.get_or_compute_async(object, absent));
        match flight.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(number) => Some(number),
            Poll::Pending => None,
        }
    }
}

/// How a memo with other keys is asked by an object, and one number for all.
macro_rules! memo {
    ($(#[$doc:meta])* $name:ident of $key:ty, $object:ty, |$number:ident| $new:expr, |$of:ident| $query:expr) => {
        $(#[$doc])*
        pub(crate) struct $name(Memo<$key, u64>);

        impl Shared for $name {
            type Object = $object;
            fn with_capacity(_: usize) -> Self {
                $name(Memo::new())
            }
            fn object($number: u64) -> $object {
                $new
            }
            fn insert(&self, $of: &$object, number: u64) {
                let computed = self.0.get_or_compute($query, |_| number);
                debug_assert_eq!(computed, number, "a miss");
            }
            #[inline]
            fn get(&self, $of: &$object) -> Option<u64> {
                Some(self.0.get_or_compute($query, |_| unreachable!("it is present")))
            }
        }
    };
}

/// The plain part of a key.
pub(crate) const NUMBER: u64 = 7;

memo! {
    /// An object and a number.
    MemoOfNumber of (Strong<u64>, Value<u64>), Strong<u64>, |number| Strong::new(number), |object| (object, &NUMBER)
}

memo! {
    /// A list of three objects.
    MemoOfMany of Many<Strong<u64>>, [Strong<u64>; 3], |number| [number; 3].map(Strong::new), |objects| objects
}

memo! {
    /// Three objects.
    MemoOfThree of (Strong<u64>, Strong<u64>, Strong<u64>), [Strong<u64>; 3],
    |number| [number; 3].map(Strong::new), |objects| (&objects[0], &objects[1], &objects[2])
}

macro_rules! moka {
    ($(#[$doc:meta])* $name:ident of $key:ty, |$address:ident| $query:expr) => {
        $(#[$doc])*
        pub(crate) struct $name(moka::sync::Cache<$key, u64, RandomState>);

        impl $name {
            fn key(object: &Arc<u64>) -> $key {
                let $address = Arc::as_ptr(object).addr();
                $query
            }
        }

        impl Shared for $name {
            type Object = Arc<u64>;
            fn with_capacity(capacity: usize) -> Self {
                let cache = moka::sync::Cache::builder().max_capacity(2 * capacity as u64 + 100);
                $name(cache.build_with_hasher(RandomState::new()))
            }
            fn object(number: u64) -> Arc<u64> {
                Arc::new(number)
            }
            fn insert(&self, object: &Arc<u64>, number: u64) {
                let computed = self.0.get_with(Self::key(object), || number);
                debug_assert_eq!(computed, number, "a miss");
            }
            #[inline]
            fn get(&self, object: &Arc<u64>) -> Option<u64> {
                Some(self.0.get_with(Self::key(object), || unreachable!("it is present")))
            }
            #[inline]
            fn before_drop(&self, object: &Arc<u64>) {
                self.0.invalidate(&Self::key(object));
            }
        }
    };
}

moka! {
    /// A cache with single flight, keyed by address; with ahash, because it hashes more than the address.
    Moka of usize, |address| address
}

moka! {
    /// The same, keyed by address and number.
    MokaOfNumber of (usize, u64), |address| (address, NUMBER)
}

/// One live handle for each word, for threads that intern together.
pub(crate) trait SharedInterner: Send + Sync + 'static {
    fn with_capacity(capacity: usize) -> Self;
    fn intern(&self, word: &str) -> Strong<str>;
    /// How a thread interns in a sample.
    #[inline]
    fn at_work(&self) -> impl FnMut(&str) -> Strong<str> {
        |word| self.intern(word)
    }
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

/// The same with one thread, which takes the lock once for each sample, and so is the interner's owner meanwhile.
pub(crate) struct Owned(OneLocked);

impl SharedInterner for Owned {
    fn with_capacity(capacity: usize) -> Self {
        Owned(OneLocked::with_capacity(capacity))
    }
    fn intern(&self, word: &str) -> Strong<str> {
        self.0.intern(word)
    }
    #[inline]
    fn at_work(&self) -> impl FnMut(&str) -> Strong<str> {
        let mut interner = self.0.lock().unwrap();
        move |word| interner.intern_ref(word)
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
