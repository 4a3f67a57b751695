//! What the user reads: the table, and formatted numbers.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, TableComponent};

use super::program::Output;

/// One line of a table of `N` columns: a phase, and the state after it.
pub(crate) trait Row<const N: usize> {
    const HEAD: [&'static str; N];

    fn cells(&self) -> [String; N];
}

/// Prints a table: the first column left-aligned, the numbers right-aligned.
pub(crate) fn table<const N: usize, R: Row<N>>(out: &mut Output, rows: &[R]) {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '-');
    table.set_header(R::HEAD);
    table.add_rows(rows.iter().map(R::cells));
    for column in table.column_iter_mut() {
        let (alignment, padding) = match column.index {
            0 => (CellAlignment::Left, (0, 0)),
            _ => (CellAlignment::Right, (2, 0)),
        };
        column.set_cell_alignment(alignment);
        column.set_padding(padding);
    }
    out.print(format_args!("{table}\n"));
}

/// Prints names with their values, one per line.
pub(crate) fn list(out: &mut Output, lines: impl IntoIterator<Item = (&'static str, String)>) {
    for (name, text) in lines {
        out.print(format_args!("{name:<16}{text}\n"));
    }
}

/// A number, or a dash if there is none.
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
