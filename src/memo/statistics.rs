//! How a memo counts.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::thread::ThreadNumber;

/// What has happened to a [`Memo`](crate::Memo) so far. Exact while no thread uses it. Then each
/// call that has returned is a hit or a miss (one that failed or panicked is a miss, unless it came
/// to need itself), and `misses + inserted == len + invalidated + discarded`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Calls that found their result, at once or after they had waited for another thread.
    pub hits: usize,
    /// Computations that were begun.
    pub misses: usize,
    /// Results that were [inserted](crate::Memo::insert).
    pub inserted: usize,
    /// Results that went because an input had died, including inputs that died during the
    /// computation.
    pub invalidated: usize,
    /// Computations that failed or panicked, or have lost a
    /// [race](crate::Memo::get_or_compute_racing), and results that were removed or replaced by a
    /// call, before or after they were there, or evicted by a ceiling.
    pub discarded: usize,
}

const STRIPES: usize = 16;

/// On a cache line of its own (of two, where they are fetched in pairs).
#[repr(align(128))]
struct Padded(AtomicUsize);

/// A counter that many threads increment at once: each counts in the stripe that its number leads
/// to, so that few threads share one. By the addresses of thread-locals two threads met in one of
/// these stripes in one process of sixteen, and each count cost 80 ns there.
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

    pub(super) fn sum(&self) -> usize {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}
