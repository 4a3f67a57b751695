//~ `Cell<u32>` cannot be shared between threads safely
use std::cell::Cell;
use weakly::{Strong, concurrent::WeakMap};

pub struct Node {
    pub visits: Cell<u32>,
}

pub fn lengths() -> WeakMap<Strong<Node>, usize> {
    WeakMap::new()
}
