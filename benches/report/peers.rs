//! One face for all pointers, and one for all maps, so that each side runs the same code.

use std::hash::{BuildHasher, Hasher};
use std::ops::Deref;
use std::{rc, sync};

use weak_table::PtrWeakKeyHashMap;
use weak_table::traits::WeakElement;
use weakly::{Flavour, Handle, Strong, StrongRef, WeakHandle, WeakMap};

/// A counted pointer.
pub(crate) trait Pointer: Clone + 'static {
    type Target;
    type Weak: 'static;
    fn new(target: Self::Target) -> Self;
    fn downgrade(this: &Self) -> Self::Weak;
    fn upgrade(weak: &Self::Weak) -> Option<Self>;
}

macro_rules! pointers {
    ($($strong:ty, $weak:ty $(, $flavour:ident)?);*) => {$(
        impl<T: 'static $(, $flavour: Flavour)?> Pointer for $strong {
            type Target = T;
            type Weak = $weak;
            #[inline]
            fn new(target: T) -> Self {
                <$strong>::new(target)
            }
            #[inline]
            fn downgrade(this: &Self) -> Self::Weak {
                <$strong>::downgrade(this)
            }
            #[inline]
            fn upgrade(weak: &Self::Weak) -> Option<Self> {
                weak.upgrade()
            }
        }
    )*};
}

pointers! {
    Handle<T, F>, WeakHandle<T, F>, F;
    sync::Arc<T>, sync::Weak<T>;
    rc::Rc<T>, rc::Weak<T>
}

/// A map from pointers, by identity, to numbers.
pub(crate) trait Map: 'static {
    type Key: Pointer;
    fn with_capacity(capacity: usize) -> Self;
    fn insert(&mut self, key: &Self::Key, value: u64);
    fn get(&self, key: &Self::Key) -> Option<&u64>;
    fn purge(&mut self);
}

impl<K: StrongRef + Pointer> Map for WeakMap<K, u64> {
    type Key = K;
    fn with_capacity(capacity: usize) -> Self {
        WeakMap::with_capacity(capacity)
    }
    #[inline]
    fn insert(&mut self, key: &K, value: u64) {
        WeakMap::insert(self, key, value);
    }
    #[inline]
    fn get(&self, key: &K) -> Option<&u64> {
        WeakMap::get(self, key)
    }
    fn purge(&mut self) {
        WeakMap::purge(self);
    }
}

/// `weak-table` as it comes with ahash; `W` is the weak pointer.
pub(crate) type WeakTable<W> = PtrWeakKeyHashMap<W, u64, ahash::RandomState>;

impl<W> Map for WeakTable<W>
where
    W: WeakElement<Strong: Pointer + Deref> + 'static,
{
    type Key = W::Strong;
    fn with_capacity(capacity: usize) -> Self {
        PtrWeakKeyHashMap::with_capacity_and_hasher(capacity, ahash::RandomState::new())
    }
    /// It takes a strong pointer, so whoever keeps the key has to clone it.
    #[inline]
    fn insert(&mut self, key: &W::Strong, value: u64) {
        PtrWeakKeyHashMap::insert(self, key.clone(), value);
    }
    #[inline]
    fn get(&self, key: &W::Strong) -> Option<&u64> {
        PtrWeakKeyHashMap::get(self, key)
    }
    fn purge(&mut self) {
        self.remove_expired();
    }
}

/// What a lookup by address costs at least: a plain map, with our hash, that knows of no deaths.
pub(crate) struct Floor(hashbrown::HashMap<usize, u64, ByAddr>);

impl Map for Floor {
    type Key = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Floor(hashbrown::HashMap::with_capacity_and_hasher(
            capacity, ByAddr,
        ))
    }
    fn insert(&mut self, key: &Strong<u64>, value: u64) {
        self.0.insert(Strong::as_ptr(key).addr(), value);
    }
    #[inline]
    fn get(&self, key: &Strong<u64>) -> Option<&u64> {
        self.0.get(&Strong::as_ptr(key).addr())
    }
    fn purge(&mut self) {}
}

/// The hash of addresses, word for word that of the library.
#[derive(Clone, Copy)]
struct ByAddr;

struct AddrHasher(u64);

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
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (addr as u64 >> 4).wrapping_mul(GOLDEN).rotate_left(26);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
