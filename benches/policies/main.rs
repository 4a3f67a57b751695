//! Hit ratios: which share of requests a floor could serve, beside other policies. A deterministic simulation.
//!
//! `cargo bench -p weakly-benches --bench policies` prints the chapter of `docs/PERFORMANCE.md` in half a minute, and with
//! `--write` writes it. By `cargo test --benches` it makes few requests, and writes below `target`.

// These name each other from the root of a program.
macro_rules! of_others {
    ($($path:literal $module:ident),*) => {$(
        #[allow(dead_code, unreachable_pub, reason = "others use more")]
        #[path = $path]
        mod $module;
    )*};
}

of_others! {
    "../report/scale.rs" scale,
    "../report/template.rs" template,
    "../../tests/common/random.rs" random
}

mod policies;
mod pro;
mod s3;

use std::env;
use std::error::Error;
use std::fmt::Write as _;

use weakly::keep::{KeepAlive, Limit};
use weakly::local::Strong;

use policies::{Lru, Sieve, drift, looped, scans, shifts, zipf};
use pro::ClockPro;
use s3::S3Fifo;
use scale::Scale;
use template::POLICIES;

const SIZE: usize = 1_000;
const UNIVERSE: usize = 10 * SIZE;
const REQUESTS: usize = 300 * SIZE;

/// A cache of [`SIZE`] numbers.
trait Cache {
    /// Asks for a number. Returns whether it was there; it is afterwards.
    fn ask(&mut self, object: usize) -> bool;
}

struct Ours(KeepAlive<Strong<usize>>, Vec<Strong<usize>>);

impl Cache for Ours {
    fn ask(&mut self, object: usize) -> bool {
        let Ours(kept, objects) = self;
        let hit = kept.touch(&objects[object]);
        hit || !kept.keep(&objects[object], 1)
    }
}

/// Half of the requests are for the same few hundred objects, and the others for as many, which change.
fn halves(seed: u64) -> impl Iterator<Item = usize> {
    let (half, others) = (SIZE / 2, SIZE * 2 / 5);
    let stay = zipf(0.6, half, seed).enumerate();
    stay.flat_map(move |(at, object)| {
        let other = at / (5 * SIZE) * others + at % others;
        [object, half + other % (UNIVERSE - half)]
    })
}

fn percent(mut cache: impl Cache, requests: &[usize]) -> f64 {
    let hits = requests.iter().filter(|object| cache.ask(**object));
    hits.count() as f64 * 100.0 / requests.len() as f64
}

fn table(scale: Scale) -> String {
    let rows: [(&str, Box<dyn Iterator<Item = usize>>); 11] = [
        ("Zipf 0.6", Box::new(zipf(0.6, UNIVERSE, 1))),
        ("Zipf 0.8", Box::new(zipf(0.8, UNIVERSE, 1))),
        ("Zipf 1.0", Box::new(zipf(1.0, UNIVERSE, 1))),
        ("Zipf 1.2", Box::new(zipf(1.2, UNIVERSE, 1))),
        ("scans", Box::new(scans(UNIVERSE, 2))),
        ("loop of 0.9", Box::new(looped(SIZE * 9 / 10))),
        ("loop of 1.2", Box::new(looped(SIZE * 6 / 5))),
        ("shifts, 5 apart", Box::new(shifts(UNIVERSE, 5 * SIZE, 3))),
        ("shifts, 20 apart", Box::new(shifts(UNIVERSE, 20 * SIZE, 3))),
        ("half of it shifts", Box::new(halves(4))),
        ("drift", Box::new(drift(UNIVERSE, 5))),
    ];
    let mut table = String::from("| requests | LRU | weakly | SIEVE | S3-FIFO | CLOCK-Pro |\n");
    table += "|---|---:|---:|---:|---:|---:|";
    for (name, requests) in rows {
        let requests: Vec<_> = requests.take(scale.of(REQUESTS)).collect();
        let objects = (0..UNIVERSE).map(Strong::new).collect();
        let ours = Ours(KeepAlive::new(Limit::entries(SIZE)), objects);
        let ratios = [
            percent(Lru::new(SIZE, UNIVERSE), &requests),
            percent(ours, &requests),
            percent(Sieve::new(SIZE, UNIVERSE), &requests),
            percent(S3Fifo::new(SIZE, UNIVERSE), &requests),
            percent(ClockPro::new(SIZE, UNIVERSE), &requests),
        ];
        _ = write!(table, "\n| {name} |");
        for ratio in ratios {
            _ = write!(table, " {ratio:.1} |");
        }
    }
    table
}

fn main() -> Result<(), Box<dyn Error>> {
    let scale = Scale::of_this_run();
    let table = table(scale);
    println!("{table}");
    if scale == Scale::Tiny || env::args().any(|word| word == "--write") {
        template::write(scale.root(), POLICIES, [("policies", table)].into())?;
    }
    Ok(())
}
