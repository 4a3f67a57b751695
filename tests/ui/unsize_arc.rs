//~ `unsize!` takes a `Strong` or a `Weak` of this crate, by value, not `Arc<{integer}>`
use std::fmt::Display;
use std::sync::Arc;
use weakly::unsize;

pub fn shown() -> Arc<dyn Display> {
    unsize!(Arc::new(5) => dyn Display)
}
