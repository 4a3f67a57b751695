//! Hashers for collections that are keyed by content.

use std::hash::{BuildHasher, Hasher};

use weakly::DefaultHashBuilder;

/// A hasher in a script.
pub trait Hashing: BuildHasher + Default + Clone + 'static {}

impl Hashing for DefaultHashBuilder {}

/// A hasher with `N` hashes: contents collide, up to the last bit.
#[derive(Clone, Default)]
pub struct Few<const N: u64>(u64);

impl<const N: u64> Hashing for Few<N> {}

impl<const N: u64> BuildHasher for Few<N> {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Few(0)
    }
}

impl<const N: u64> Hasher for Few<N> {
    fn finish(&self) -> u64 {
        self.0 % N
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 += u64::from(byte));
    }
}
