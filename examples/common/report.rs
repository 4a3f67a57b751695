//! What the user sees: a progress bar, then some text and a table.

use std::fmt::{self, Display};
use std::time::Instant;

use comfy_table::{CellAlignment, Table, TableComponent, presets};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressFinish, ProgressStyle};

use super::memory::allocated;

/// A progress bar, which is only there if standard error is a terminal, and goes when it is dropped.
pub(crate) fn bar(phase: &'static str, total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>30!} [{bar:30}] {percent:>3} %");
    ProgressBar::new(total as u64)
        .with_style(style.expect("a template").progress_chars("#-"))
        .with_message(phase)
        .with_finish(ProgressFinish::AndClear)
}

/// A text, with a table of phases below: how long each took, some counts after it, and how many bytes are allocated.
/// Neither the report's own bytes nor its own time are counted.
pub(crate) struct Report {
    text: String,
    table: Table,
    /// Why files were left out.
    pub(crate) skipped: String,
    /// When the phase began, and what was allocated before the first one.
    began: Instant,
    base: usize,
}

impl Report {
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '-');
        table.set_header([&["phase", "time"], columns, &["memory"]].concat());
        Report {
            text: String::new(),
            table,
            skipped: String::new(),
            began: Instant::now(),
            base: allocated(),
        }
    }

    /// The bytes that the program has allocated, except for what it does `aside`.
    pub(crate) fn bytes(&self) -> usize {
        allocated().wrapping_sub(self.base)
    }

    /// Does some work that does not count, such as a recomputation. No other thread may allocate meanwhile.
    pub(crate) fn aside<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let (took, bytes) = (self.began.elapsed(), self.bytes());
        let result = work(self);
        self.base = allocated().wrapping_sub(bytes);
        self.began = Instant::now() - took;
        result
    }

    /// Adds a row to the table: the phase that ends here, and some counts after it.
    pub(crate) fn row<const N: usize>(&mut self, phase: &str, counts: impl FnOnce() -> [usize; N]) {
        self.aside(|report| {
            let (took, bytes) = (report.began.elapsed(), report.bytes() as u64);
            let counts = counts().map(|count| HumanCount(count as u64).to_string());
            let mut row = vec![phase.to_string(), format!("{took:.2?}")];
            row.extend(counts);
            row.push(HumanBytes(bytes).to_string());
            report.table.add_row(row);
        });
        self.began = Instant::now();
    }

    /// Adds a line to the text.
    pub(crate) fn say(&mut self, line: impl Display) {
        self.aside(|report| report.text += &format!("{line}\n"));
    }

    /// Leaves a file out.
    pub(crate) fn skip(&mut self, why: &str) {
        self.aside(|report| report.skipped += &format!("{why}\n"));
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = self.table.clone();
        for column in table.column_iter_mut() {
            let (alignment, padding) = match column.index {
                0 => (CellAlignment::Left, (0, 0)),
                _ => (CellAlignment::Right, (2, 0)),
            };
            column.set_cell_alignment(alignment);
            column.set_padding(padding);
        }
        let Report { text, .. } = self;
        let end = "All numbers are as expected, and not a byte is left (checked)";
        writeln!(f, "{text}\n{table}\n\n{end}")
    }
}
