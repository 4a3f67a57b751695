//~ `weakly::WeakMap<Strong<str, Atomic>, Strong<str, Atomic>>` is not a reference to a map whose values show what they own
use weakly::{Cycles, Strong, WeakMap};

pub fn purge(map: WeakMap<Strong<str>, Strong<str>>) -> usize {
    Cycles::new().with(map).purge()
}
