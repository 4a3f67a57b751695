//! The distribution of pauses in churn.

use super::draw::{Axis, Chart, Curve, Panel};
use super::sizes::nanoseconds;
use super::subjects::grown;
use crate::duel::{Scale, median};
use crate::machine::Machine;
use crate::rows::sweep;

const SIZE: usize = 1_000_000;
/// Odd, for the median.
const ROUNDS: usize = 5;
/// How often the maps alternate in a round.
const TURNS: usize = 8;
/// The percentiles, in millionths.
const PARTS: [(usize, &str); 7] = [
    (500_000, "p50"),
    (900_000, "p90"),
    (990_000, "p99"),
    (999_000, "p99.9"),
    (999_900, "p99.99"),
    (999_990, "p99.999"),
    (1_000_000, "max"),
];

pub(super) fn chart(scale: Scale, _: &Machine) -> Chart {
    let subjects = grown(scale.of(SIZE)).into_iter();
    let subjects: Vec<_> = subjects.filter(|subject| subject.churns).collect();
    // For each, the rounds' percentiles. The first round, in which tables grow, does not count.
    let mut all = vec![Vec::new(); subjects.len()];
    for round in 0..=ROUNDS {
        let mut taken = vec![Vec::new(); subjects.len()];
        for _ in 0..TURNS {
            for (subject, taken) in subjects.iter().zip(&mut taken) {
                taken.extend((subject.pauses)(scale.of(sweep(SIZE) / TURNS)));
            }
        }
        for (mut taken, all) in taken.into_iter().zip(&mut all) {
            taken.sort_unstable();
            let part = |millionths: usize| {
                let at = (taken.len() * millionths / 1_000_000).min(taken.len() - 1);
                f64::from(taken[at])
            };
            if round > 0 {
                all.push(PARTS.map(|(millionths, _)| part(millionths)));
            }
        }
        eprintln!("pauses: {round} of {ROUNDS}");
    }
    let curves = subjects.iter().zip(&all).map(|(subject, all)| {
        let time = |at| median(all.iter().map(|part: &[f64; 7]| part[at]).collect());
        Curve {
            look: subject.look,
            points: (0..PARTS.len()).map(|at| (at as f64, time(at))).collect(),
        }
    });
    let curves: Vec<_> = curves.collect();
    let times = curves.iter().flat_map(|curve| &curve.points);
    let panel = Panel {
        title: "a step: a new object is inserted, and the oldest dies".to_owned(),
        x: Axis::named(
            "percentile of the steps",
            PARTS.iter().map(|(_, name)| (*name).to_owned()),
        ),
        y: Axis::logarithmic("time", times.map(|point| point.1), nanoseconds),
        curves,
    };
    Chart {
        title: "Pauses in churn, among a million live objects".to_owned(),
        panels: vec![panel],
    }
}
