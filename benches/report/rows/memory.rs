//! Rows of memory. These count the bytes requested from the allocator, so one round is enough.

use std::sync::Arc;

use weakly::Strong;

use super::{ByContent, K5, Ours, OursLocal, Pairs, SetByContent, Theirs, TheirsLocal, Values};
use crate::duel::{Row, Sample, Unit};
use crate::footprint::{entries, kept_by_the_dead, largest, weak_handles};
use crate::memory::Bulky;
use crate::theirs::{WeakTableByContent, WeakTableOfPairs, WeakTableOfValues, WeakTableSet};

/// Objects in a sample: so many that what a collection allocates once does not count.
const OBJECTS: usize = 10_000;
/// The number of further entries of which one is the mean.
const FURTHER: usize = 8;

pub(super) fn all() -> [Row; 5] {
    let row = |name, peer, size, sides: fn(usize) -> [Sample; 2]| {
        let row = Row::new(name, peer, move |scale| sides(scale.of(size)));
        row.size(size).unit(Unit::Bytes).rounds(1).at_once()
    };
    [
        row(
            "payload held by dead keys of 4 KiB",
            "weak-table",
            K5,
            |objects| {
                [
                    kept_by_the_dead::<Ours<Bulky>>(objects),
                    kept_by_the_dead::<Theirs<Bulky>>(objects),
                ]
            },
        )
        .at_most(0.0),
        row(
            "bytes beside an object: weak handles only",
            "Arc",
            OBJECTS,
            |objects| {
                [
                    weak_handles::<Strong<u64>>(objects),
                    weak_handles::<Arc<u64>>(objects),
                ]
            },
        )
        .at_most(0.0),
        row(
            "bytes beside an object: first entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 0, 1),
        )
        .at_most(0.0),
        row(
            "bytes beside an object: second entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 1, 1),
        )
        .at_most(96.0),
        row(
            "bytes beside an object: each further entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 2, FURTHER),
        )
        .at_most(32.0),
    ]
}

/// Entries in the collection of one owner in which they cost most.
fn in_any(objects: usize, already: usize, more: usize) -> [Sample; 2] {
    macro_rules! largest_of {
        ($($collection:ty),*) => {
            largest(vec![$(entries::<$collection>(objects, already, more)),*])
        };
    }
    [
        largest_of![Ours, OursLocal, Values, Pairs, ByContent, SetByContent],
        largest_of![
            Theirs,
            TheirsLocal,
            WeakTableOfValues,
            WeakTableOfPairs,
            WeakTableByContent,
            WeakTableSet<u64>
        ],
    ]
}
