//! Rows of memory. These count the bytes requested from the allocator, so one round is enough.

use std::sync::Arc;

use weakly::{Strong, concurrent};

use super::shared::LIVING;
use super::{ByContent, K5, Ours, OursLocal, Pairs, SetByContent, Theirs, TheirsLocal, Values};
use crate::duel::{Row, Sample, Unit};
use crate::footprint::{
    entries, first_entry, kept_by_the_dead, largest, names, side_tables, three_passes, weak_handles,
};
use crate::memory::Bulky;
use crate::shared::{Alone, OneLocked, Papaya};
use crate::theirs::{WeakTableByContent, WeakTableOfPairs, WeakTableOfValues, WeakTableSet};

/// Objects in a sample: so many that what a collection allocates once does not count.
const OBJECTS: usize = 10_000;
/// The number of further entries of which one is the mean.
const FURTHER: usize = 8;

type Shared = concurrent::WeakMap<Strong<u64>, u64>;
type SharedWords = concurrent::Interner<Strong<str>>;

pub(super) fn all() -> Vec<Row> {
    let row = |name, peer, size, sides: fn(usize) -> [Sample; 2]| {
        let row = Row::new(name, peer, move |scale| sides(scale.of(size)));
        row.unit(Unit::Bytes).rounds(1).at_once()
    };
    let sized = |name, peer, size, sides| row(name, peer, size, sides).size(size);
    vec![
        sized(
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
        sized(
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
        sized(
            "bytes beside an object: first entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 0, 1),
        )
        .at_most(0.0),
        sized(
            "bytes beside an object: second entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 1, 1),
        )
        .at_most(56.0),
        sized(
            "bytes beside an object: each further entry",
            "weak-table",
            OBJECTS,
            |objects| in_any(objects, 2, FURTHER),
        )
        .at_most(32.0),
        sized(
            "bytes beside an object: each further, WeakMap",
            "weak-table",
            OBJECTS,
            |objects| {
                [
                    entries::<Ours>(objects, 2, FURTHER),
                    entries::<Theirs>(objects, 2, FURTHER),
                ]
            },
        )
        .at_most(24.0),
        sized(
            "bytes beside an object, shared: first entry",
            "papaya",
            OBJECTS,
            |objects| in_shared(objects, 0, 1),
        )
        .at_most(24.0),
        sized(
            "bytes beside an object, shared: second entry",
            "papaya",
            OBJECTS,
            |objects| in_shared(objects, 1, 1),
        ),
        sized(
            "bytes beside an object, shared: each further",
            "papaya",
            OBJECTS,
            |objects| in_shared(objects, 2, FURTHER),
        ),
        sized(
            "bytes a name, shared: Interner",
            "one locked",
            K5,
            |words| [names::<SharedWords>(words), names::<OneLocked>(words)],
        )
        .at_most(62.0),
        row(
            "bytes of a map of one entry, beside 4,000",
            "alone",
            1,
            |_| [first_entry::<Shared, LIVING>(), first_entry::<Shared, 0>()],
        )
        .at_most(3.0 * 1024.0),
        row(
            "bytes a node, at most: tree and three maps",
            "the tree",
            1,
            |_| [side_tables(three_passes), side_tables(Vec::new)],
        )
        .at_most(320.0),
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

/// Entries in a map that threads share.
fn in_shared(objects: usize, already: usize, more: usize) -> [Sample; 2] {
    [
        entries::<Alone<Shared>>(objects, already, more),
        entries::<Alone<Papaya>>(objects, already, more),
    ]
}
