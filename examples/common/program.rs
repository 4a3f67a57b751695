//! A program, from its arguments to its exit status.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::sources::{Extensions, Sources};

const NAME: &str = env!("CARGO_CRATE_NAME");

const INCOMPLETE: u8 = 1;
const MISUSED: u8 = 2;
const NOT_ZERO: u8 = 3;

/// What distinguishes one program from the others.
pub(crate) struct Program {
    /// A short description for its users.
    pub(crate) what: &'static str,
    /// Which files it reads from a directory.
    pub(crate) files: Extensions,
    /// Does all the work, and reports on standard output. Fails if it cannot start; with `InvalidInput` on wrong
    /// usage.
    pub(crate) run: fn(&[PathBuf]) -> io::Result<Outcome>,
}

/// The result of a run.
pub(crate) struct Outcome {
    /// Files that could not be read or parsed.
    pub(crate) skipped: usize,
    /// Counts that were wrong.
    pub(crate) faults: Vec<String>,
    /// Whether the output could be written.
    pub(crate) written: io::Result<()>,
}

enum Request {
    Run(Vec<PathBuf>),
    Help,
    Refused(OsString),
}

impl Program {
    /// The body of `main`.
    pub(crate) fn main(&self) -> ExitCode {
        let status = match Request::of(std::env::args_os().skip(1)) {
            Request::Run(paths) => self.run(&paths),
            Request::Help => match finish(io::stdout().write_all(self.usage().as_bytes())) {
                Ok(()) => 0,
                Err(()) => INCOMPLETE,
            },
            Request::Refused(option) => {
                let option = Path::new(&option).display();
                report_error(&format!("unknown option {option}\n{}", self.usage()));
                MISUSED
            }
        };
        ExitCode::from(status)
    }

    fn usage(&self) -> String {
        let Program { what, files, .. } = self;
        format!(
            "\
usage: {NAME} [PATH...]

{what}
PATH is a file with any name, or a directory, of which it reads all
  {files}
Without a PATH it reads the sources of the weakly crate. After -- every argument
is a path.

Exit status: 0 success; 1 some input was skipped, or writing the output failed;
2 wrong usage; 3 a count was wrong or something leaked (a bug).
"
        )
    }

    fn run(&self, paths: &[PathBuf]) -> u8 {
        let sources = Sources::find(paths, self.files);
        for error in &sources.errors {
            report_error(error);
        }
        let outcome = match (self.run)(&sources.files) {
            Ok(outcome) => outcome,
            Err(why) => {
                report_error(&why.to_string());
                return match why.kind() {
                    io::ErrorKind::InvalidInput => MISUSED,
                    _ => INCOMPLETE,
                };
            }
        };
        for fault in &outcome.faults {
            report_error(fault);
        }
        let written = finish(outcome.written);
        if !outcome.faults.is_empty() {
            return NOT_ZERO;
        }
        let complete = sources.errors.is_empty() && outcome.skipped == 0;
        if complete && written.is_ok() {
            0
        } else {
            INCOMPLETE
        }
    }
}

impl Request {
    fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut paths = Vec::new();
        let mut options = true;
        for argument in arguments {
            if !options || !argument.as_encoded_bytes().starts_with(b"-") {
                paths.push(argument.into());
            } else if argument == "--" {
                options = false;
            } else if argument == "--help" || argument == "-h" {
                return Request::Help;
            } else {
                return Request::Refused(argument);
            }
        }
        if paths.is_empty() {
            paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("src"));
        }
        Request::Run(paths)
    }
}

/// A closed pipe (`| head`) is no failure.
fn finish(written: io::Result<()>) -> Result<(), ()> {
    match written.and_then(|()| io::stdout().flush()) {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            report_error(&format!("cannot write the output: {why}"));
            Err(())
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; if that fails, there is nowhere left to report it.
pub(crate) fn report_error(what: &str) {
    let _ = writeln!(io::stderr(), "{NAME}: {what}");
}

/// Standard output, which may fail midway: the work continues, and the first failure is kept.
pub(crate) struct Output(pub(crate) io::Result<()>);

impl Output {
    pub(crate) fn print(&mut self, what: fmt::Arguments<'_>) {
        if self.0.is_ok() {
            self.0 = io::stdout().write_fmt(what);
        }
    }
}
