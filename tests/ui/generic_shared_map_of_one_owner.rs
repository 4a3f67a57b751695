//~ in generic code the bound is `K: concurrent::SharedKey`

use weakly::concurrent::WeakMap;
use weakly::reference::WeakKey;

pub fn fill<K: WeakKey>(map: &WeakMap<K, u8>, key: &K) {
    map.insert(key, 1);
}
