//~ `String` cannot be a weak key: no collection learns of its death
//~ wrap it in `Strong` (or `local::Strong`, `Arc`, `Rc`), or give the value an `Anchor`
use weakly::WeakMap;

pub fn lengths() -> WeakMap<String, usize> {
    WeakMap::new()
}
