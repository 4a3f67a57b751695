//! Many threads: the throughput of what they share, with 1 to 16 of them.
//!
//! `cargo bench -p weakly-benches --bench scaling -- [SECONDS]` takes three minutes, or about so many seconds, and prints the
//! chapter of `docs/PERFORMANCE.md`. With `--write`, on a machine with sixteen processors or more, it writes the chapter. By
//! `cargo test --benches` it makes few operations, and writes below `target`. The rounds of all sides are interleaved, and a
//! figure is the median. What is measured are operations of the report.

// These name each other from the root of a program.
macro_rules! of_the_report {
    ($($path:literal $module:ident),*) => {$(
        #[allow(dead_code, reason = "the report measures more")]
        #[path = $path]
        mod $module;
    )*};
}

of_the_report! {
    "../report/chance.rs" chance,
    "../report/duel.rs" duel,
    "../report/machine.rs" machine,
    "../report/peers.rs" peers,
    "../report/scale.rs" scale,
    "../report/shared.rs" shared,
    "../report/teams.rs" teams,
    "../report/template.rs" template,
    "../report/theirs.rs" theirs,
    "../report/together.rs" together
}

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use weakly::{Memo, Strong, concurrent};

use duel::{Sample, median};
use machine::Machine;
use scale::Scale;
use shared::{DashMap, Locked, Moka, OneLocked, Papaya, Sharded};
use teams::{Clock, Plan};
use template::SCALING;
use together::{churn, get, hit, miss, mixed, replace};

const TEAMS: [usize; 5] = [1, 2, 4, 8, 16];
const SIZES: [(usize, &str); 2] = [(1_000, "10^3"), (100_000, "10^5")];
/// Of the whole run, if no other number is given.
const SECONDS: f64 = 180.0;
/// The fewest rounds of a figure, and the most: odd, for the median.
const ROUNDS: [usize; 2] = [3, 31];
/// Operations of a thread in a sample: so many that the start does not count.
const LOOKUPS: usize = 1 << 15;
const CHANGES: usize = 1 << 13;

type Map = concurrent::WeakMap<Strong<u64>, u64>;
type Words = concurrent::Interner<Strong<str>>;
type Cache = Memo<Strong<u64>, u64>;

/// A name, and what makes a sample.
type Side = (&'static str, fn(Plan) -> Sample);

/// An operation, how often a thread makes it in a sample, and who does it, ours first.
type Job = (&'static str, usize, [Side; 3]);

const JOBS: [Job; 7] = {
    macro_rules! maps {
        ($operation:ident) => {
            [
                ("weakly", $operation::<Map>),
                ("papaya", $operation::<Papaya>),
                ("dashmap", $operation::<DashMap>),
            ]
        };
    }
    macro_rules! words {
        ($operation:ident) => {
            [
                ("weakly", $operation::<Words>),
                ("16 locked", $operation::<Sharded>),
                ("one locked", $operation::<OneLocked>),
            ]
        };
    }
    let memos: [Side; 3] = [
        ("weakly", get::<Cache>),
        ("moka", get::<Moka>),
        ("locked map", get::<Locked>),
    ];
    [
        ("get", LOOKUPS, maps!(get)),
        ("95 % get", LOOKUPS, maps!(mixed)),
        ("churn", CHANGES, maps!(churn)),
        ("replace", CHANGES, maps!(replace)),
        ("Interner: hit", CHANGES, words!(hit)),
        ("Interner: miss", CHANGES, words!(miss)),
        ("Memo: hit", LOOKUPS, memos),
    ]
};

/// Some sides do the same among so many objects.
struct Panel {
    operation: &'static str,
    size: &'static str,
    sides: [&'static str; 3],
    /// Millions of operations a second, of all threads together, by the number of threads and by side.
    rates: [[f64; 3]; TEAMS.len()],
}

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, words): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|word| word.starts_with("--"));
    let (scale, machine) = (Scale::of_this_run(), Machine::this());
    let is_written = scale == Scale::Tiny || flags.iter().any(|flag| flag == "--write");
    let cores = machine.cores;
    if is_written && scale == Scale::Full && cores < TEAMS[TEAMS.len() - 1] {
        return Err(format!("the chapter is for more than {cores} processors").into());
    }
    let (seconds, rounds) = match (scale, words.first()) {
        (Scale::Tiny, _) => (0.0, [1, 1]),
        (_, word) => (word.map_or(Ok(SECONDS), |word| word.parse())?, ROUNDS),
    };
    let began = Instant::now();
    let samples = JOBS.len() * SIZES.len() * TEAMS.len();
    let mut ends = (1..=samples)
        .map(|nth| began + Duration::from_secs_f64(seconds * nth as f64 / samples as f64));
    let mut panels = Vec::new();
    for (operation, operations, sides) in JOBS {
        for (size, label) in SIZES {
            let rates = TEAMS.map(|threads| {
                let plan = Plan {
                    threads,
                    size: scale.of(size),
                    operations: scale.of(operations),
                    clock: Clock::Total,
                };
                let end = ends.next().expect("one for each");
                let rates = rates(plan, sides, rounds, end);
                eprintln!("{operation}, {label}, {threads} threads: {rates:.1?}");
                rates
            });
            panels.push(Panel {
                operation,
                size: label,
                sides: sides.map(|(name, _)| name),
                rates,
            });
        }
    }
    let caption = machine.caption();
    let seconds = began.elapsed().as_secs_f64();
    let text = format!("{caption}; {seconds:.0} s.\n\n{}\n", table(&panels));
    println!("{text}");
    if is_written {
        template::write(scale.root(), SCALING, [("scaling", text)].into())?;
    }
    Ok(())
}

/// Measures the sides in turns until a time, or longer, if there are too few rounds.
fn rates(plan: Plan, sides: [Side; 3], [fewest, most]: [usize; 2], end: Instant) -> [f64; 3] {
    let mut samples = sides.map(|(_, side)| side(plan));
    // The first warms caches, and lets tables grow.
    let mut round = || samples.each_mut().map(|sample| sample());
    round();
    let mut rounds = Vec::new();
    while rounds.len() < fewest
        || rounds.len() < most && (rounds.len() % 2 == 0 || Instant::now() < end)
    {
        rounds.push(round());
    }
    [0, 1, 2].map(|side| 1e3 / median(rounds.iter().map(|round| round[side]).collect()))
}

fn table(panels: &[Panel]) -> String {
    let mut table = "| millions a second, all threads together | size | |".to_owned();
    for threads in TEAMS {
        _ = match threads {
            1 => write!(table, " 1 thread |"),
            _ => write!(table, " {threads} |"),
        };
    }
    table += "\n|---|---:|---|";
    table += &"---:|".repeat(TEAMS.len());
    for Panel {
        operation,
        size,
        sides,
        rates,
    } in panels
    {
        for (at, side) in sides.iter().enumerate() {
            _ = write!(table, "\n| {operation} | {size} | {side} |");
            for rates in rates {
                _ = write!(table, " {:.1} |", rates[at]);
            }
        }
    }
    table
}
