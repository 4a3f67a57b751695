//! A program from its arguments to its exit status.

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

/// What sets one program apart from the others.
pub(crate) struct Program {
    /// For its users: a few lines.
    pub(crate) what: &'static str,
    /// Which files it takes from a directory.
    pub(crate) files: Extensions,
    /// Does it all, and tells standard output about it. Fails where it cannot even start; with
    /// `InvalidInput`, if it has been called wrongly.
    pub(crate) run: fn(&[PathBuf]) -> io::Result<Outcome>,
}

/// How a run went.
pub(crate) struct Outcome {
    /// Files that could not be read, or were not as they should be.
    pub(crate) left_out: usize,
    /// What was wrong with the counts.
    pub(crate) faults: Vec<String>,
    /// What became of the output.
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
                complain(&format!("unknown option {option}\n{}", self.usage()));
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
PATH is a file of any name, or a directory, of which it takes all
  {files}
Without one it takes the sources of the weakly crate. After -- everything is a
path.

Exit status: 0 all well; 1 some input had to be left out, or output failed;
2 wrong usage; 3 something was not counted right or outlived its time (a bug).
"
        )
    }

    fn run(&self, paths: &[PathBuf]) -> u8 {
        let sources = Sources::find(paths, self.files);
        for complaint in &sources.complaints {
            complain(complaint);
        }
        let outcome = match (self.run)(&sources.files) {
            Ok(outcome) => outcome,
            Err(why) => {
                complain(&why.to_string());
                return match why.kind() {
                    io::ErrorKind::InvalidInput => MISUSED,
                    _ => INCOMPLETE,
                };
            }
        };
        for fault in &outcome.faults {
            complain(fault);
        }
        let written = finish(outcome.written);
        if !outcome.faults.is_empty() {
            return NOT_ZERO;
        }
        let complete = sources.complaints.is_empty() && outcome.left_out == 0;
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

/// A reader who has seen enough (`| head`) is no failure.
fn finish(written: io::Result<()>) -> Result<(), ()> {
    match written.and_then(|()| io::stdout().flush()) {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write the output: {why}"));
            Err(())
        }
        _ => Ok(()),
    }
}

/// Says it on standard error; if nobody listens there, there is nobody to tell.
pub(crate) fn complain(what: &str) {
    let _ = writeln!(io::stderr(), "{NAME}: {what}");
}

/// Standard output, which may fail in the middle: the work goes on, the first failure is kept.
pub(crate) struct Output(pub(crate) io::Result<()>);

impl Output {
    pub(crate) fn say(&mut self, what: fmt::Arguments<'_>) {
        if self.0.is_ok() {
            self.0 = io::stdout().write_fmt(what);
        }
    }
}
