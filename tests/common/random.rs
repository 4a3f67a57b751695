//! Choices for random scripts.

use std::iter;

/// Repeatable numbers (xorshift).
pub fn random(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize
    })
}
