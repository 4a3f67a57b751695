//! Facts about functions, kept up to date while the functions are edited: an analyser that recomputes only
//! what an edit affects, on all processors.
//!
//! `cargo run --release --example incremental -- [PATH…]`

mod code;
#[path = "../common/mod.rs"]
mod common;
mod cycles;
mod edit;
mod facts;
mod plain;
mod project;
mod read;
mod report;
mod resolve;
mod session;
#[path = "../common/syntax.rs"]
mod syntax;
mod workers;

use std::process::ExitCode;

use common::program::Program;
use common::sources::Extensions;

const PROGRAM: Program = Program {
    what: "\
Finds the functions in Rust sources and the calls between them; computes facts
that depend on all functions called; edits one function after another, and shows
how little is recomputed. It compares all facts with a recomputation from
scratch. The environment variable INCREMENTAL_EDITS sets the number of edits
(default: 1000).
",
    files: Extensions(&["rs"]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
