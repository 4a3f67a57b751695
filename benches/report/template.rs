//! The template of the document, in which names in braces stand for what is measured, and those chapters of the document that
//! are also written by themselves.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use crate::scale::ROOT;

const TEMPLATE: &str = include_str!("performance.md");
/// From the root.
pub(crate) const DOCUMENT: &str = "docs/PERFORMANCE.md";

/// How a chapter begins, and how it ends, in the template and so in the document.
pub(crate) type Marks = [&'static str; 2];

pub(crate) const LINES: Marks = [
    "<!-- lines: written by the count of cache lines -->",
    "<!-- end of lines -->",
];
pub(crate) const SCALING: Marks = [
    "<!-- scaling: written by the run on many processors -->",
    "<!-- end of scaling -->",
];

pub(crate) const POLICIES: Marks = [
    "<!-- policies: written by the simulation -->",
    "<!-- end of policies -->",
];

/// What stands for each name.
pub(crate) type Parts = BTreeMap<&'static str, String>;

/// The template with its names replaced, but for the chapters that other programs write: those are the ones of a document.
/// Nothing if it has no such chapters.
///
/// # Panics
///
/// If the template does not name each part once, or names anything else.
pub(crate) fn fill(document: &str, parts: Parts) -> Option<String> {
    let others = [LINES, SCALING, POLICIES];
    let template = others
        .iter()
        .try_fold(TEMPLATE.to_owned(), |template, &marks| {
            replaced(&template, marks, "")
        })?;
    others
        .iter()
        .try_fold(filled(&template, parts), |filled, &marks| {
            let [_, chapter, _] = between(document, marks)?;
            replaced(&filled, marks, chapter)
        })
}

/// Writes the document below a folder: that of the repository, but for one chapter, which is that of the template, with
/// its names replaced.
///
/// # Panics
///
/// If the chapter of the template does not name each part once, or names anything else.
pub(crate) fn write(root: &Path, marks: Marks, parts: Parts) -> Result<(), Box<dyn Error>> {
    let document = fs::read_to_string(Path::new(ROOT).join(DOCUMENT))?;
    let chapter = between(TEMPLATE, marks).map(|[_, chapter, _]| filled(chapter, parts));
    let document = chapter.and_then(|chapter| replaced(&document, marks, &chapter));
    let document = document.ok_or("the document has no such chapter")?;
    fs::create_dir_all(root.join("docs"))?;
    Ok(fs::write(root.join(DOCUMENT), document)?)
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

/// A text in three parts: before its two marks, between them, and after them.
fn between(text: &str, [begin, end]: Marks) -> Option<[&str; 3]> {
    let (before, rest) = text.split_once(begin)?;
    let (inside, after) = rest.split_once(end)?;
    Some([before, inside, after])
}

/// A text with something else between its two marks.
pub(crate) fn replaced(text: &str, marks: Marks, inside: &str) -> Option<String> {
    let [before, _, after] = between(text, marks)?;
    let [begin, end] = marks;
    Some(format!("{before}{begin}{inside}{end}{after}"))
}
