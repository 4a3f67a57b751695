//! The counters of a memo.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::thread::ThreadNumber;

/// The counts of a [`Memo`](crate::Memo) so far. The counts are exact while no thread uses the
/// memo. Then `misses + inserted == len + invalidated + discarded`. A call that may compute is a
/// hit or a miss once the call has returned or panicked, with two exceptions: a call that timed
/// out, and a call inside its own computation. [`get`](crate::Memo::get) does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Calls that found their result, at once or after waiting for another thread.
    pub hits: usize,
    /// Computations begun.
    pub misses: usize,
    /// Results that were [inserted](crate::Memo::insert).
    pub inserted: usize,
    /// Results dropped because an input died, including inputs that died during the computation.
    pub invalidated: usize,
    /// Computations that failed, panicked, or lost a [race](crate::Memo::get_or_compute_racing),
    /// and results removed or replaced by a call (during or after the computation) or evicted by a
    /// ceiling.
    pub discarded: usize,
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

    pub(super) fn sum(&self) -> usize {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}
