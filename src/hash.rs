//! Hash values of identities and of contents.

use core::fmt;
use core::hash::{BuildHasher, Hasher};

/// The bits of a hash that choose a bucket.
const BUCKET: u64 = (1 << 24) - 1;

/// A finished hash. The tables take hashes only in this form, so they cannot hash on their own or
/// use the wrong hasher.
///
/// A hash has 31 bits: there is room for 31 bits in the block of an object, beside the count and a
/// flag, and a death finds its entry by these bits. (In a table of more than 2^24 buckets, some of
/// the bits choose the bucket and are also part of the tag. Measured, this costs nothing up to 2^27
/// buckets.)
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashValue(u32);

impl HashValue {
    /// Returns the hash of an address.
    ///
    /// No attacker chooses addresses, so a multiplication is enough. But the low bits of the
    /// product, which would choose the bucket, are poor for page-aligned objects, so the high bits
    /// take their place. With a bare multiplication, a hit probes 7 groups for addresses at a
    /// stride of 4 KiB, and 438 groups at a stride of 2 MiB. The lowest four bits of an address
    /// carry no information.
    ///
    /// The factor was found by search. An allocator returns addresses at even strides, and a good
    /// factor spreads them more evenly than chance would. The golden ratio (Fibonacci hashing) does
    /// so in the highest bits of the product, but the bucket comes from bit 33 upwards: with the
    /// golden ratio, an entry lay up to 6.5 places behind its home bucket, and so in the next cache
    /// line; chance gives 1.7 places. With this factor the mean is 0.2 places and the worst case
    /// 1.2, over 19 strides from 16 bytes to 2 MiB and tables of 2^8 to 2^17 buckets that are three
    /// quarters full.
    #[inline]
    pub(crate) fn of_addr(addr: *const ()) -> Self {
        const FACTOR: u64 = 0xc820_da07_ea4f_f093;
        // Without `fold`: a lookup has time for a single shift.
        HashValue(((addr.addr() as u64 >> 4).wrapping_mul(FACTOR) >> 33) as u32)
    }

    /// The hash of an entry that is about to be removed and will not be looked up.
    pub(crate) const NONE: Self = HashValue(0);

    /// Returns the hash of a content.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn of<S: BuildHasher, Q: ?Sized + core::hash::Hash>(
        hasher: &S,
        content: &Q,
    ) -> Self {
        Self::fold(hasher.hash_one(content))
    }

    /// Keeps the bits of a hasher's result that hashbrown uses: the lowest bits, which choose a
    /// bucket, and the highest seven bits, the tag that distinguishes the entries of a group.
    #[inline(always)]
    pub(crate) fn fold(hash: u64) -> Self {
        HashValue((hash & BUCKET) as u32 | ((hash >> 57) as u32) << 24)
    }

    /// Returns the hash as a block stores it: the lowest bit is left free for a flag.
    #[inline]
    pub(crate) fn short(self) -> u32 {
        self.0 << 1
    }

    /// Converts back from [`short`](Self::short).
    #[inline]
    pub(crate) fn of_short(short: u32) -> Self {
        HashValue(short >> 1)
    }

    /// Returns the hash for the shared table.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0.into()
    }

    /// Returns the hash for hashbrown: the lowest bits choose a bucket, the highest seven of 64
    /// bits are the tag.
    #[inline]
    pub(crate) fn get(self) -> u64 {
        let hash = u64::from(self.0);
        hash | hash << 33
    }
}

/// The cookie of a registration: 31 bits that a collection chooses, and by which the collection
/// finds the entry of a notice. A hash table chooses the hash of the entry.
pub(crate) type Cookie = HashValue;

/// Hashes addresses, in order, each like [`HashValue::of_addr`].
#[cfg(feature = "std")]
#[derive(Default)]
pub(crate) struct AddrHasher(u64);

#[cfg(feature = "std")]
impl AddrHasher {
    /// Returns the hash. For a single address it equals `of_addr`.
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        HashValue::fold(self.0)
    }
}

#[cfg(feature = "std")]
impl Hasher for AddrHasher {
    #[inline]
    fn write_usize(&mut self, addr: usize) {
        let mixed = core::ptr::without_provenance(addr.wrapping_add(self.0 as usize));
        self.0 = HashValue::of_addr(mixed).get();
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only addresses are hashed")
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The default hasher of collections by content: fast, and seeded anew for each collection. So an
/// attacker who chooses the keys cannot make them collide.
///
/// The seeds come from `std`. Without the feature `std` there is no source of randomness: the seeds
/// then differ between runs only as far as addresses do, and do not stop an attacker. (The
/// algorithm is from the crate `ahash`, which is not part of the interface.)
#[derive(Clone)]
pub struct DefaultHashBuilder(ahash::RandomState);

/// The [`Hasher`] of [`DefaultHashBuilder`].
#[derive(Clone)]
pub struct DefaultHasher(ahash::AHasher);

impl Default for DefaultHashBuilder {
    fn default() -> Self {
        let seed = seed();
        // The other three seeds only have to differ from the first.
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

macro_rules! forward {
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

    forward! {
        write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
        write_usize: usize
    }
}

impl fmt::Debug for DefaultHashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the seeds, which are secret.
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

impl fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}
