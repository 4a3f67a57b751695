//~ `String` is not a strong handle that collections can refer to weakly
use weakly::WeakValueMap;

pub fn names() -> WeakValueMap<u32, String> {
    WeakValueMap::new()
}
