//! What the programs that read files share: their arguments, the progress bar, the table, the bytes they allocate.

#![allow(dead_code)] // each program uses a part of it

mod memory;
pub(crate) mod report;
pub(crate) mod sources;

use std::fmt::Debug;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use report::Report;
use weakly::{Strong, concurrent::WeakMap};

/// The body of `main`: runs a program on the files that its arguments name, and on those with these extensions in the
/// directories that they name.
pub(crate) fn main(
    extensions: &[&str],
    columns: &[&str],
    run: fn(&[PathBuf], &mut Report) -> Result<(), String>,
) -> ExitCode {
    let files = sources::find(extensions);
    checked(columns, |report| {
        run(files.as_ref().map_err(String::clone)?, report)
    })
}

/// The same for a program that reads nothing. At the end it must have freed all that it has allocated.
pub(crate) fn checked(
    columns: &[&str],
    run: impl FnOnce(&mut Report) -> Result<(), String> + Send,
) -> ExitCode {
    // The runtime and the library allocate a little for the first thread (and the library for the fifth at a time), once and
    // for ever: now, so that it does not count.
    let first = || WeakMap::new().insert(&Strong::new(()), ());
    let _ = thread::spawn(first).join();
    let mut report = Report::new(columns);
    // A thread of its own, which frees at its end what it has kept for its next computation.
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| run(&mut report));
        run.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    let outcome = outcome.and_then(|()| same("bytes at the end", report.bytes(), 0));
    let outcome = outcome.and_then(|()| {
        let text = report.to_string();
        let written = io::stdout().write_all(text.as_bytes());
        written.map_err(|why| why.to_string())?;
        let Report { skipped, .. } = report;
        skipped.is_empty().then_some(()).ok_or(skipped)
    });
    if let Err(why) = &outcome {
        let _ = writeln!(io::stderr(), "{}", why.trim_end()); // nowhere left to report a failure
    }
    ExitCode::from(u8::from(outcome.is_err()))
}

/// Checks that something is what a plain computation says.
pub(crate) fn same<T: PartialEq + Debug>(what: &str, is: T, expected: T) -> Result<(), String> {
    if is == expected {
        return Ok(());
    }
    Err(format!("{what}: {is:?}, but expected {expected:?}"))
}
