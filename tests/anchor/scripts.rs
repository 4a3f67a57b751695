//! Random scripts against a plain map: anchors move between owners and die, in any order.

use crate::common::random::random;
use crate::common::{Own, scaled};
use crate::for_each_flavour;
use crate::script::run;

for_each_flavour!(maps_agree_with_a_plain_one);

fn maps_agree_with_a_plain_one<F: Own>() {
    for seed in 0..scaled(40, 1) as u64 {
        run::<F>(scaled(400, 80), &mut random(seed));
    }
}
