//! What the tests of attributes and memos share: objects, counters for many threads, and values whose
//! destructors run an action.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it

pub use crate::common::{Count, doomed::Doomed, pointers::Pointer};

/// The objects `0..n`.
pub fn objects<P: Pointer>(n: usize) -> Vec<P> {
    (0..n).map(P::from).collect()
}

impl Count {
    /// A value whose end counts.
    pub fn doomed(&self) -> Doomed {
        let count = self.clone();
        Doomed::new(move || _ = count.add())
    }
}

/// The text of a panic.
pub fn message(run: impl FnOnce()) -> Option<String> {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_default())
}
