//! The counters of a memo.

use core::fmt;

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
