//! What the user reads: the table, and numbers as people write them.

use std::io::{self, Write};
use std::time::Duration;

/// One line of the table: the state after a phase. `None` is what there is not, or not any more.
pub(crate) struct Row {
    pub(crate) phase: &'static str,
    pub(crate) took: Duration,
    pub(crate) nodes: usize,
    /// Entries that the maps of the passes admit to.
    pub(crate) entries: [Option<usize>; 3],
    /// Attribute values that exist, by their own count.
    pub(crate) values: usize,
    pub(crate) pending: usize,
    pub(crate) drained: Option<usize>,
    pub(crate) bytes: isize,
}

const HEAD: [&str; 10] = [
    "phase", "time", "nodes", "spans", "branches", "docs", "values", "pending", "drained", "memory",
];

impl Row {
    fn cells(&self) -> [String; HEAD.len()] {
        let [spans, branches, docs] = self.entries.map(or_dash);
        [
            self.phase.to_string(),
            duration(self.took),
            number(self.nodes),
            spans,
            branches,
            docs,
            number(self.values),
            number(self.pending),
            or_dash(self.drained),
            bytes(self.bytes),
        ]
    }
}

/// Writes the table, each column as wide as it needs to be.
pub(crate) fn table(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let head = HEAD.map(String::from);
    let body = || rows.iter().map(Row::cells);
    let mut widths = [0; HEAD.len()];
    for cells in std::iter::once(head.clone()).chain(body()) {
        for (width, cell) in widths.iter_mut().zip(&cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let rule = widths.map(|width| "-".repeat(width));
    for cells in [head, rule].into_iter().chain(body()) {
        let [first, rest @ ..] = &cells;
        write!(out, "{first:<0$}", widths[0])?;
        for (cell, width) in rest.iter().zip(&widths[1..]) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn or_dash(count: Option<usize>) -> String {
    count.map_or_else(|| "-".into(), number)
}

/// `1,234,567`
pub(crate) fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{:.2} ms", seconds * 1e3)
    }
}

fn bytes(n: isize) -> String {
    let units = ["KiB", "MiB", "GiB"];
    if n.unsigned_abs() < 1024 {
        return format!("{n} B");
    }
    let mut n = n as f64;
    let mut unit = "B";
    for bigger in units {
        if n.abs() < 1024.0 {
            break;
        }
        n /= 1024.0;
        unit = bigger;
    }
    format!("{n:.1} {unit}")
}
