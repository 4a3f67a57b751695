//! The form of the guide for the repository's web view, and the links of all documents.
//!
//! The chapters in `src/guide` are written for rustdoc: links name items of the crate. `docs/guide`
//! has the same chapters with titles, and with links to files. The code is the same in both forms,
//! and no line of the code is hidden. So `cargo test --doc` compiles what a reader copies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Files, files_of};

/// The command that writes `docs/guide`.
const COMMAND: &str = "WEAKLY_WRITE_GUIDE=1 cargo test --test house web_form";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents of a folder, by their names.
pub(crate) fn documents(folder: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect()
}

/// Each line, and whether it belongs to a block of code, its fences included.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut inside = false;
    text.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        (line, inside || is_fence)
    })
}

/// The targets of the links in a line, and where they are.
fn targets(line: &str) -> Vec<(usize, &str)> {
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .filter(|(label, _)| *label != "comment");
    if let Some((_, target)) = definition {
        return vec![(line.len() - target.len(), target)];
    }
    let inline = line.match_indices("](").filter_map(|(at, _)| {
        let begin = at + 2;
        let end = line[begin..].find(')')?;
        Some((begin, &line[begin..begin + end]))
    });
    inline.collect()
}

fn link(path: &str, anchor: Option<&str>) -> String {
    anchor.map_or_else(|| path.to_owned(), |anchor| format!("{path}#{anchor}"))
}

fn split(target: &str) -> (&str, Option<&str>) {
    match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    }
}

// === The form for the web view ===

/// The titles of the chapters: the links of the index.
fn titles(index: &str) -> BTreeMap<&str, &str> {
    let rows = index.split("](self::").skip(1).zip(index.split("](self::"));
    rows.map(|(after, before)| {
        let title = before.rsplit('[').next().unwrap();
        (after.split(')').next().unwrap(), title)
    })
    .collect()
}

/// Where the items of a module are defined, first places first.
///
/// The root of the crate and the module `local` only name items of other modules.
fn places(module: &str) -> Vec<String> {
    let places: &[&str] = match module {
        "" => &[
            "ptr/",
            "collections/",
            "attribute/shared.rs",
            "attribute/key.rs",
            "memo/",
            "reference/",
            "reference_queue/",
            "cycles/",
            "leaks/",
            "table/",
            "statistics.rs",
        ],
        "local" => &["ptr/", "attribute/single.rs", "attribute/key.rs", "leaks/"],
        "memo" => &["memo/", "concurrent/"],
        _ => return vec![format!("{module}/"), format!("{module}.rs")],
    };
    places.iter().map(|place| (*place).to_owned()).collect()
}

fn defines(text: &str, item: &str) -> bool {
    let kinds = [
        "pub struct ",
        "pub enum ",
        "pub trait ",
        "pub unsafe trait ",
        "pub type ",
        "pub fn ",
        "pub async fn ",
        "macro_rules! ",
    ];
    text.lines().any(|line| {
        let line = line.trim_start();
        let mut named = kinds.iter().filter_map(|kind| line.strip_prefix(kind));
        named.any(|rest| {
            let rest = rest.strip_prefix(item);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    })
}

/// The file that defines an item: `keep::Limit::generations` is in that of `Limit`.
fn file_of<'f>(item: &str, sources: &'f Files) -> Option<&'f str> {
    let names: Vec<_> = item.split("::").collect();
    let is_type = |name: &&str| name.starts_with(char::is_uppercase);
    let at = names
        .iter()
        .position(is_type)
        .unwrap_or(names.len().checked_sub(1)?);
    places(&names[..at].join("::")).iter().find_map(|place| {
        let mut files = sources
            .iter()
            .filter(|(file, _)| file.starts_with(&**place));
        let found = files.find(|(_, text)| defines(text, names[at]));
        found.map(|(file, _)| &**file)
    })
}

