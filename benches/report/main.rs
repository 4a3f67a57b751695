//! Side by side with peers: `cargo bench -p weakly-benches --bench report` prints one Markdown table.
//!
//! With `-- churn get+10^6` it runs the rows whose text contains one of the words,
//! or all of those that are joined by `+`: here all of churn, and the lookups among a million.
//! Without `--bench`, which `cargo bench` passes and `cargo test --benches` does not, each row does
//! one tiny round: that the table can be made is then tested, its figures mean nothing.
//!
//! * [`duel`]: a row, its two sides in turn, the medians, the table;
//! * [`peers`]: one face for all pointers, one for all collections, one for all interners;
//! * [`ours`], [`theirs`]: who is behind these faces;
//! * [`rows`]: the table's lines, and the goals;
//! * [`pointers`], [`collections`], [`interners`], [`footprint`]: what a side does, once for all of them;
//! * [`shared`], [`teams`]: the same for maps and interners that threads share;
//! * [`subjects`]: sides that several rows measure, made once;
//! * [`chance`]: numbers, words and orders without a pattern;
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
            // On the other stream: the table is what can be piped into a file.
            eprint!("{} ... ", row.name());
            let began = Instant::now();
            let line = row.run(scale);
            eprintln!("{:.1} s", began.elapsed().as_secs_f64());
            println!("{line}");
        }
    }
    println!("\n{CAVEATS}");
    println!("All of it took {:.0} s.", start.elapsed().as_secs_f64());
}

const CAVEATS: &str = "\
Both sides of a row take turns within one run; a ratio is the median of the rounds' ratios, a time the
median of its side's. Compare ratios only: the times are this machine's, this allocator's and this
moment's. Of what threads share, a time is that which a processor gave to a thread (on Linux; elsewhere,
and where a row says \"wall\" or \"in total\", the time that passed). Below some 5 ns even a ratio moves by a
tenth from one build to the next, with the alignment of the loops. Contention and the slowest insert need
two idle cores: a neighbour who takes the processor away for a moment shows up as the slowest insert.
Bytes are those that the allocator was asked for.";
