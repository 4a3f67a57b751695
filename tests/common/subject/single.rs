//! Collections of one owner.

use super::*;
use weakly::{
    Interner, WeakHashMap, WeakHashPairMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet,
    WeakValueMap,
};

pub type Ends = Rc<dyn Fn(usize)>;
type Kept<T> = Owned<Ends, T>;

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
pub type HashPairsTwice<K> = WeakHashPairMap<K, K>;
pub type HashPairsByKey<K, O = K> = Paired<ByKey, WeakHashPairMap<K, O>, O>;
pub type HashPairsByValue<K, O = K> = Paired<ByValue, WeakHashPairMap<O, K>, O>;

/// Nothing happens.
pub fn quietly() -> Ends {
    Rc::new(|_| ())
}

/// The count counts.
pub fn counting(count: &Count) -> Ends {
    let count = count.clone();
    Rc::new(move |_| _ = count.add())
}

use Life as Partner;

upkeeps! {
    [K: StrongRef, V] WeakMap<K, V>, memory;
    [K: StrongRef] WeakSet<K>, memory;
    [K: Eq + Hash, V: StrongRef, S: BuildHasher + Default] WeakValueMap<K, V, S>, memory;
    [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, V, S: BuildHasher + Default] WeakHashMap<K, V, S>, memory;
    [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] WeakHashSet<K, S>, memory;
    [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, S: BuildHasher + Default] Interner<K, S>, memory;
    [K: StrongRef, V: StrongRef] WeakPairMap<K, V>, memory;
    [T: Eq + Hash, K: StrongRef<Target = T> + Deref<Target = T>, V: StrongRef, S: BuildHasher + Default] WeakHashPairMap<K, V, S>, memory;
}

family!(Single(mut) ([] []) Clone |content| content);

describe! {
    Single(mut) ([] []) Clone

    {
        [] WeakHashPairMap<K, K>: WeakHashPairMap::with_capacity, false, true, twice!(Single);
        |all, life, _owned, key| all;
        named &**life, |content, _weak| content;
        enter all.insert(life, life).is_new();
        leave all.remove(key);
        get all.get_key_value(key), |(one, other)| one.is(life) && other.is(life);
        has all.contains_key(key);
        iter all.iter().map(|(life, _)| life);
    }

    {
        [O: Life] Paired<ByKey, WeakHashPairMap<K, O>, O>: WeakHashPairMap::with_capacity, false, true;
        |all, life, _owned, key| all.all;
        named &**life, |content, _weak| content;
        enter all.all.insert(life, &all.partners.of(0)).is_new();
        leave all.all.remove(key);
        get all.all.get_key_value(key), |(found, other)| found.is(life) && other.is(&all.partners.of(0));
        has all.all.contains_key(key);
        iter all.all.iter().map(|(life, _)| life);
    }

    {
        [O: Life] Paired<ByValue, WeakHashPairMap<O, K>, O>: WeakHashPairMap::with_capacity, false, true;
        |all, life, _owned, key| all.all;
        named &life.number(), |content, _weak| &content.number();
        enter all.all.insert(&all.partners.of(life.number()), life).is_new();
        leave all.all.remove(key);
        get all.all.get(key), |found| found.is(life);
        has all.all.contains_key(key);
        iter all.all.iter().map(|(_, life)| life);
    }
}

kit! {
    Single(mut) [Memory + 'static] [] {}
    Atomic: weakly::Strong<T>, Local: local::Strong<T>, StdArc: Arc<T>, StdRc: Rc<T>
}
