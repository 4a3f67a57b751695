//! Rows of results that are computed from results.

use std::hint::black_box;

use super::K4;
use crate::chains::{Ours, Program, Salsa};
use crate::duel::{Row, Sample, time};

/// Which function is edited, of so many, and which functions each calls.
struct Shape {
    name: &'static str,
    edited: fn(usize) -> usize,
    calls: fn(usize, usize) -> Vec<usize>,
}

const SHAPES: [Shape; 3] = [
    // Half of them are computed anew.
    Shape {
        name: "a chain",
        edited: |count| count / 2,
        calls: |_, at| at.checked_sub(1).into_iter().collect(),
    },
    // A leaf, and all above it.
    Shape {
        name: "a tree",
        edited: |_| 0,
        calls: |count, at| {
            let from_root = count - 1 - at;
            let below = [2 * from_root + 1, 2 * from_root + 2];
            let below = below.into_iter().filter(|below| *below < count);
            below.map(|below| count - 1 - below).collect()
        },
    },
    // The function that all others call, but for the last, which calls these.
    Shape {
        name: "a diamond",
        edited: |_| 0,
        calls: |count, at| match at {
            0 => Vec::new(),
            _ if at + 1 == count => (1..at).collect(),
            _ => vec![0],
        },
    },
];

/// An edit and a request for each function, or the requests alone: for each function.
pub(super) fn all() -> Vec<Row> {
    let both = |shape| [row(shape, true), row(shape, false)];
    SHAPES.iter().flat_map(both).collect()
}

fn row(shape: &'static Shape, edits: bool) -> Row {
    let what = if edits {
        "edit, ask for all"
    } else {
        "ask for all"
    };
    let operation = format!("Memo: {what}, {}", shape.name);
    let row = Row::new(operation, "salsa", move |scale| {
        let count = scale.of(K4);
        [
            side::<Ours>(shape, count, edits),
            side::<Salsa>(shape, count, edits),
        ]
    });
    row.size(K4).goal(1.0)
}

fn side<P: Program + 'static>(shape: &'static Shape, count: usize, edits: bool) -> Sample {
    let calls = (0..count).map(|at| (shape.calls)(count, at)).collect();
    let (mut program, mut text) = (P::new(calls), 1);
    let ask = move |program: &P| (0..count).for_each(|at| _ = black_box(program.size(at)));
    ask(&program);
    Box::new(move || {
        text += 1;
        let duration = time(|| {
            if edits {
                program.edit((shape.edited)(count), text);
            }
            ask(&program)
        });
        duration / count as f64
    })
}
