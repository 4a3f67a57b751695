//! Rows of memory. These count the bytes requested from the allocator, so one round is enough.

use std::sync::Arc;

use weakly::{Strong, concurrent};

use super::{K5, Ours, Theirs};
use crate::duel::{Row, Sample, Unit};
use crate::footprint::{entries, names, weak_handles};
use crate::shared::{Alone, OneLocked, Papaya};

/// Objects in a sample: so many that what a collection allocates once does not count.
const OBJECTS: usize = 10_000;
/// Which entries of an object: how many it has already, and the number of which a row shows the mean.
const ENTRIES: [(&str, usize, usize); 3] = [
    ("first entry", 0, 1),
    ("second entry", 1, 1),
    ("each further", 2, 8),
];

type Shared = Alone<concurrent::WeakMap<Strong<u64>, u64>>;
type SharedWords = concurrent::Interner<Strong<str>>;

pub(super) fn all() -> Vec<Row> {
    let mut rows = vec![row(
        "bytes beside an object: weak handles only",
        "Arc",
        OBJECTS,
        |objects| {
            [
                weak_handles::<Strong<u64>>(objects),
                weak_handles::<Arc<u64>>(objects),
            ]
        },
    )];
    rows.extend(ENTRIES.map(|(which, already, more)| {
        let operation = format!("bytes beside an object: {which}");
        row(&operation, "weak-table", OBJECTS, move |objects| {
            [
                entries::<Ours>(objects, already, more),
                entries::<Theirs>(objects, already, more),
            ]
        })
    }));
    rows.extend(ENTRIES.map(|(which, already, more)| {
        let operation = format!("bytes beside an object, shared: {which}");
        row(&operation, "papaya", OBJECTS, move |objects| {
            [
                entries::<Shared>(objects, already, more),
                entries::<Alone<Papaya>>(objects, already, more),
            ]
        })
    }));
    rows.push(row(
        "bytes a name, shared: Interner",
        "one locked",
        K5,
        |words| [names::<SharedWords>(words), names::<OneLocked>(words)],
    ));
    rows
}

fn row(
    operation: &str,
    peer: &'static str,
    size: usize,
    sides: impl FnOnce(usize) -> [Sample; 2] + 'static,
) -> Row {
    let row = Row::new(operation, peer, move |scale| sides(scale.of(size)));
    row.size(size).unit(Unit::Bytes).rounds(1).at_once()
}
