//! Counts of live objects, maintained by constructors and destructors, not by the maps under test.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of its guards.
pub(crate) struct Counter(AtomicUsize);

/// Counts for as long as it exists: a field of what is to be counted.
pub(crate) struct Alive(&'static Counter);

impl Counter {
    pub(crate) const fn new() -> Self {
        Counter(AtomicUsize::new(0))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    pub(crate) fn guard(&'static self) -> Alive {
        self.0.fetch_add(1, Relaxed);
        Alive(self)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}
