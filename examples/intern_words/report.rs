//! What the user reads at the end.

use std::time::Duration;

use crate::common::program::Output;
use crate::common::report::{self, bytes, duration, number, or_dash};
use crate::library::Library;

/// One line of the table: the state after a phase. `None` for what does not exist, or no longer.
pub(crate) struct Row {
    pub(crate) phase: &'static str,
    /// Without the time of the checks.
    pub(crate) took: Duration,
    pub(crate) files: Option<usize>,
    pub(crate) words: Option<usize>,
    /// In the tables of the files.
    pub(crate) entries: usize,
    pub(crate) pending: usize,
    pub(crate) drained: Option<usize>,
    /// Without those of the recomputation.
    pub(crate) bytes: isize,
}

impl report::Row<8> for Row {
    const HEAD: [&'static str; 8] = [
        "phase", "time", "files", "words", "entries", "pending", "drained", "memory",
    ];

    fn cells(&self) -> [String; 8] {
        [
            self.phase.to_string(),
            duration(self.took),
            or_dash(self.files),
            or_dash(self.words),
            number(self.entries),
            number(self.pending),
            or_dash(self.drained),
            bytes(self.bytes),
        ]
    }
}

/// Sums over the run.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    pub(crate) bytes_read: usize,
    pub(crate) words_read: usize,
    pub(crate) distinct: usize,
    /// The most bytes of the library and the owners of its tables, measured after each file.
    pub(crate) peak: isize,
    /// The bytes of the same tables with a string for each entry.
    pub(crate) plain: isize,
    pub(crate) reading: Duration,
    pub(crate) interning: Duration,
    pub(crate) dropping: Duration,
    pub(crate) checking: Duration,
}

/// Prints the summary of the run.
pub(crate) fn totals(totals: &Totals, out: &mut Output) {
    let read = totals.words_read;
    let found = (read - totals.distinct) as f64 * 100.0 / read.max(1) as f64;
    let each = totals.interning.as_nanos() / read.max(1) as u128;
    let peak = bytes(totals.peak);
    // As requested from the allocator, which adds some overhead to each of those strings.
    let plain = bytes(totals.plain);
    let interning = duration(totals.interning);
    let lines = [
        ("files", number(totals.files)),
        ("bytes read", bytes(totals.bytes_read as isize)),
        ("words read", number(read)),
        ("distinct words", number(totals.distinct)),
        (
            "hit rate",
            format!("{found:.1} % of the words already had a handle"),
        ),
        ("peak memory", peak),
        (
            "not interned",
            format!("{plain}, with a string for each entry"),
        ),
        ("reading", duration(totals.reading)),
        ("interning", format!("{interning}, {each} ns a word")),
        ("dropping", duration(totals.dropping)),
        ("checking", duration(totals.checking)),
    ];
    out.print(format_args!("\n"));
    report::list(out, lines);
}

/// How many words to show.
const SHOWN: usize = 5;

/// What the tables are for: the most used words, added up by address.
pub(crate) fn most_used(library: &Library, out: &mut Output) {
    let mut uses = std::collections::HashMap::new();
    for table in library.tables.values() {
        for (word, &count) in &table.counts {
            let (total, files) = uses.entry(word.clone()).or_insert((0, 0));
            *total += count as usize;
            *files += 1;
        }
    }
    let mut uses: Vec<_> = uses.into_iter().collect();
    uses.sort_unstable_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    out.print(format_args!(
        "the most used of {} words\n",
        number(library.words.len())
    ));
    for (word, (total, files)) in uses.iter().take(SHOWN) {
        let (total, files) = (number(*total), number(*files));
        let word = &***word;
        out.print(format_args!("  {total:>12}  {word} (in {files} files)\n"));
    }
    out.print(format_args!("\n"));
}
