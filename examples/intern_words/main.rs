//! Interning on real input: every word of every file becomes a handle, equal words the same handle; each file's
//! table owns the handles of its words. Then the files are dropped one by one, and each word is freed with the
//! last file that contains it.
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
Reads text and source files, interns every word, keeps a table of the words of
each file, drops the files one by one, and shows how the words go with them. At
each step it compares all counts with a recomputation without weak pointers.
",
    files: Extensions(&[
        "c", "cpp", "go", "h", "hpp", "java", "js", "md", "py", "rs", "toml", "ts", "txt",
    ]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
