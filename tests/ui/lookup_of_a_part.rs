//~ `&Node` does not identify a key of type `Anchor<Atomic>`
use weakly::{Anchor, WeakMap};

pub struct Node {
    pub anchor: Anchor,
}

pub fn depth<'m>(depths: &'m WeakMap<Anchor, usize>, node: &Node) -> Option<&'m usize> {
    depths.get(node)
}
