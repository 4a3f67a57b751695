//! What the user reads.

use std::time::Duration;

use crate::common::program::Output;
use crate::common::report::{self, bytes, duration, number, or_dash};
use crate::facts::{Book, Facts};
use weakly::memo::MemoKey;

/// What both memos have counted so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) asked: usize,
    pub(crate) computed: usize,
    pub(crate) invalidated: usize,
    pub(crate) results: usize,
}

impl Counts {
    pub(crate) fn of(facts: &Facts) -> Self {
        fn of<K: MemoKey, T>(book: &Book<K, T>) -> [usize; 4] {
            let statistics = book.statistics();
            [
                book.asked(),
                statistics.misses,
                statistics.invalidated,
                book.len(),
            ]
        }
        let (figures, reaches) = (of(&facts.figures), of(&facts.reaches));
        let [asked, computed, invalidated, results] =
            std::array::from_fn(|i| figures[i] + reaches[i]);
        Counts {
            asked,
            computed,
            invalidated,
            results,
        }
    }

    /// What has been counted since `before`; the current number of results.
    pub(crate) fn since(self, before: Counts) -> Self {
        Counts {
            asked: self.asked - before.asked,
            computed: self.computed - before.computed,
            invalidated: self.invalidated - before.invalidated,
            results: self.results,
        }
    }
}

/// One line of the table: a phase, and the state after it.
pub(crate) struct Row {
    pub(crate) phase: &'static str,
    /// Without the time of the checks.
    pub(crate) took: Duration,
    pub(crate) functions: usize,
    pub(crate) edits: Option<usize>,
    /// `None` without memos.
    pub(crate) counts: Option<Counts>,
    pub(crate) bytes: isize,
}

impl report::Row<9> for Row {
    const HEAD: [&'static str; 9] = [
        "phase",
        "time",
        "functions",
        "edits",
        "asked",
        "computed",
        "invalidated",
        "results",
        "memory",
    ];

    fn cells(&self) -> [String; 9] {
        let counted = |count: fn(&Counts) -> usize| or_dash(self.counts.as_ref().map(count));
        [
            self.phase.to_string(),
            duration(self.took),
            number(self.functions),
            or_dash(self.edits),
            counted(|counts| counts.asked),
            counted(|counts| counts.computed),
            counted(|counts| counts.invalidated),
            counted(|counts| counts.results),
            bytes(self.bytes),
        ]
    }
}

/// Sums over the run.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    pub(crate) functions: usize,
    pub(crate) calls: usize,
    pub(crate) skipped: usize,
    pub(crate) in_cycles: usize,
    pub(crate) may_panic: usize,
    pub(crate) deepest: u32,
    pub(crate) pairs: usize,
    pub(crate) reaching: usize,
    pub(crate) threads: usize,
    /// Edits after which all facts were asked for, and what was computed for them.
    pub(crate) edits: usize,
    pub(crate) computed: usize,
    pub(crate) most: usize,
    /// The most bytes after such an edit.
    pub(crate) peak: isize,
    /// From-scratch recomputations that all facts were compared with.
    pub(crate) compared: usize,
    pub(crate) checking: Duration,
}

/// Prints the summary of the run.
pub(crate) fn totals(totals: &Totals, out: &mut Output) {
    let Totals {
        functions,
        skipped,
        pairs,
        edits,
        computed,
        most,
        ..
    } = *totals;
    let facts = functions + pairs;
    let mean = computed as f64 / edits.max(1) as f64;
    let percent = mean * 100.0 / facts.max(1) as f64;
    let lines = [
        ("files", number(totals.files)),
        ("functions", number(functions)),
        (
            "calls",
            format!(
                "{} resolved, {} external or ambiguous",
                number(totals.calls),
                number(skipped)
            ),
        ),
        ("in cycles", number(totals.in_cycles)),
        ("may panic", number(totals.may_panic)),
        ("deepest chain", number(totals.deepest as usize)),
        (
            "pairs",
            format!("{}, {} reach", number(pairs), number(totals.reaching)),
        ),
        ("threads", number(totals.threads)),
        (
            "an edit costs",
            format!(
                "{mean:.1} of {} facts ({percent:.2} %), at most {}",
                number(facts),
                number(most)
            ),
        ),
        ("peak memory", bytes(totals.peak)),
        (
            "checking",
            format!(
                "{}, all facts compared {} times",
                duration(totals.checking),
                number(totals.compared)
            ),
        ),
    ];
    out.print(format_args!("\n"));
    report::list(out, lines);
}
