//! The peers, behind the traits.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::ops::Deref;
use std::sync::{self, Arc};

use ahash::RandomState;
use internment::ArcIntern;
use weak_table::traits::WeakElement;
use weak_table::{PtrWeakKeyHashMap, WeakHashSet, WeakValueHashMap};
use weakly::Strong;

use crate::peers::{Collection, Interner, Map, Pointer};

/// `weak-table` as it comes with ahash; `W` is the weak pointer.
pub(crate) type WeakTable<W> = PtrWeakKeyHashMap<W, u64, RandomState>;
/// With weak values.
pub(crate) type WeakTableOfValues = WeakValueHashMap<u64, sync::Weak<u64>, RandomState>;
/// By content, without values.
pub(crate) type WeakTableSet = WeakHashSet<sync::Weak<str>, RandomState>;

// All of them take strong pointers by value, so a caller that keeps an object has to clone it.

impl<W> Collection for WeakTable<W>
where
    W: WeakElement<Strong: Pointer + Deref> + 'static,
{
    type Object = W::Strong;
    fn with_capacity(capacity: usize) -> Self {
        PtrWeakKeyHashMap::with_capacity_and_hasher(capacity, RandomState::new())
    }
    #[inline]
    fn insert(&mut self, object: &W::Strong, number: u64) {
        PtrWeakKeyHashMap::insert(self, object.clone(), number);
    }
}

impl<W> Map for WeakTable<W>
where
    W: WeakElement<Strong: Pointer + Deref> + 'static,
{
    type Key = W::Strong;
    fn key(object: &W::Strong) -> W::Strong {
        object.clone()
    }
    #[inline]
    fn get(&self, key: &W::Strong) -> Option<u64> {
        PtrWeakKeyHashMap::get(self, key).copied()
    }
}

impl Collection for WeakTableOfValues {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        WeakValueHashMap::with_capacity_and_hasher(capacity, RandomState::new())
    }
    #[inline]
    fn insert(&mut self, object: &Arc<u64>, number: u64) {
        WeakValueHashMap::insert(self, number, object.clone());
    }
}

impl Map for WeakTableOfValues {
    type Key = u64;
    fn key(object: &Arc<u64>) -> u64 {
        **object
    }
    #[inline]
    fn get(&self, key: &u64) -> Option<u64> {
        WeakValueHashMap::get(self, key).map(|value| *value)
    }
}

/// As an interner.
impl Interner for WeakTableSet {
    type Word = Arc<str>;
    fn with_capacity(capacity: usize) -> Self {
        WeakHashSet::with_capacity_and_hasher(capacity, RandomState::new())
    }
    #[inline]
    fn intern(&mut self, word: &str) -> Arc<str> {
        self.get(word).unwrap_or_else(|| {
            let new = Arc::<str>::from(word);
            self.insert(new.clone());
            new
        })
    }
}

/// `internment`, which has one table for each type in the whole program: it keeps the size it has once grown to,
/// so rows with few words come before those with many.
pub(crate) struct Internment;

impl Interner for Internment {
    type Word = ArcIntern<str>;
    fn with_capacity(_: usize) -> Self {
        Internment
    }
    #[inline]
    fn intern(&mut self, word: &str) -> ArcIntern<str> {
        ArcIntern::from(word)
    }
}

/// A plain set, which keeps its words until they are removed explicitly.
pub(crate) type PlainSet = HashSet<Arc<str>, RandomState>;

impl Interner for PlainSet {
    type Word = Arc<str>;
    fn with_capacity(capacity: usize) -> Self {
        HashSet::with_capacity_and_hasher(capacity, RandomState::new())
    }
    #[inline]
    fn intern(&mut self, word: &str) -> Arc<str> {
        match self.get(word) {
            Some(there) => there.clone(),
            None => {
                let new = Arc::<str>::from(word);
                self.insert(new.clone());
                new
            }
        }
    }
    #[inline]
    fn forget(&mut self, word: Arc<str>) {
        let was_there = self.remove(&word);
        debug_assert!(was_there);
    }
}

/// Weak values as one writes them by hand: a plain map, whose dead entries are never removed.
pub(crate) struct ByHand(HashMap<u64, sync::Weak<u64>, RandomState>);

impl Collection for ByHand {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        ByHand(HashMap::with_capacity_and_hasher(
            capacity,
            RandomState::new(),
        ))
    }
    fn insert(&mut self, object: &Arc<u64>, number: u64) {
        self.0.insert(number, Arc::downgrade(object));
    }
}

impl Map for ByHand {
    type Key = u64;
    fn key(object: &Arc<u64>) -> u64 {
        **object
    }
    #[inline]
    fn get(&self, key: &u64) -> Option<u64> {
        let value = self.0.get(key)?.upgrade()?;
        Some(*value)
    }
}

/// Weak keys as one writes them by hand: a plain map by address, with our hash. The weak pointer in an entry keeps
/// the address from being used again. Dead entries are removed when there are twice as many as were left then.
pub(crate) struct ByHandWithRetain {
    map: HashMap<usize, (sync::Weak<u64>, u64), ByAddr>,
    limit: usize,
}

impl Collection for ByHandWithRetain {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        ByHandWithRetain {
            map: HashMap::with_capacity_and_hasher(capacity, ByAddr),
            limit: 2 * capacity.max(32),
        }
    }
    #[inline]
    fn insert(&mut self, object: &Arc<u64>, number: u64) {
        let entry = (Arc::downgrade(object), number);
        self.map.insert(Arc::as_ptr(object).addr(), entry);
        if self.map.len() >= self.limit {
            self.map.retain(|_, (key, _)| key.strong_count() > 0);
            self.limit = 2 * self.map.len().max(32);
        }
    }
}

impl Map for ByHandWithRetain {
    type Key = Arc<u64>;
    fn key(object: &Arc<u64>) -> Arc<u64> {
        object.clone()
    }
    #[inline]
    fn get(&self, key: &Arc<u64>) -> Option<u64> {
        let (_, number) = self.map.get(&Arc::as_ptr(key).addr())?;
        Some(*number)
    }
}

/// The minimal cost of a lookup by address: a plain map, with our hash, without any notice of deaths.
pub(crate) struct Floor(hashbrown::HashMap<usize, u64, ByAddr>);

impl Collection for Floor {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Floor(hashbrown::HashMap::with_capacity_and_hasher(
            capacity, ByAddr,
        ))
    }
    fn insert(&mut self, object: &Strong<u64>, number: u64) {
        self.0.insert(Strong::as_ptr(object).addr(), number);
    }
}

impl Map for Floor {
    type Key = Strong<u64>;
    fn key(object: &Strong<u64>) -> Strong<u64> {
        object.clone()
    }
    #[inline]
    fn get(&self, key: &Strong<u64>) -> Option<u64> {
        self.0.get(&Strong::as_ptr(key).addr()).copied()
    }
}

/// The hash of addresses, a verbatim copy of the library's.
#[derive(Clone, Copy)]
pub(crate) struct ByAddr;

pub(crate) struct AddrHasher(u64);

impl BuildHasher for ByAddr {
    type Hasher = AddrHasher;
    #[inline]
    fn build_hasher(&self) -> AddrHasher {
        AddrHasher(0)
    }
}

impl Hasher for AddrHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("an address is a word");
    }
    #[inline]
    fn write_usize(&mut self, addr: usize) {
        const FACTOR: u64 = 0xc820_da07_ea4f_f093;
        let product = (addr as u64 >> 4).wrapping_mul(FACTOR);
        self.0 = product >> 33 | product >> 33 << 33;
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
