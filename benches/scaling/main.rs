//! Many threads: the throughput of what they share, with 1 to 16 of them.
//!
//! `cargo run --release -p weakly-benches --bin scaling -- [SECONDS]` takes three minutes, or about so many seconds, and writes
//! `target/scaling.md` and `target/scaling.svg`. With `--write`, on a machine with sixteen processors or more, it also writes
//! the chapter of `docs/PERFORMANCE.md`. The rounds of all sides are interleaved, and a figure is the median. What is measured
//! are operations of the report.

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
    "../report/embed.rs" embed,
    "../report/machine.rs" machine,
    "../report/peers.rs" peers,
    "../report/shared.rs" shared,
    "../report/teams.rs" teams,
    "../report/template.rs" template,
    "../report/theirs.rs" theirs,
    "../report/together.rs" together
}

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use weakly::{Memo, Strong, concurrent};

use duel::{Sample, median};
use machine::Machine;
use shared::{DashMap, Locked, Moka, OneLocked, Papaya, Sharded};
use teams::{Clock, Plan};
use template::{SCALING, chapter};
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
    let is_written = flags.iter().any(|flag| flag == "--write");
    let machine = Machine::this();
    let cores = machine.cores;
    if is_written && cores < TEAMS[TEAMS.len() - 1] {
        return Err(format!("the chapter is for more than {cores} processors").into());
    }
    let seconds = words.first().map_or(Ok(SECONDS), |word| word.parse())?;
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
                    size,
                    operations,
                    clock: Clock::Total,
                };
                let rates = rates(plan, sides, ends.next().expect("one for each"));
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
    let picture = svg(&panels, &caption);
    let text = |target: &str| {
        let table = table(&panels);
        format!(
            "{caption}; {:.0} s.\n\n{table}\n\n![Throughput, by the number of threads][picture-scaling]\n\n\
            [picture-scaling]: {target}scaling.svg\n",
            began.elapsed().as_secs_f64()
        )
    };
    println!("{}", text(""));
    let target = Path::new("target");
    fs::create_dir_all(target)?;
    fs::write(target.join("scaling.md"), text(""))?;
    fs::write(target.join("scaling.svg"), &picture)?;
    if is_written {
        let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
        let document = fs::read_to_string(docs.join("PERFORMANCE.md"))?;
        let parts = [("scaling", text("pictures/"))].into();
        let document = chapter(&document, SCALING, parts).ok_or("there is no such chapter")?;
        fs::write(docs.join("PERFORMANCE.md"), document)?;
        fs::write(docs.join("pictures/scaling.svg"), &picture)?;
        embed::embed(docs)?;
    }
    Ok(())
}

/// Measures the sides in turns until a time, or longer, if there are too few rounds.
fn rates(plan: Plan, sides: [Side; 3], end: Instant) -> [f64; 3] {
    let mut samples = sides.map(|(_, side)| side(plan));
    // The first warms caches, and lets tables grow.
    let mut round = || samples.each_mut().map(|sample| sample());
    round();
    let [fewest, most] = ROUNDS;
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

/// The plain rectangle of a panel, and the distance from one to the next.
const PLOT: [f64; 2] = [390.0, 120.0];
const STEP: [f64; 2] = [480.0, 190.0];
/// The colours of the sides: those of Okabe and Ito, which the colour-blind tell apart.
const COLORS: [&str; 3] = ["#0072b2", "#cc79a7", "#e69f00"];

/// A panel for each operation and size, on an opaque background.
fn svg(panels: &[Panel], caption: &str) -> String {
    let [width, height] = PLOT;
    let rows = panels.len().div_ceil(SIZES.len());
    let all = [STEP[0] * SIZES.len() as f64, 60.0 + STEP[1] * rows as f64];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
        <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
        <text x=\"60\" y=\"24\" font-size=\"16\">Millions of operations a second, of all threads together, by the number \
        of threads</text>\n<text x=\"60\" y=\"44\" font-size=\"11\">{caption}</text>\n",
        all[0], all[1]
    );
    for (nth, panel) in panels.iter().enumerate() {
        let (row, column) = (nth / SIZES.len(), nth % SIZES.len());
        let [left, top] = [column as f64 * STEP[0] + 60.0, row as f64 * STEP[1] + 90.0];
        let most = panel
            .rates
            .as_flattened()
            .iter()
            .copied()
            .fold(0.1, f64::max);
        let digits = usize::from(most < 10.0);
        let x = |team: usize| left + width * team as f64 / (TEAMS.len() - 1) as f64;
        let y = |rate: f64| top + height * (1.0 - rate / most);
        let mut text = |x: f64, y: f64, style: &str, text: &str| {
            _ = writeln!(svg, "<text x=\"{x:.0}\" y=\"{y:.0}\" {style}>{text}</text>");
        };
        let title = format!("{}, {}", panel.operation, panel.size);
        text(left, top - 12.0, "font-weight=\"bold\"", &title);
        for (at, (side, color)) in panel.sides.iter().zip(COLORS).enumerate() {
            let x = left + width - 75.0 * (2 - at) as f64;
            text(
                x,
                top - 12.0,
                &format!("fill=\"{color}\" text-anchor=\"end\""),
                side,
            );
        }
        for rate in [0.0, most / 2.0, most] {
            text(
                left - 6.0,
                y(rate) + 4.0,
                "text-anchor=\"end\"",
                &format!("{rate:.digits$}"),
            );
        }
        for (at, threads) in TEAMS.iter().enumerate() {
            let below = top + height + 18.0;
            text(x(at), below, "text-anchor=\"middle\"", &threads.to_string());
        }
        for rate in [0.0, most / 2.0, most] {
            let (y, right) = (y(rate), left + width);
            _ = writeln!(svg, "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/>");
        }
        for (side, color) in COLORS.iter().enumerate() {
            let points = panel.rates.iter().enumerate();
            let points = points.map(|(at, rates)| (x(at), y(rates[side])));
            let line: String = points
                .clone()
                .map(|(x, y)| format!("{x:.1},{y:.1} "))
                .collect();
            _ = writeln!(
                svg,
                "<polyline points=\"{line}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>"
            );
            for (x, y) in points {
                _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{color}\"/>"
                );
            }
        }
    }
    svg + "</svg>\n"
}
