//~ in generic code the bound is `K: WeakKey`, and `K: concurrent::SharedKey` for what threads share

pub struct Cache<K, V> {
    pub map: weakly::concurrent::WeakMap<K, V>,
}
