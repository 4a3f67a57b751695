//! What is kept for a while: maps with a floor or a ceiling, behind the trait of the maps that threads share.

use std::sync::Arc;

use ahash::RandomState;
use weakly::Strong;
use weakly::concurrent::{KeepAlive, WeakMap, WeakValueMap};
use weakly::keep::Limit;

use crate::shared::Shared;

/// Numbers of objects, by address.
pub(crate) type Values = WeakValueMap<usize, Strong<u64>>;

fn key(object: &Strong<u64>) -> usize {
    Strong::as_ptr(object).addr()
}

impl Shared for Values {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    #[inline]
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    #[inline]
    fn insert(&self, object: &Strong<u64>, _: u64) {
        Self::insert(self, key(object), object);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        Self::get(self, &key(object)).map(|value| *value)
    }
}

/// Maps that are bounded by as many entries as they have room for, plus or minus some.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $map:ty, $entries:expr, |$this:ident, $limit:ident| $bound:expr) => {
        $(#[$doc])*
        pub(crate) struct $name($map);

        impl Shared for $name {
            type Object = Strong<u64>;
            fn with_capacity(capacity: usize) -> Self {
                let $this = <$map>::with_capacity(capacity);
                let $limit = Limit::entries($entries(capacity));
                $bound;
                $name($this)
            }
            #[inline]
            fn object(number: u64) -> Strong<u64> {
                Strong::new(number)
            }
            #[inline]
            fn insert(&self, object: &Strong<u64>, number: u64) {
                Shared::insert(&self.0, object, number);
            }
            #[inline]
            fn get(&self, object: &Strong<u64>) -> Option<u64> {
                Shared::get(&self.0, object)
            }
        }
    };
}

bounded! {
    /// A floor under all of them.
    Floored, Values, |capacity| 2 * capacity, |map, limit| map.set_keep_alive(limit, |_| 1)
}

bounded! {
    /// A floor that is full.
    FullFloor, Values, |capacity| capacity, |map, limit| map.set_keep_alive(limit, |_| 1)
}

bounded! {
    /// A ceiling under which one does not fit: who drops the oldest of all drops what has gone.
    FullCeiling, WeakMap<Strong<u64>, u64>, |capacity: usize| capacity.saturating_sub(1).max(1),
    |map, limit| map.set_ceiling(limit, |_| 1)
}

impl Shared for KeepAlive<Strong<u64>> {
    type Object = Strong<u64>;
    fn with_capacity(capacity: usize) -> Self {
        Self::new(Limit::entries(2 * capacity))
    }
    fn object(number: u64) -> Strong<u64> {
        Strong::new(number)
    }
    fn insert(&self, object: &Strong<u64>, _: u64) {
        self.keep(object, 1);
    }
    #[inline]
    fn get(&self, object: &Strong<u64>) -> Option<u64> {
        self.touch(object).then_some(1)
    }
}

/// A cache of handles, by address.
pub(crate) struct MokaOfHandles(moka::sync::Cache<usize, Arc<u64>, RandomState>);

impl Shared for MokaOfHandles {
    type Object = Arc<u64>;
    fn with_capacity(capacity: usize) -> Self {
        let cache = moka::sync::Cache::builder().max_capacity(2 * capacity as u64 + 100);
        MokaOfHandles(cache.build_with_hasher(RandomState::new()))
    }
    fn object(number: u64) -> Arc<u64> {
        Arc::new(number)
    }
    fn insert(&self, object: &Arc<u64>, _: u64) {
        self.0.insert(Arc::as_ptr(object).addr(), object.clone());
    }
    #[inline]
    fn get(&self, object: &Arc<u64>) -> Option<u64> {
        let found = self.0.get(&Arc::as_ptr(object).addr());
        found.map(|value| *value)
    }
}
