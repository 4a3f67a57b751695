//! Random scripts against a plain map: anchors move between owners and die, in any order.

use std::iter;

use crate::common::{Own, scaled};
use crate::for_each_flavour;
use crate::script::run;

for_each_flavour!(maps_agree_with_a_plain_one);

/// The generator of Knuth's MMIX.
fn random(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed;
    iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    })
}

fn maps_agree_with_a_plain_one<F: Own>() {
    for seed in 0..scaled(40, 2) as u64 {
        run::<F>(scaled(400, 80), random(seed));
    }
}
