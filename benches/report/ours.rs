//! This crate's pointers and collections behind the traits of the peers.

use std::ops::Deref;

use weakly::{Interner, Strong, WeakMap, WeakValueMap, reference::StrongRef};

use crate::peers::{self, Collection, Map, Pointer};

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
