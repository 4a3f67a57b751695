//! How much a program does, and where it writes.

use std::env;
use std::path::Path;

/// The repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// How much work a program does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Full,
    /// The smallest size, which takes every way that the full size takes. The figures mean nothing.
    Tiny,
}

impl Scale {
    /// `cargo bench` passes `--bench`, and `cargo test --benches`, by which the gate tests the programs, does not.
    pub(crate) fn of_this_run() -> Self {
        match env::args().any(|word| word == "--bench") {
            true => Scale::Full,
            false => Scale::Tiny,
        }
    }

    /// A number of objects or operations.
    pub(crate) fn of(self, full: usize) -> usize {
        match self {
            Scale::Full => full,
            Scale::Tiny => full.min(64),
        }
    }

    /// The folder with the `docs` that the program writes.
    pub(crate) fn root(self) -> &'static Path {
        Path::new(match self {
            Scale::Full => ROOT,
            Scale::Tiny => env!("CARGO_TARGET_TMPDIR"),
        })
    }
}
