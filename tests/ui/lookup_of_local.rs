//~ `&str` does not identify a key of type `Strong<View, Local>`
//~ `Strong<_, Local>` is what `local::Strong<_>` names, and `Strong<_, Atomic>` what `weakly::Strong<_>` names
use weakly::{WeakMap, local};

pub struct View;

pub fn depth(depths: &WeakMap<local::Strong<View>, usize>) -> Option<&usize> {
    depths.get("view")
}
