//! How many scripts to run, and which.

use std::env;

/// The seeds of so many scripts, or what the environment asks for: `WEAKLY_SCRIPT=17` this one, `WEAKLY_SCRIPTS=1000` so many.
pub(crate) fn seeds(usually: u64) -> std::ops::Range<u64> {
    let asked = |name| {
        env::var(name)
            .ok()
            .map(|asked| asked.parse().expect("a number"))
    };
    match asked("WEAKLY_SCRIPT") {
        Some(seed) => seed..seed + 1,
        None => 0..asked("WEAKLY_SCRIPTS").unwrap_or(usually),
    }
}
