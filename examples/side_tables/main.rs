//! Side tables on real input: three passes attach private attributes to the nodes of syntax trees that
//! they do not own; then the trees go, and the attributes with them.
//!
//! `cargo run --release --example side_tables -- [PATH…]`

#[path = "../common/mod.rs"]
mod common;
mod parse;
mod passes;
mod row;
mod session;
#[path = "../common/syntax.rs"]
mod syntax;
mod tree;

use std::process::ExitCode;

use common::program::Program;
use common::sources::Extensions;

const PROGRAM: Program = Program {
    what: "\
Parses Rust sources into trees, hangs private attributes on their nodes from
three independent passes, drops the trees, and shows the attributes going.
",
    files: Extensions(&["rs"]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
