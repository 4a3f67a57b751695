//! Rows of entries that keep themselves alive.

use weakly::{Strong, WeakMap};

use super::{K4, K5, K6, rounds};
use crate::duel::{Row, Sample, time};

pub(super) fn all() -> Vec<Row> {
    [K4, K5, K6].map(ring).into()
}

type Ring = WeakMap<Strong<u64>, Strong<u64>>;

/// A map in which the value of each entry is the next key, and which nothing else holds.
fn made(length: usize) -> Ring {
    let objects: Vec<_> = (0..length as u64).map(Strong::new).collect();
    let next = objects.iter().cycle().skip(1);
    objects.iter().zip(next.cloned()).collect()
}

/// To find a ring and to destroy it, for each entry: as against the latter alone.
fn ring(length: usize) -> Row {
    let row = Row::new(
        "purge_cycles, a ring, for each entry",
        "clear",
        move |scale| {
            let length = scale.of(length);
            let end_of = |end: fn(&mut Ring)| -> Sample {
                Box::new(move || {
                    let mut ring = made(length);
                    let duration = time(|| end(&mut ring));
                    assert!(ring.is_empty());
                    duration / length as f64
                })
            };
            [end_of(|ring| _ = ring.purge_cycles()), end_of(Ring::clear)]
        },
    );
    row.size(length).rounds((rounds(length) / 5) | 1)
}
