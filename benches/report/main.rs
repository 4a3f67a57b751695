//! A comparison with peers: `cargo bench -p weakly-benches --bench report` prints one Markdown table.
//!
//! With `-- churn get+10^6` it runs the rows whose text contains one of the words, or all of those that are
//! joined by `+`: here all of churn, and the lookups among a million. Without `--bench`, which `cargo bench`
//! passes and `cargo test --benches` does not, each row runs one tiny round: this tests that the table can be
//! made, and its figures mean nothing.
//!
//! * [`duel`]: a row, its two sides measured alternately, the medians, the table;
//! * [`peers`]: one trait for all pointers, one for all collections, one for all interners;
//! * [`ours`], [`theirs`]: the implementations of these traits;
//! * [`rows`]: the table's lines, and the goals;
//! * [`pointers`], [`collections`], [`interners`], [`footprint`]: the measured operations, written once for all
//!   sides;
//! * [`shared`], [`teams`]: the same for maps and interners that threads share;
//! * [`subjects`]: sides that several rows measure, made once;
//! * [`chance`]: pseudorandom numbers, words and orders;
//! * [`memory`]: an allocator that counts.

mod chance;
mod collections;
mod duel;
mod footprint;
mod interners;
mod memory;
mod ours;
mod peers;
mod pointers;
mod rows;
mod shared;
mod subjects;
mod teams;
mod theirs;

use std::env;
use std::time::Instant;

use duel::{HEAD, Scale};

fn main() {
    let (flags, filters): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|arg| arg.starts_with('-'));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let scale = if has("--bench") && !has("--test") {
        Scale::Full
    } else {
        Scale::Tiny
    };
    if scale == Scale::Tiny {
        println!("One tiny round for each row (no `--bench`): the figures mean nothing.\n");
    }
    let start = Instant::now();
    println!("{HEAD}");
    for row in rows::all() {
        if filters.is_empty() || filters.iter().any(|filter| row.mentions(filter)) {
            // To standard error: the table can be piped into a file.
            eprint!("{} ... ", row.name());
            let began = Instant::now();
            let line = row.run(scale);
            eprintln!("{:.1} s", began.elapsed().as_secs_f64());
            println!("{line}");
        }
    }
    println!("\n{CAVEATS}");
    println!("The whole run took {:.0} s.", start.elapsed().as_secs_f64());
}

const CAVEATS: &str = "\
Both sides of a row are measured alternately within one run; a ratio is the median of the rounds' ratios, a
time the median of its side's. Compare only ratios: the times depend on machine, allocator and load. In rows of
collections that threads share, a time is the thread's processor time (on Linux; elsewhere, and where a row says
\"wall\" or \"in total\", the elapsed time). Below some 5 ns even a ratio varies by a tenth from one build to
the next, with the alignment of the loops. Contention and the slowest insert need two idle cores: another
process that takes the processor for a moment shows up as the slowest insert. Bytes are those requested from the
allocator.";
