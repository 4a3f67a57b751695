//! The throughput of maps that threads share, by the number of threads.

use weakly::{Strong, concurrent};

use super::draw::{Axis, Chart, Curve, Look, Panel};
use crate::duel::{Course, Sample, Scale};
use crate::machine::Machine;
use crate::shared::{DashMap, Locked, Papaya};
use crate::teams::{Clock, Plan};
use crate::together::{churn, get};

const SIZE: usize = 10_000;
/// Operations of a thread, so many that all threads have had their turns if there are more than processors.
const GETS: usize = 1 << 19;
const CHURNS: usize = 1 << 17;

type Ours = concurrent::WeakMap<Strong<u64>, u64>;

/// Powers of two, up to the processors and twice as many.
fn teams(cores: usize) -> Vec<usize> {
    let powers = (0..).map(|power| 1 << power);
    let mut teams: Vec<_> = powers.take_while(|&threads| threads < cores).collect();
    teams.extend([cores, 2 * cores]);
    teams
}

pub(super) fn chart(scale: Scale, machine: &Machine) -> Chart {
    let cores = machine.cores;
    let teams = teams(cores);
    let looks = [Look::OURS, Look::PAPAYA, Look::DASHMAP, Look::LOCKED];
    let gets: [fn(Plan) -> Sample; 4] = [get::<Ours>, get::<Papaya>, get::<DashMap>, get::<Locked>];
    let churns: [fn(Plan) -> Sample; 4] = [
        churn::<Ours>,
        churn::<Papaya>,
        churn::<DashMap>,
        churn::<Locked>,
    ];
    let panel = |title: &str, sides: [fn(Plan) -> Sample; 4], operations: usize| {
        let mut curves = looks.map(|look| Curve {
            look,
            points: Vec::new(),
        });
        for (at, &threads) in teams.iter().enumerate() {
            let samples = sides.map(|side| {
                side(Plan {
                    threads,
                    size: scale.of(SIZE),
                    operations: scale.of(operations),
                    clock: Clock::Total,
                })
            });
            let course = Course {
                rounds: 15,
                cold: 1,
                turns: 1,
            };
            let times = course.medians(scale, samples.into());
            for (curve, time) in curves.iter_mut().zip(times) {
                curve.points.push((at as f64, 1e3 / time));
            }
            eprintln!("threads: {threads}, {title}");
        }
        let rates = curves.iter().flat_map(|curve| &curve.points);
        Panel {
            title: title.to_owned(),
            x: Axis::named("threads", teams.iter().map(ToString::to_string)),
            y: Axis::linear(
                "millions a second",
                1.0,
                rates.map(|point| point.1),
                |rate| format!("{} M/s", (rate * 100.0).round() / 100.0),
            ),
            curves: curves.into(),
        }
    };
    Chart {
        title: format!("Operations of all threads together, 10,000 live objects, {cores} cores"),
        panels: vec![
            panel("get: lookups that find", gets, GETS),
            panel("churn: a new object for one that dies", churns, CHURNS),
        ],
    }
}
