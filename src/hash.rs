//! Hashes, of identities and of contents.

use core::fmt;
use core::hash::{BuildHasher, Hash, Hasher};

/// The bits that choose a bucket.
const BUCKET: u64 = (1 << 24) - 1;

/// A finished hash. The table takes no other, so it cannot hash by itself, or with the wrong hasher.
///
/// It has 31 bits: so many fit into the block of an object, beside the count and a flag, and a notice of its
/// death leads to its entry by them. They are good for 2^24 buckets; with more a lookup looks at more
/// entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashValue(u32);

impl HashValue {
    /// The hash of an address.
    ///
    /// Nobody chooses addresses to attack us, so a multiplication is enough; but its low bits, which choose
    /// the bucket, are poor for page-aligned objects, so the high ones take their place: at a stride of 4 KiB
    /// a bare multiply probes 7 groups for a hit, at 2 MiB 438. The lowest four bits of an address say
    /// nothing.
    ///
    /// The factor was searched for. An allocator gives out addresses at even strides, which a good factor
    /// spreads more evenly than chance would. The golden ratio (Fibonacci hashing) does so in the highest bits
    /// of the product, but the bucket's are those from the 33rd on: an entry lay up to 6.5 places behind
    /// its home bucket, where chance gives 1.7, and so in the next cache line. With this factor the mean
    /// is 0.2, and the worst 1.2, over 19 strides from 16 bytes to 2 MiB and tables of 2^8 to 2^17 buckets
    /// that are three quarters full.
    #[inline]
    pub(crate) fn of_addr(addr: *const ()) -> Self {
        const FACTOR: u64 = 0xc820_da07_ea4f_f093;
        // Not by `fold`: one shift is what a lookup has time for.
        HashValue(((addr.addr() as u64 >> 4).wrapping_mul(FACTOR) >> 33) as u32)
    }

    /// Of an entry that is about to go, and is looked for no more.
    pub(crate) const NONE: Self = HashValue(0);

    /// The hash of several addresses, in their order.
    #[cfg(all(feature = "std", not(weakly_loom)))]
    #[inline]
    pub(crate) fn of_addrs(addrs: &[*const ()]) -> Self {
        let mix = |hash: u64, addr: &*const ()| {
            Self::of_addr(addr.wrapping_byte_add(hash as usize)).get()
        };
        Self::fold(addrs.iter().fold(0, mix))
    }

    /// The hash of a content.
    #[inline]
    pub(crate) fn of<S: BuildHasher, Q: ?Sized + Hash>(hasher: &S, content: &Q) -> Self {
        Self::fold(hasher.hash_one(content))
    }

    /// Keeps those bits of a hash that hashbrown looks at: the lowest, which choose a bucket, and the
    /// highest seven, which tell its entries apart.
    #[inline(always)]
    fn fold(hash: u64) -> Self {
        HashValue((hash & BUCKET) as u32 | ((hash >> 57) as u32) << 24)
    }

    /// The hash as a block keeps it: the lowest bit is left free.
    #[inline]
    pub(crate) fn short(self) -> u32 {
        self.0 << 1
    }

    /// The hash that [`short`](Self::short) has returned.
    #[inline]
    pub(crate) fn of_short(short: u32) -> Self {
        HashValue(short >> 1)
    }

    /// The hash as the shared table takes it.
    #[cfg(all(feature = "std", not(weakly_loom)))]
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0.into()
    }

    /// The hash as the table takes it, whose lowest bits choose a bucket and the highest seven of 64 tell
    /// its entries apart.
    #[inline]
    pub(crate) fn get(self) -> u64 {
        let hash = u64::from(self.0);
        hash | hash << 33
    }
}

/// The hasher of collections that are keyed by content, unless you choose another: fast, and seeded anew
/// for each collection, so that nobody who chooses keys can make them collide.
///
/// The seeds are those of `std`. Without the feature `std` there is no source of randomness: seeds
/// then differ from program to program only as far as addresses do, which keeps nobody out who tries.
/// (The algorithm is that of the crate `ahash`; not part of the interface.)
#[derive(Clone)]
pub struct DefaultHashBuilder(ahash::RandomState);

/// The hasher of [`DefaultHashBuilder`].
#[derive(Clone)]
pub struct DefaultHasher(ahash::AHasher);

impl Default for DefaultHashBuilder {
    fn default() -> Self {
        let seed = seed();
        // The other three differ from the first, and that is all they need.
        let [a, b, c] = [1, 2, 3].map(|n: u64| seed.rotate_left(n as u32 * 16) ^ n);
        DefaultHashBuilder(ahash::RandomState::with_seeds(seed, a, b, c))
    }
}

#[cfg(feature = "std")]
fn seed() -> u64 {
    std::hash::RandomState::new().hash_one(0)
}

#[cfg(not(feature = "std"))]
fn seed() -> u64 {
    let local = 0;
    HashValue::of_addr(core::ptr::from_ref(&local).cast()).get()
        ^ (seed as fn() -> u64 as usize as u64).rotate_left(32)
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(self.0.build_hasher())
    }
}

macro_rules! pass_on {
    ($($write:ident: $type:ty),*) => {$(
        #[inline]
        fn $write(&mut self, value: $type) {
            self.0.$write(value);
        }
    )*};
}

impl Hasher for DefaultHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    pass_on! {
        write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
        write_usize: usize
    }
}

impl fmt::Debug for DefaultHashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the seeds.
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

impl fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}
