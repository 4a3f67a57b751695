//! This crate's pointers and collections behind the traits of the peers.

use std::collections::HashMap;
use std::ops::Deref;

use ahash::RandomState;
use weakly::{
    Anchor, Interner, Strong, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakValueMap,
    reference::StrongRef,
};

use crate::peers::{self, Collection, Lookup, Map, Pair, Pointer, Purge, Remove, Walk};
use crate::shared::NUMBER;

impl<K: StrongRef + Pointer> Collection for WeakMap<K, u64> {
    type Object = K;
    fn with_capacity(capacity: usize) -> Self {
        WeakMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &K, number: u64) {
        WeakMap::insert(self, object, number);
    }
}

impl<K: StrongRef + Pointer> Map for WeakMap<K, u64> {
    type Key = K;
    fn key(object: &K) -> K {
        object.clone()
    }
    #[inline]
    fn get(&self, key: &K) -> Option<u64> {
        WeakMap::get(self, key).copied()
    }
}

/// Results by an object and a number, as the collections of one owner have them.
pub(crate) struct Nested(WeakMap<Strong<u64>, HashMap<u64, u64, RandomState>>);

impl Collection for Nested {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Nested(WeakMap::with_capacity(capacity))
    }
    fn insert(&mut self, object: &Strong<u64>, number: u64) {
        let results = self.0.entry(object).or_default();
        results.insert(NUMBER, number);
    }
}

impl Map for Nested {
    type Key = Strong<u64>;
    fn key(object: &Strong<u64>) -> Strong<u64> {
        object.clone()
    }
    #[inline]
    fn get(&self, key: &Strong<u64>) -> Option<u64> {
        self.0.get(key)?.get(&NUMBER).copied()
    }
}

impl<K: StrongRef + Pointer> Lookup for WeakMap<K, u64> {
    #[inline]
    fn look_up(&self, object: &K) -> Option<u64> {
        WeakMap::get(self, object).copied()
    }
}

impl Collection for WeakMap<Anchor, u64> {
    type Object = (u64, Anchor);
    fn with_capacity(capacity: usize) -> Self {
        WeakMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &(u64, Anchor), number: u64) {
        WeakMap::insert(self, &object.1, number);
    }
}

impl Lookup for WeakMap<Anchor, u64> {
    #[inline]
    fn look_up(&self, object: &(u64, Anchor)) -> Option<u64> {
        WeakMap::get(self, &object.1).copied()
    }
}

impl Remove for WeakMap<Anchor, u64> {
    #[inline]
    fn remove(&mut self, object: &(u64, Anchor)) {
        WeakMap::remove(self, &object.1);
    }
}

impl<K: StrongRef + Pointer> Purge for WeakMap<K, u64> {
    fn purge(&mut self) {
        WeakMap::purge(self);
    }
}

impl<K: StrongRef + Pointer> Walk for WeakMap<K, u64> {
    fn walk(&self) -> u64 {
        self.iter()
            .fold(0, |sum, (_, number)| sum.wrapping_add(*number))
    }
}

impl<K: StrongRef + Pointer> Remove for WeakMap<K, u64> {
    #[inline]
    fn remove(&mut self, object: &K) {
        WeakMap::remove(self, object);
    }
}

impl<V: StrongRef + Pointer> Collection for WeakValueMap<u64, V> {
    type Object = V;
    fn with_capacity(capacity: usize) -> Self {
        WeakValueMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &V, number: u64) {
        WeakValueMap::insert(self, number, object);
    }
}

impl<V: StrongRef + Pointer + Deref<Target = u64>> Map for WeakValueMap<u64, V> {
    type Key = u64;
    fn key(object: &V) -> u64 {
        **object
    }
    #[inline]
    fn get(&self, key: &u64) -> Option<u64> {
        WeakValueMap::get(self, key).map(|value| *value)
    }
}

impl Collection for WeakPairMap<Strong<u64>, Strong<u64>> {
    type Object = Pair<Strong<u64>>;
    fn with_capacity(capacity: usize) -> Self {
        WeakPairMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &Pair<Strong<u64>>, _: u64) {
        WeakPairMap::insert(self, &object.key, &object.value);
    }
}

impl Collection for WeakHashMap<Strong<u64>, u64> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        WeakHashMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &Strong<u64>, number: u64) {
        WeakHashMap::insert(self, object, number);
    }
}

impl Collection for WeakHashSet<Strong<u64>> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        WeakHashSet::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, object: &Strong<u64>, _: u64) {
        WeakHashSet::insert(self, object);
    }
}

impl peers::Interner for Interner<Strong<str>> {
    type Word = Strong<str>;
    fn with_capacity(capacity: usize) -> Self {
        Interner::with_capacity(capacity)
    }
    #[inline]
    fn intern(&mut self, word: &str) -> Strong<str> {
        self.intern_ref(word)
    }
}
