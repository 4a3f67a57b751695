//~ `weakly::WeakMap<Strong<str, Atomic>, Strong<str, Atomic>>` is not a reference to a map whose values show what they own
use weakly::{Strong, WeakMap, cycles::{Cycles, Purged}};

pub fn purge(map: WeakMap<Strong<str>, Strong<str>>) -> Purged {
    Cycles::new().with(map).purge()
}
