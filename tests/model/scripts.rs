//! Random scripts, and how one that fails is made smaller.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::common::{STEP, scaled, sized};

/// The number of scripts, unless `PROPTEST_CASES` is set.
fn config(cases: usize) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(sized(cases, cases / 4, 2) as u32),
        // A script that failed belongs in a test of its own; and Miri has no files.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Runs a number of scripts.
pub(crate) fn check<Op: std::fmt::Debug>(
    cases: usize,
    decode: fn([u8; STEP]) -> Op,
    run: &dyn Fn(Vec<Op>),
) {
    let steps = vec(any::<[u8; STEP]>(), 0..scaled(200, 15));
    let scripts = steps.prop_map(|steps| steps.into_iter().map(decode).collect::<Vec<_>>());
    let run = |ops| {
        run(ops);
        Ok(())
    };
    TestRunner::new(config(cases)).run(&scripts, run).unwrap();
}
