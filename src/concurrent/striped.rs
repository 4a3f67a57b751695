//! A counter that many threads increment at once.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const STRIPES: usize = 16;

/// On a cache line of its own (of two, where they are fetched in pairs).
#[repr(align(128))]
struct Stripe(AtomicUsize);

/// Each thread counts in a stripe that few others use, so that they do not slow each other.
pub(crate) struct Striped([Stripe; STRIPES]);

std::thread_local! {
    /// Its address identifies the thread.
    static HERE: u8 = const { 0 };
}

impl Striped {
    pub(crate) const fn new() -> Self {
        Striped([const { Stripe(AtomicUsize::new(0)) }; STRIPES])
    }

    #[inline]
    pub(crate) fn add(&self) {
        let here = HERE.with(|here| core::ptr::from_ref(here).addr() as u64);
        // The storage of threads is some pages apart. Fibonacci hashing, as for addresses.
        let stripe = (here >> 12).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        self.0[stripe as usize % STRIPES].0.fetch_add(1, Relaxed);
    }

    pub(crate) fn sum(&self) -> usize {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}
