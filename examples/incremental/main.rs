//! Facts about functions that are kept while their functions are edited: an analyser that recomputes
//! what an edit has touched, and nothing else, on all processors.
//!
//! `cargo run --release --example incremental -- [PATH…]`

mod circles;
mod code;
#[path = "../common/mod.rs"]
mod common;
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
Finds the functions in Rust sources, and who calls whom; computes facts about
them that depend on all that they call; edits one function after the other, and
shows how little is computed again. It compares all facts with those of a plain
recomputation. INCREMENTAL_EDITS in the environment says how many edits to make,
if not 1000.
",
    files: Extensions(&["rs"]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
