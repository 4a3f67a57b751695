//! Interning on real input: every word of every file becomes a handle, equal words the same; each file's
//! table holds the handles of its words. Then the files are forgotten one after the other, and the words
//! go with the last file that has them.
//!
//! `cargo run --release --example intern_words -- [PATH…]`

#[path = "../common/mod.rs"]
mod common;
mod library;
mod plain;
mod report;
mod session;
mod words;

use std::process::ExitCode;

use common::program::Program;
use common::sources::Extensions;

const PROGRAM: Program = Program {
    what: "\
Reads text and source files, interns every word, keeps a table of its words for
each file, forgets the files one after the other, and shows the words going. At
each step it compares all counts with those of a plain recomputation.
",
    files: Extensions(&[
        "c", "cpp", "go", "h", "hpp", "java", "js", "md", "py", "rs", "toml", "ts", "txt",
    ]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
