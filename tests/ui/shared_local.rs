//~ does not cross threads
//~ `Strong<_, Local>` is what `local::Strong<_>` names
//!~ cannot be sent between threads safely
//!~ cannot be shared between threads safely
use weakly::{concurrent::WeakMap, local::Strong};

pub fn lengths() -> WeakMap<Strong<str>, usize> {
    WeakMap::new()
}