/// What a link of a chapter is in `docs/guide`. The page of a module may name items of the module
/// without a path.
fn on_the_web(name: &str, target: &str, sources: &Files) -> String {
    let (path, anchor) = split(target);
    let page = path
        .strip_prefix("super::")
        .or(path.strip_prefix("self::"))
        .or(path.strip_prefix("crate::guide::"));
    if let Some(page) = page {
        let is_chapter = root().join(format!("src/guide/{page}.md")).exists();
        let file = match is_chapter {
            true => format!("{page}.md"),
            false => format!("../{}.md", page.to_uppercase()),
        };
        return link(&file, anchor);
    }
    match path {
        "crate" => link("../../README.md", anchor),
        "crate::concurrent" => link("concurrent.md", anchor),
        _ => {
            let file = match path.strip_prefix("crate::") {
                Some(item) => file_of(item, sources),
                None => file_of(&format!("{name}::{path}"), sources),
            };
            file.map_or_else(|| target.to_owned(), |file| format!("../../src/{file}"))
        }
    }
}

/// A line with a target for each name that is a link by itself: ``[`WeakMap`](WeakMap)``.
fn with_targets(line: &str) -> String {
    let mut parts = line.split("[`");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out += "[`";
        match part.split_once("`]") {
            Some((name, rest)) if !rest.starts_with('(') => {
                out += &format!("{name}`]({name}){rest}")
            }
            _ => out += part,
        }
    }
    out
}

