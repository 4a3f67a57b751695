//! The cost of lookups and of churn, by size.

use super::draw::{Axis, Chart, Curve, Look, Panel};
use super::subjects::grown;
use crate::duel::{Course, Scale, Unit};
use crate::machine::Machine;
use crate::rows::MANY;

/// How often all are measured.
fn course(size: usize) -> Course {
    let (rounds, turns) = match size {
        0..1_000 => (101, 1),
        1_000..10_000 => (51, 1),
        10_000..100_000 => (25, 2),
        100_000..1_000_000 => (9, 4),
        _ => (3, 8),
    };
    Course {
        rounds,
        cold: 1,
        turns,
    }
}

pub(super) fn chart(scale: Scale, _: &Machine) -> Chart {
    let mut gets: Vec<Curve> = Vec::new();
    let mut churns: Vec<Curve> = Vec::new();
    for power in 2..=7 {
        let size = 10_usize.pow(power);
        let subjects = grown(scale.of(size));
        let samples = subjects
            .each_ref()
            .map(|subject| (subject.get)(scale.of(MANY)));
        let lookups = Course {
            rounds: 51,
            turns: 1,
            ..course(size)
        };
        // The lookups' samples, which own handles, are dropped before objects die.
        let times = lookups.medians(scale, samples.into());
        add(
            &mut gets,
            size,
            subjects.iter().map(|subject| subject.look).zip(times),
        );

        let churning = || subjects.iter().filter(|subject| subject.churns);
        let course = course(size);
        let samples = churning().map(|subject| {
            // Whatever a subject does only now and then has its share in each round.
            let operations = subject.period.div_ceil(course.turns).max(MANY);
            (subject.churn)(scale.of(operations))
        });
        let times = course.medians(scale, samples.collect());
        add(
            &mut churns,
            size,
            churning().map(|subject| subject.look).zip(times),
        );
        eprintln!("sizes: {size}");
    }
    let panel = |title: &str, curves: Vec<Curve>| {
        let all = || curves.iter().flat_map(|curve| &curve.points);
        Panel {
            title: title.to_owned(),
            x: Axis::logarithmic("live objects", all().map(|point| point.0), power_of_ten),
            y: Axis::logarithmic("time", all().map(|point| point.1), nanoseconds),
            curves,
        }
    };
    Chart {
        title: "The cost of an operation, by the number of live objects".to_owned(),
        panels: vec![
            panel("get: one lookup that finds", gets),
            panel("churn: insert a new object, and the oldest dies", churns),
        ],
    }
}

fn add(curves: &mut Vec<Curve>, size: usize, times: impl Iterator<Item = (Look, f64)>) {
    for (look, time) in times {
        let point = (size as f64, time);
        match curves.iter_mut().find(|curve| curve.look == look) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                look,
                points: vec![point],
            }),
        }
    }
}

fn power_of_ten(value: f64) -> String {
    let power = value.log10().round();
    // Steps between the powers have lines without labels.
    if (value / 10_f64.powf(power) - 1.0).abs() > 1e-9 {
        return String::new();
    }
    let digits = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    format!("10{}", digits[power as usize])
}

/// Without the fraction of a round number.
pub(super) fn nanoseconds(value: f64) -> String {
    Unit::Nanoseconds.show(value).replace(".0 ", " ")
}
