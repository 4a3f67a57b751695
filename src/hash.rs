//! Hashes of identities.

/// A finished hash. The table takes no other, so it cannot hash by itself, or with the wrong hasher.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashValue(u64);

impl HashValue {
    /// The hash of an address.
    ///
    /// Nobody chooses addresses to attack us, so a multiplication (Fibonacci hashing) is enough; but
    /// its low bits, which choose the bucket, are poor for page-aligned objects, so the high ones take
    /// their place: at a stride of 4 KiB a bare multiply probes 7 groups for a hit, at 2 MiB 438.
    /// The lowest four bits of an address say nothing.
    #[inline]
    pub(crate) fn of_addr(addr: *const ()) -> Self {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        HashValue(
            (addr.addr() as u64 >> 4)
                .wrapping_mul(GOLDEN)
                .rotate_left(26),
        )
    }

    #[inline]
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}
