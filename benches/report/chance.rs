//! Pseudorandom numbers, words and orders, the same in every run.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Numbers that never repeat: the output of splitmix64.
#[derive(Clone, Default)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The numbers of a thread, distinct from those of the common start.
    pub(crate) fn of(thread: usize) -> Self {
        Numbers((thread as u64 + 1) << 48)
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next numbers, made before they are needed.
    pub(crate) fn take(&mut self, amount: usize) -> Vec<u64> {
        (0..amount).map(|_| self.next()).collect()
    }
}

/// Words that differ where their numbers do, contiguous in memory.
pub(crate) struct Words(String);

impl Words {
    const LETTERS: usize = 16;

    pub(crate) fn of(numbers: &[u64]) -> Self {
        let mut text = String::with_capacity(numbers.len() * Self::LETTERS);
        for number in numbers {
            write!(text, "{number:016x}").expect("a string takes all");
        }
        Words(text)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len() / Self::LETTERS
    }

    /// Some consecutive words.
    #[inline]
    pub(crate) fn run(&self, start: usize, amount: usize) -> impl Iterator<Item = &str> {
        (start..start + amount).map(|at| &self.0[at * Self::LETTERS..][..Self::LETTERS])
    }
}

/// Where each sample continues in a long list, so that it does not find what the last one has left in the
/// caches.
pub(crate) struct Turns {
    len: usize,
    some: usize,
    at: usize,
}

impl Turns {
    /// Turns of `some` out of `len`, or of all if there are fewer.
    pub(crate) fn new(len: usize, some: usize) -> Self {
        let some = some.min(len);
        Turns { len, some, at: 0 }
    }

    /// How many there are in a turn.
    pub(crate) fn some(&self) -> usize {
        self.some
    }

    /// The start of the next turn.
    pub(crate) fn next(&mut self) -> usize {
        let start = self.at;
        self.at = (start + self.some) % self.len;
        if self.at + self.some > self.len {
            self.at = 0;
        }
        start
    }
}

/// A random order, another one each time: Fisher and Yates. (Objects of the two sides are adjacent, two on a
/// cache line. If both sides visited theirs in the same order, the second would find in the caches what the
/// first has just loaded: up to a third of a lookup among a million.)
pub(crate) fn shuffle<T>(things: &mut [T]) {
    static ORDERS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only a number, used by one thread.
    let mut numbers = Numbers(ORDERS.fetch_add(1 << 32, Relaxed));
    for last in (1..things.len()).rev() {
        things.swap(last, (numbers.next() % (last as u64 + 1)) as usize);
    }
}
