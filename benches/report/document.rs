//! What is written: the document, from a template in which names in braces stand for what is measured, and some
//! rows in the README.

use std::collections::BTreeMap;

use crate::duel::Line;

const TEMPLATE: &str = include_str!("performance.md");

/// What stands for each name.
pub(crate) type Parts = BTreeMap<&'static str, String>;

/// The template with its names replaced.
///
/// # Panics
///
/// If it does not name each part once, or names anything else.
pub(crate) fn fill(mut parts: Parts) -> String {
    let mut document = String::new();
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').expect("a brace is closed");
        let part = parts.remove(name);
        document += before;
        document += &part.unwrap_or_else(|| panic!("nothing is measured for {{{name}}}"));
        rest = after;
    }
    let unused: Vec<_> = parts.keys().collect();
    assert!(unused.is_empty(), "the template does not name {unused:?}");
    document + rest
}

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

const BEGIN: &str = "<!-- rows: written by the report -->";
const END: &str = "<!-- end of rows -->";

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
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n\n{foot}\n{END}{after}"))
}
