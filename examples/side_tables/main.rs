//! Side tables on real input: three passes attach private attributes to the nodes of syntax trees that they do
//! not own; then the trees are dropped, and the attributes with them.
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
Parses Rust sources into trees, attaches private attributes of three independent
passes to their nodes, drops the trees, and shows how the attributes go with them.
",
    files: Extensions(&["rs"]),
    run: session::run,
};

fn main() -> ExitCode {
    PROGRAM.main()
}
