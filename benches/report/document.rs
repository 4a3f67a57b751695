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
pub(crate) fn fill(parts: Parts) -> String {
    filled(TEMPLATE, parts)
}

/// A document whose chapter about growth is that of the template, with its names replaced. Nothing if it has no such
/// chapter.
///
/// # Panics
///
/// If the chapter does not name each part once, or names anything else.
pub(crate) fn grow(document: &str, parts: Parts) -> Option<String> {
    let [_, chapter, _] = between(TEMPLATE, GROWTH)?;
    let [before, _, after] = between(document, GROWTH)?;
    let [begin, end] = GROWTH;
    let chapter = filled(chapter, parts);
    Some(format!("{before}{begin}{chapter}{end}{after}"))
}

fn filled(template: &str, mut parts: Parts) -> String {
    let mut document = String::new();
    let mut rest = template;
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

/// The marks around the rows in the README.
const ROWS: [&str; 2] = [
    "<!-- rows: written by the report -->",
    "<!-- end of rows -->",
];
/// Those around the chapter about growth, in the template and so in the document.
const GROWTH: [&str; 2] = [
    "<!-- growth: written by the report -->",
    "<!-- end of growth -->",
];

/// A text in three parts: before its two marks, between them, and after them.
fn between<'t>(text: &'t str, [begin, end]: [&str; 2]) -> Option<[&'t str; 3]> {
    let (before, rest) = text.split_once(begin)?;
    let (inside, after) = rest.split_once(end)?;
    Some([before, inside, after])
}

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
    let [before, _, after] = between(readme, ROWS)?;
    let [begin, end] = ROWS;
    Some(format!("{before}{begin}\n{table}\n\n{foot}\n{end}{after}"))
}
