//! Random graphs against brute force.

use crate::common::random::random;
use crate::common::sized;
use crate::graph::{ALL, Atomic, Counted, Family, Ours, Single, check};

/// How many graphs of each kind.
pub(crate) fn graphs() -> u64 {
    let asked = std::env::var("WEAKLY_GRAPHS").ok();
    asked.map_or(sized(1_000, 400, 3) as u64, |text| text.parse().unwrap())
}

fn check_all<F: Family>() {
    for seed in 0..graphs() {
        for shows in ALL {
            check::<F, _>(shows, || random(seed), cfg!(miri) || seed % 2 == 0);
        }
    }
}

/// 144, 145, 146, 148, 149, 150, 151, 152, 155, 367, 431: The verdict of a purge, and what a drain hands out, are
/// those of brute force.
#[test]
fn strong() {
    check_all::<Ours>();
}

#[test]
fn local_strong() {
    check_all::<Single>();
}

#[test]
fn rc() {
    check_all::<Counted>();
}

#[test]
fn arc() {
    check_all::<Atomic>();
}
