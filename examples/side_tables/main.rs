//! Side tables on real input: three passes attach private attributes to the nodes of syntax trees that
//! they do not own; then the trees go, and the attributes with them.
//!
//! `cargo run --release --example side_tables -- [PATH…]`

mod alive;
mod memory;
mod parse;
mod passes;
mod progress;
mod report;
mod session;
mod sources;
mod tree;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: side_tables [PATH...]

Parses Rust sources into trees, hangs private attributes on their nodes from
three independent passes, drops the trees, and shows the attributes going.

PATH is a file (of any name) or a directory (all *.rs in it). Without one it
takes the sources of the weakly crate. After -- everything is a path.

Exit status: 0 all well; 1 some input had to be left out, or output failed;
2 wrong usage; 3 something outlived its time (a bug).
";

const INCOMPLETE: u8 = 1;
const MISUSED: u8 = 2;
const NOT_ZERO: u8 = 3;

fn main() -> ExitCode {
    let paths = match Request::of(std::env::args_os().skip(1)) {
        Request::Run(paths) => paths,
        Request::Help => {
            return match finish(io::stdout().write_all(USAGE.as_bytes())) {
                Ok(()) => ExitCode::SUCCESS,
                Err(()) => ExitCode::from(INCOMPLETE),
            };
        }
        Request::Refused(option) => {
            complain(&format!(
                "unknown option {}\n{USAGE}",
                Path::new(&option).display()
            ));
            return ExitCode::from(MISUSED);
        }
    };
    ExitCode::from(run(&paths))
}

enum Request {
    Run(Vec<PathBuf>),
    Help,
    Refused(OsString),
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
            paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        }
        Request::Run(paths)
    }
}

fn run(paths: &[PathBuf]) -> u8 {
    let sources = sources::Sources::find(paths);
    for complaint in &sources.complaints {
        complain(complaint);
    }
    let outcome = match session::run(&sources.files) {
        Ok(outcome) => outcome,
        Err(why) => {
            complain(&format!("cannot start a thread: {why}"));
            return INCOMPLETE;
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
fn complain(what: &str) {
    let _ = writeln!(io::stderr(), "side_tables: {what}");
}
