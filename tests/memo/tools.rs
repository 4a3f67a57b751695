//! What the tests of attributes and memos share: objects, counters for many threads, and values whose
//! destructors run an action.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it

use std::fmt;
use std::sync::Arc;

pub use crate::common::{Count, pointers::Pointer};

/// The objects `0..n`.
pub fn objects<P: Pointer>(n: usize) -> Vec<P> {
    (0..n).map(P::from).collect()
}

impl Count {
    /// A value whose drop counts; its clones are the same value.
    pub fn witness(&self) -> Witness {
        let count = self.clone();
        Witness::new(move || _ = count.add())
    }
}

/// A value that runs an action once: when the last of its clones is dropped.
#[derive(Clone)]
pub struct Witness(#[allow(dead_code)] Arc<End>);

struct End(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Witness {
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Witness(Arc::new(End(Some(Box::new(end)))))
    }

    /// A witness that does nothing.
    pub fn idle() -> Self {
        Self::new(|| ())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

/// The text of a panic.
pub fn message(run: impl FnOnce()) -> Option<String> {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_default())
}
