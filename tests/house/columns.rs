//! The lines of comments and documents end at 100 columns.

use super::guide::documents;
use super::sources;

const COLUMNS: usize = 100;

/// The columns of a line without the targets of links: a target cannot be broken, and is longer in
/// `docs/guide` than in `src/guide`.
fn width(line: &str) -> usize {
    if line.starts_with('[') && line.contains("]: ") || line.contains("://") {
        return 0;
    }
    let mut parts = line.split("](");
    let first = parts.next().unwrap().chars().count();
    let texts = parts.map(|part| part.split_once(')').map_or(part, |(_, text)| text));
    first + texts.map(|text| 2 + text.chars().count()).sum::<usize>()
}

/// The numbers of the lines over 100 columns, without code, tables and HTML.
fn wide(text: &str, is_source: bool) -> Vec<usize> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start().trim_start_matches("///");
        let comment = comment.trim_start_matches("//!").trim_start_matches("//");
        let is_comment = line.trim_start().starts_with("//");
        let content = if is_source { comment } else { line }.trim();
        is_code ^= content.starts_with("```");
        let is_text = !is_code && (is_comment || !is_source);
        // `line` counts the slashes and the indentation of a comment.
        let outside = line.chars().count() - content.chars().count();
        let is_wide = width(content) > COLUMNS.saturating_sub(outside);
        if is_text && is_wide && !content.starts_with(['|', '<', '`']) {
            found.push(number);
        }
    }
    found
}

#[test]
fn comments_and_documents_end_at_100_columns() {
    let mut places = Vec::new();
    let mut check = |file: String, text: &str| {
        let lines = wide(text, file.ends_with(".rs")).into_iter();
        places.extend(lines.map(|line| format!("{file}:{line}")));
    };
    for (file, text) in sources() {
        check(format!("src/{file}"), &text);
    }
    for (file, text) in super::files_of("derive/src") {
        check(format!("derive/src/{file}"), &text);
    }
    for folder in ["", "docs/", "src/guide/"] {
        for (name, text) in documents(folder) {
            check(format!("{folder}{name}"), &text);
        }
    }
    assert!(places.is_empty(), "over {COLUMNS} columns: {places:#?}");
}

#[test]
fn a_wide_line_is_found_outside_code_tables_and_links() {
    let (long, path) = ("word ".repeat(20) + "w", "x".repeat(100));
    for (line, is_wide) in [
        (format!("// {}", &long[..97]), false),
        (format!("// {}", &long[..98]), true),
        (long.clone(), false),
        (format!("// [`{path}`]: crate::keep"), false),
        (format!("/// [keep](crate::{path}), and more"), false),
        (format!("/// {long} [keep](crate::{path}"), true),
        (format!("// https://{path}"), false),
        (format!("// | {long} |"), false),
        (format!("// ```\n// {long}\n// ```"), false),
    ] {
        assert_eq!(!wide(&line, true).is_empty(), is_wide, "{line}");
    }
    assert_eq!(wide(&format!("\n{long}"), false), [2]);
}