/// A chapter for the web view.
fn written(name: &str, title: &str, chapter: &str, sources: &Files) -> String {
    let origin = format!("From src/guide/{name}.md, by\n`{COMMAND}`.");
    let mut out = format!("<!-- {origin} -->\n\n# {title}\n\n");
    for (line, is_code) in lines(chapter) {
        if is_code {
            out += line;
        } else {
            // The title is above the sections.
            out += if line.starts_with('#') { "#" } else { "" };
            let (line, mut at) = (with_targets(line), 0);
            for (begin, target) in targets(&line) {
                out += &line[at..begin];
                out += &on_the_web(name, target, sources);
                at = begin + target.len();
            }
            out += &line[at..];
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_web_form_of_the_guide_is_that_of_its_chapters() {
    let (chapters, sources) = (documents("src/guide"), files_of("src"));
    let titles = titles(&chapters["index.md"]);
    let mut written: BTreeMap<_, _> = chapters
        .iter()
        .map(|(file, chapter)| {
            let name = file.strip_suffix(".md").unwrap();
            let title = match name {
                "index" => "The guide to weakly",
                "concurrent" => "The module `concurrent`",
                _ => titles
                    .get(name)
                    .unwrap_or_else(|| panic!("src/guide/index.md has no link to {name}")),
            };
            (file.clone(), written(name, title, chapter, &sources))
        })
        .collect();
    if std::env::var_os("WEAKLY_WRITE_GUIDE").is_some() {
        for (file, text) in &written {
            fs::write(root().join("docs/guide").join(file), text).unwrap();
        }
    }
    let mut stale = documents("docs/guide");
    stale.retain(|file, text| written.remove(file).as_ref() != Some(text));
    let stale: BTreeSet<_> = stale.into_keys().chain(written.into_keys()).collect();
    assert!(
        stale.is_empty(),
        "docs/guide is not that of src/guide: {stale:?}; run {COMMAND}"
    );
}

// === Code ===

/// Why `cargo test` does not compile each block of a document as a reader sees the block.
///
/// The code of a block that is `ignore`d is a file of a test. The text before the block names the file.
fn not_as_shown(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut parts = text.split("```");
    let mut before = parts.next().unwrap_or_default();
    // The blocks, and the texts between them.
    while let (Some(block), Some(after)) = (parts.next(), parts.next()) {
        let (kind, code) = block.split_once('\n').unwrap_or((block, ""));
        let is_hidden = |line: &&str| line.trim() == "#" || line.trim_start().starts_with("# ");
        let hidden = code.lines().find(is_hidden);
        let file = || {
            before
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| name.ends_with(".rs"))
                .last()
        };
        match kind {
            "rust" => wrong.extend(hidden.map(|line| format!("hidden: {line}"))),
            "rust,ignore" => {
                let text = file().and_then(|name| fs::read_to_string(root().join(name)).ok());
                if text.as_deref() != Some(code) {
                    wrong.push(format!("not the file {:?}: {code}", file()));
                }
            }
            "sh" | "text" => {}
            _ => wrong.push(format!("not compiled, since it is {kind:?}: {code}")),
        }
        before = after;
    }
    wrong
}

#[test]
fn each_block_is_compiled_as_it_is_shown() {
    let mut documents = documents("src/guide");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    documents.insert("README.md".to_owned(), readme);
    for (file, text) in documents {
        let wrong = not_as_shown(&text);
        assert!(wrong.is_empty(), "{file}: {wrong:#?}");
    }
}

#[test]
fn a_block_that_is_not_compiled_as_it_is_shown_is_found() {
    let wrong = |text: &str| not_as_shown(text).len();
    let recipe = "tests-async/tests/locks/recipe.rs";
    let code = fs::read_to_string(root().join(recipe)).unwrap();
    let right = [
        "```rust\nf();\n#[test]\n```".to_owned(),
        "Run `sh`:\n```sh\n# a comment\n```".to_owned(),
        format!("The file `{recipe}`:\n```rust,ignore\n{code}```"),
    ];
    assert_eq!(wrong(&right.join("\n\n")), 0);
    for text in [
        "```rust\n# use a::f;\nf();\n```",
        "```rust\nf();\n#\n```",
        "  ```rust\n  # use a::f;\n  f();\n  ```",
        "```\nf();\n```",
        "```rust,no_run\nf();\n```",
        "See `tests-async/tests/locks/recipe.rs`.\n```rust,ignore\nf();\n```",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
    assert_eq!(wrong(&format!("```rust,ignore\n{code}```")), 1);
}

// === Links ===

/// The anchor of a heading, for rustdoc and for the web view.
fn anchor_of(heading: &str) -> String {
    let name = heading.trim_start_matches('#').trim();
    let kept = name.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    lines(text)
        .any(|(line, is_code)| !is_code && line.starts_with('#') && anchor_of(line) == anchor)
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut done, part| {
        match part {
            Component::ParentDir => _ = done.pop(),
            part => done.push(part),
        }
        done
    })
}

/// Whether a link of a document leads to a file, and to one of its headings, or to another site.
fn leads(folder: &str, file: &str, target: &str) -> bool {
    if ["https://", "data:"]
        .iter()
        .any(|it| target.starts_with(it))
    {
        return true;
    }
    let (path, anchor) = split(target);
    let path = if path.is_empty() { file } else { path };
    let path = normal(&root().join(folder).join(path));
    match anchor {
        Some(anchor) => fs::read_to_string(&path).is_ok_and(|text| has_anchor(&text, anchor)),
        None => path.exists(),
    }
}

#[test]
fn each_link_to_a_file_finds_it() {
    let mut dead = Vec::new();
    // A link of the guide is to be mended in its source.
    for (folder, source) in [("", ""), ("docs", "docs"), ("docs/guide", "src/guide")] {
        for (file, text) in documents(folder) {
            for (line, _) in lines(&text).filter(|(_, is_code)| !is_code) {
                let dead_here = targets(line)
                    .into_iter()
                    .filter(|it| !leads(folder, &file, it.1));
                dead.extend(dead_here.map(|(_, target)| format!("{source}/{file}: {target}")));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
}

/// `cargo doc` checks the items of links, and not the headings.
#[test]
fn each_link_of_the_documentation_to_a_heading_finds_it() {
    let mut texts = files_of("src");
    for folder in ["src/guide", "docs"] {
        let documents = documents(folder).into_iter();
        texts.extend(documents.map(|(file, text)| (format!("{folder}/{file}"), text)));
    }
    let mut dead = Vec::new();
    for (file, text) in &texts {
        let found = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
        for target in found.filter_map(|rest| rest.split_once(')').map(|it| it.0)) {
            let (path, Some(anchor)) = split(target) else {
                continue;
            };
            let page = path.strip_prefix("crate::guide::").or(path
                .strip_prefix("super::")
                .filter(|_| file.ends_with(".md")));
            let page = match (path, page) {
                ("crate::concurrent", _) => "src/guide/concurrent.md".to_owned(),
                ("", _) if file.ends_with(".md") => file.clone(),
                (_, Some(page)) if root().join(format!("src/guide/{page}.md")).exists() => {
                    format!("src/guide/{page}.md")
                }
                (_, Some("performance")) => "docs/PERFORMANCE.md".to_owned(),
                _ => continue,
            };
            let text = fs::read_to_string(root().join(&page)).unwrap();
            if !has_anchor(&text, anchor) {
                dead.push(format!("{file}: {target}"));
            }
        }
    }
    assert!(dead.is_empty(), "headings that are not there: {dead:#?}");
}
