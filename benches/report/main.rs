//! A comparison with peers: `cargo bench -p weakly-benches --bench report` prints Markdown tables.
//!
//! With `-- churn get+10^6` it runs the rows whose text contains one of the words, or all of those that are
//! joined by `+`: here all of churn, and the lookups among a million. With `-- --pictures` it draws the pictures into
//! `docs`, or those that are named: `-- --pictures threads`. With `-- --write` it measures everything, and writes
//! `docs/PERFORMANCE.md`, the pictures, and some rows into the README.
//!
//! By `cargo test --benches` everything runs one tiny round, and is written to a folder below `target`: this tests that
//! the report can be made, and its figures mean nothing.
//!
//! * [`duel`]: a row, its two sides measured alternately, the medians, the table;
//! * [`peers`]: one trait for all pointers, one for all collections, one for all interners;
//! * [`ours`], [`theirs`]: the implementations of these traits;
//! * [`rows`]: the tables' lines;
//! * [`pointers`], [`collections`], [`interners`], [`footprint`]: the measured operations, written once for all
//!   sides;
//! * [`shared`], [`together`]: the same for what threads share; [`teams`]: several threads at the same time;
//! * [`pictures`]: what is drawn;
//! * [`template`], [`document`], [`embed`], [`machine`], [`scale`]: what is written, and where it was measured;
//! * [`subjects`]: sides that several rows measure, made once;
//! * [`chance`]: pseudorandom numbers, words and orders;
//! * [`memory`]: an allocator that counts.

mod chance;
mod collections;
mod document;
mod duel;
mod embed;
mod footprint;
mod interners;
mod machine;
mod memory;
mod ours;
mod peers;
mod pictures;
mod pointers;
mod rows;
mod scale;
mod shared;
mod subjects;
mod teams;
#[allow(dead_code, reason = "other benches write one chapter")]
mod template;
mod theirs;
mod together;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use duel::{HEAD, Line, Row};
use machine::Machine;
use scale::{ROOT, Scale};
use template::{DOCUMENT, Parts};

const COMMAND: &str = "cargo bench -p weakly-benches --bench report -- --write";

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, filters): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|arg| arg.starts_with('-'));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let (scale, machine) = (Scale::of_this_run(), Machine::this());
    match (has("--write"), has("--pictures")) {
        _ if scale == Scale::Tiny => {
            println!("One tiny round for each row: the figures mean nothing.\n");
            print(scale, &["churn".to_owned(), "get+10^6".to_owned()]);
            write(scale, &machine)
        }
        (true, _) if !filters.is_empty() => {
            Err("`--write` measures all, and takes no words".into())
        }
        (true, _) => write(scale, &machine),
        (_, true) => pictures::write(scale, &machine, &filters),
        _ => {
            print(scale, &filters);
            Ok(())
        }
    }
}

/// Measures everything, and writes it.
fn write(scale: Scale, machine: &Machine) -> Result<(), Box<dyn Error>> {
    let (start, root) = (Instant::now(), scale.root());
    let mut parts = Parts::new();
    let mut all = Vec::new();
    println!("{HEAD}");
    for group in rows::all() {
        let lines: Vec<_> = group.rows.into_iter().map(|row| run(row, scale)).collect();
        parts.insert(group.name, Line::table(&lines));
        all.extend(lines);
    }
    pictures::write(scale, machine, &[])?;
    parts.insert("command", COMMAND.to_owned());
    parts.insert("machine", machine.table());
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    parts.insert("duration", format!("{minutes:.0} minutes"));
    let document = fs::read_to_string(Path::new(ROOT).join(DOCUMENT))?;
    let document = template::fill(&document, parts).ok_or("the document lacks a chapter")?;
    fs::write(root.join(DOCUMENT), document)?;
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md"))?;
    match document::front(&readme, &all, &machine.caption()) {
        Some(readme) => fs::write(root.join("README.md"), readme)?,
        None => eprintln!("README.md has no marks for rows, and stays as it is."),
    }
    Ok(())
}

/// Prints the rows that are wanted.
fn print(scale: Scale, filters: &[String]) {
    let start = Instant::now();
    println!("{HEAD}");
    for row in rows::all().into_iter().flat_map(|group| group.rows) {
        if filters.is_empty() || filters.iter().any(|filter| row.mentions(filter)) {
            run(row, scale);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("\nThe whole run took {seconds:.0} s. docs/PERFORMANCE.md says how to read it.");
}

/// Measures a row and prints its line.
fn run(row: Row, scale: Scale) -> Line {
    // To standard error: the table can be piped into a file.
    eprint!("{} ... ", row.name());
    let began = Instant::now();
    let line = row.run(scale);
    eprintln!("{:.1} s", began.elapsed().as_secs_f64());
    println!("{line}");
    line
}
