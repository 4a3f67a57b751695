//! Deaths that are delivered: random scripts of messages, cancellations, deaths and wake-ups.

#[path = "delivery/script.rs"]
mod script;

use std::iter;

/// Repeatable numbers (xorshift).
fn random(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize
    })
}

#[test]
fn each_message_comes_once_and_in_order() {
    let (scripts, choices) = if cfg!(miri) { (3, 200) } else { (200, 2_000) };
    for seed in 0..scripts {
        script::run(random(seed).take(choices));
    }
}
