//! What the user reads: the table, and numbers as people write them.

use std::io::{self, Write};
use std::time::Duration;

/// Writes a table, each column as wide as it needs to be.
pub(crate) fn table<const N: usize>(
    out: &mut impl Write,
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]> + Clone,
) -> io::Result<()> {
    let head = head.map(String::from);
    let mut widths = [0; N];
    for cells in std::iter::once(head.clone()).chain(rows.clone()) {
        for (width, cell) in widths.iter_mut().zip(&cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let rule = widths.map(|width| "-".repeat(width));
    for cells in [head, rule].into_iter().chain(rows) {
        for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
            match i {
                0 => write!(out, "{cell:<width$}")?,
                _ => write!(out, "  {cell:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A number, or that there is none.
pub(crate) fn or_dash(count: Option<usize>) -> String {
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

/// `1.23 ms`
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{:.2} ms", seconds * 1e3)
    }
}

/// `1.2 MiB`
pub(crate) fn bytes(n: isize) -> String {
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
