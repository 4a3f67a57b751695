//! The rows that the README shows.

use crate::duel::Line;
use crate::template::{Marks, replaced};

/// The rows of the README: operation, size, peer. Also some where this crate is slower.
const FRONT: [(&str, &str, &str); 12] = [
    ("clone + drop", "", "Arc"),
    ("get, hit", "10^6", "floor"),
    ("get, hit", "10^6", "weak-table"),
    ("churn", "10^6", "weak-table"),
    ("slowest insert of a churn, reserved", "10^6", "weak-table"),
    ("local: churn", "10^6", "weak-table"),
    ("WeakValueMap: get, hit", "10^5", "by hand"),
    ("Interner: hit", "10^5", "internment"),
    ("Interner: miss", "10^5", "plain set"),
    ("shared: get, 2 threads", "10^3", "papaya"),
    ("shared: churn, 2 threads", "10^5", "papaya"),
    ("Memo: hit", "10^3", "moka"),
];

/// The marks around the rows in the README.
const ROWS: Marks = [
    "<!-- rows: written by the report -->",
    "<!-- end of rows -->",
];

/// A README with new rows, and a line beneath them, between its two marks. Nothing if it has no marks.
///
/// # Panics
///
/// If there is no line for a row.
pub(crate) fn front(readme: &str, lines: &[Line], foot: &str) -> Option<String> {
    let line = |(operation, size, peer)| {
        let line = lines.iter().find(|line| line.is(operation, size, peer));
        line.unwrap_or_else(|| panic!("there is no row {operation}, {size}, {peer}"))
    };
    let table = Line::table(FRONT.map(line));
    replaced(readme, ROWS, &format!("\n{table}\n\n{foot}\n"))
}
