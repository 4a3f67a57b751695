//! The lines of the tables.

mod collections;
mod interners;
mod memory;
mod pointers;
mod shared;

use std::{rc, sync};

use weakly::{Interner, Strong, WeakMap, WeakValueMap, local};

use crate::duel::Row;
use crate::theirs::WeakTable;

/// Operations in a sample, where one takes nanoseconds: so few that most samples fit between two turns of the
/// scheduler, which come every few milliseconds when other processes run.
pub(crate) const MANY: usize = 1 << 14;
const K3: usize = 1_000;
const K4: usize = 10_000;
const K5: usize = 100_000;
const K6: usize = 1_000_000;
const SIZES: [usize; 3] = [K3, K5, K6];

pub(crate) type Ours = WeakMap<Strong<u64>, u64>;
type OursLocal = WeakMap<local::Strong<u64>, u64>;
pub(crate) type Theirs = WeakTable<sync::Weak<u64>>;
type TheirsLocal = WeakTable<rc::Weak<u64>>;
type Values<V = Strong<u64>> = WeakValueMap<u64, V>;
type Words = Interner<Strong<str>>;

/// Rows that a chapter of the document shows together.
pub(crate) struct Group {
    /// Where the document's template has this name in braces, it shows the rows.
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// All rows, from top to bottom.
pub(crate) fn all() -> Vec<Group> {
    let group = |name, rows| Group { name, rows };
    vec![
        group("pointers", pointers::all()),
        group("maps", collections::maps()),
        group("values", collections::values()),
        group("memory", memory::all()),
        group("interners", interners::all()),
        group("shared", shared::maps()),
        group("memos", shared::memos()),
        group("shared interners", shared::interners()),
    ]
}

/// As many rounds as there is time for.
fn rounds(size: usize) -> usize {
    match size {
        K6 => 51,
        K5 => 75,
        _ => 201,
    }
}

/// The number of inserts between two sweeps of `weak-table`, or some hundredths fewer: a table is swept when seven
/// eighths of its buckets are taken, and grows, in its first samples, until the live entries and a third more would
/// fill it by half.
pub(crate) fn sweep(size: usize) -> usize {
    let buckets = (size * 4 / 3 * 16 / 7).next_power_of_two();
    buckets / 8 * 7 - size
}

/// How long a row runs, so that `weak-table`'s sweeps have their share in each round.
#[derive(Clone, Copy)]
struct Pace {
    size: usize,
    /// Inserts in a sample of ours, which has no periodic work.
    ours: usize,
    /// In a sample of theirs.
    theirs: usize,
    turns: usize,
}

impl Pace {
    fn of(size: usize) -> Self {
        let (ours, turns) = match size {
            K6 => (1 << 16, 8),
            K5 => (1 << 15, 4),
            // Several sweeps in any sample.
            _ => (MANY, 1),
        };
        let theirs = match turns {
            1 => ours,
            _ => sweep(size) / turns,
        };
        Pace {
            size,
            ours,
            theirs,
            turns,
        }
    }

    fn row(self, row: Row) -> Row {
        let row = row.size(self.size).turns(self.turns);
        match self.size {
            K6 => row.rounds(5).at_once(),
            K5 => row.rounds(7),
            _ => row,
        }
    }
}
