//! Those that threads share.

use super::*;
use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};

pub type Ends = Arc<dyn Fn(usize) + Send + Sync>;
type Kept<T> = Arc<Owned<Ends, T>>;

// By their lives: each a collection whose entries live as long as a `K`.
pub type Maps<K> = WeakMap<K, Kept<<K as Deref>::Target>>;
pub type Sets<K> = WeakSet<K>;
pub type ValueMaps<K> = WeakValueMap<Kept<<K as Deref>::Target>, K>;
pub type HashMaps<K> = WeakHashMap<K, Kept<<K as Deref>::Target>>;
pub type HashSets<K> = WeakHashSet<K>;
pub type Interners<K> = Interner<K>;
/// Both sides are one object: an entry gets two notices.
pub type PairsTwice<K> = WeakPairMap<K, K>;
pub type PairsByKey<K, O = K> = Paired<ByKey, WeakPairMap<K, O>, O>;
pub type PairsByValue<K, O = K> = Paired<ByValue, WeakPairMap<O, K>, O>;

/// Nothing happens.
pub fn quietly() -> Ends {
    Arc::new(|_| ())
}

/// The count counts.
pub fn counting(count: &Count) -> Ends {
    let count = count.clone();
    Arc::new(move |_| _ = count.add())
}

/// What finds an owned key.
fn kept<T: Content>(content: &T) -> Kept<T> {
    Arc::new(Owned::new(content.clone(), &quietly()))
}

use SharedRef as Partner;

upkeeps! {
    [K: SharedRef, V] WeakMap<K, V>;
    [K: SharedRef] WeakSet<K>;
    [K: Eq + Hash, V: SharedRef, S: BuildHasher + Default] WeakValueMap<K, V, S>;
    [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, V, S: BuildHasher + Default] WeakHashMap<K, V, S>;
    [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] WeakHashSet<K, S>;
    [T: Eq + Hash, K: SharedRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] Interner<K, S>;
    [K: SharedRef, V: SharedRef] WeakPairMap<K, V>;
}

family!(Shared() ([Send + Sync] [SharedRef]) Send |content| &kept(content));

kit! {
    Shared() [Upkeep + Send + Sync + 'static] [Send +] {
        set_reclaim(reclaim: Reclaim) -> ();
        purge() -> bool;
        purge_some(n: usize) -> usize;
        clear() -> ();
    }
    Atomic: weakly::Strong<T>, StdArc: Arc<T>
}
