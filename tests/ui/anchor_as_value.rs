//~ `Anchor<Atomic>` is not a strong handle that collections can refer to weakly
//~ an `Anchor` is only a key by identity
use weakly::{Anchor, WeakValueMap};

pub fn names() -> WeakValueMap<u32, Anchor> {
    WeakValueMap::new()
}
