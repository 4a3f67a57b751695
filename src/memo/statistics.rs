//! The counters of a memo.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::thread::ThreadNumber;

/// The counts of a [`Memo`](crate::Memo) so far. Each call that may compute is a hit or a miss.
/// Threads, tasks and [races](crate::Memo::get_or_compute_racing) count alike. The counts are exact
/// while no thread uses the memo. [`get`](crate::Memo::get) does not count. The `Display` is one
/// line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Calls that found their result, at once or after waiting for another caller's computation.
    pub hits: u64,
    /// Calls that did not: each began a computation, or gave up its wait, or waited for a
    /// computation whose error it shares, or would have waited for itself.
    pub misses: u64,
    /// Computations begun.
    pub loads: u64,
    /// Computations that failed, panicked, or were dropped. A computation whose result is not kept
    /// is none of these.
    pub failures: u64,
    /// Results evicted by a ceiling.
    pub evicted: u64,
    /// Results dropped because an input died, or because a call removed, replaced or
    /// [invalidated](crate::Memo::invalidate) them; and results that were not kept, because one of
    /// these happened during the computation.
    pub invalidated: u64,
    /// Results that are there now.
    pub live: u64,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.hits, "hits"),
            (self.misses, "misses"),
            (self.loads, "loads"),
            (self.failures, "failures"),
            (self.evicted, "evicted"),
            (self.invalidated, "invalidated"),
        ];
        counts
            .iter()
            .try_for_each(|(count, name)| write!(f, "{count} {name}, "))?;
        write!(f, "{} live", self.live)
    }
}

const STRIPES: usize = 16;

/// A counter on its own cache line (128 bytes, because some processors fetch lines in pairs).
#[repr(align(128))]
struct Padded(AtomicUsize);

/// A counter for many threads at once. Each thread counts in the stripe given by its thread number,
/// so few threads share a stripe. Stripes chosen by the addresses of thread-locals were shared by
/// two threads in one process of sixteen, and each count cost 80 ns in that process.
pub(super) struct Striped([Padded; STRIPES]);

impl Striped {
    pub(super) const fn new() -> Self {
        Striped([const { Padded(AtomicUsize::new(0)) }; STRIPES])
    }

    #[inline]
    pub(super) fn add(&self) {
        let stripe = ThreadNumber::current().get() % STRIPES;
        // Relaxed: a count.
        self.0[stripe].0.fetch_add(1, Relaxed);
    }

    pub(super) fn sum(&self) -> u64 {
        self.0
            .iter()
            .map(|stripe| stripe.0.load(Relaxed) as u64)
            .sum()
    }
}
