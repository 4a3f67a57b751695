//~ `Cell<u32>` cannot be shared between threads safely
use std::cell::Cell;
use std::sync::Arc;
use weakly::concurrent::WeakValueMap;

pub fn visits() -> WeakValueMap<u32, Arc<Cell<u32>>> {
    WeakValueMap::new()
}
