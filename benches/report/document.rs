//! The document: a template in which names in braces stand for what is measured.

use std::collections::BTreeMap;

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
