//! A comparison with peers: `cargo bench -p weakly-benches --bench report` prints Markdown tables.
//!
//! With `-- churn get+10^6` it runs the rows whose text contains one of the words, or all of those that are
//! joined by `+`: here all of churn, and the lookups among a million; `hash-consing` is the table of terms. With
//! `-- --pictures` it draws the pictures into `docs`, or those that are named: `-- --pictures threads`. With
//! `-- --growth` it measures the document's chapter about growth, and writes it and its pictures. With
//! `-- --write` it measures everything, and writes `docs/PERFORMANCE.md`, the pictures, and some rows into the
//! README.
//!
//! By `cargo test --benches` everything runs one tiny round, and is written to a folder below `target`: this tests that
//! the report can be made, and its figures mean nothing.
//!
//! * [`duel`]: a row, its two sides measured alternately, the medians, the table;
//! * [`peers`]: one trait for all pointers, one for all collections, one for all interners;
//! * [`ours`], [`theirs`]: the implementations of these traits;
//! * [`rows`]: the tables' lines, and the goals;
//! * [`pointers`], [`collections`], [`interners`], [`footprint`]: the measured operations, written once for all
//!   sides;
//! * [`shared`], [`together`]: the same for what threads share; [`teams`]: several threads at the same time;
//! * [`terms`]: a foreign program, on several stores;
//! * [`pictures`]: what is drawn;
//! * [`template`], [`document`], [`embed`], [`machine`], [`scale`]: what is written, and where it was measured;
//! * [`subjects`]: sides that several rows measure, made once;
//! * [`chance`]: pseudorandom numbers, words and orders;
//! * [`memory`]: an allocator that counts;
//! * [`tree`], [`passes`]: the job of the example `side_tables`, for its memory.

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
mod template;
mod terms;
mod theirs;
mod together;

// Files of the example. They name each other from the root of a program.
#[path = "../../examples/side_tables/passes.rs"]
mod passes;
#[allow(dead_code, reason = "only the example shows names")]
#[path = "../../examples/side_tables/tree.rs"]
mod tree;

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
const TERMS: &str = "hash-consing";

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, filters): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|arg| arg.starts_with('-'));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let (scale, machine) = (Scale::of_this_run(), Machine::this());
    match (has("--write"), has("--growth"), has("--pictures")) {
        _ if scale == Scale::Tiny => {
            println!("One tiny round for each row: the figures mean nothing.\n");
            print(scale, &["churn".to_owned(), "get+10^6".to_owned()]);
            write(scale, &machine)?;
            grow(scale, &machine)
        }
        (true, ..) | (_, true, _) if !filters.is_empty() => {
            Err("`--write` and `--growth` measure all, and take no words".into())
        }
        (true, ..) => write(scale, &machine),
        (_, true, _) => grow(scale, &machine),
        (.., true) => pictures::write(scale, &machine, |name| {
            filters.is_empty() || filters.iter().any(|filter| filter == name)
        })
        .map(drop),
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
    let terms = terms::table(scale);
    println!("\n{terms}\n");
    parts.insert("terms", terms);
    parts.extend(growth(scale, machine, |_| true)?);
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

/// Measures the chapter about growth, and writes it into the document, and its pictures beside it.
fn grow(scale: Scale, machine: &Machine) -> Result<(), Box<dyn Error>> {
    let parts = growth(scale, machine, |name| pictures::GROWTH.contains(&name))?;
    template::write(scale.root(), template::GROWTH, parts)
}

/// Measures and writes the pictures that are wanted. The parts of the chapter about growth.
fn growth(
    scale: Scale,
    machine: &Machine,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Parts, Box<dyn Error>> {
    let tables = pictures::write(scale, machine, is_wanted)?.into_iter();
    let mut parts: Parts = tables
        .filter(|(name, _)| pictures::GROWTH.contains(name))
        .collect();
    parts.extend(pictures::growth::parts(scale));
    parts.insert("day", machine.caption());
    Ok(parts)
}

/// Prints the rows that are wanted, with their goals.
fn print(scale: Scale, filters: &[String]) {
    let start = Instant::now();
    println!("{HEAD}");
    for row in rows::all().into_iter().flat_map(|group| group.rows) {
        if filters.is_empty() || filters.iter().any(|filter| row.mentions(filter)) {
            run(row, scale);
        }
    }
    if filters.is_empty() || filters.iter().any(|filter| filter == TERMS) {
        println!("\n{}", terms::table(scale));
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
    println!("{}", line.with_goal());
    line
}
