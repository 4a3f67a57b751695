//! The architecture of `src`: each room uses only the rooms before it, the files of a room form no cycle (except files
//! that are one idea), and no file is long. And the numbers in the comments of tests: `BEHAVIOURS.md` says what each stands
//! for. And each public type says whether it is covariant, and each method that changes a collection has an arm in the
//! random scripts.

// This only reads files; it runs no code of the library.
#![cfg(not(miri))]

#[path = "house/arms.rs"]
mod arms;
#[path = "house/columns.rs"]
mod columns;
#[path = "house/guide.rs"]
mod guide;
#[path = "house/lists.rs"]
mod lists;
#[path = "house/programs.rs"]
mod programs;
#[path = "house/scanner.rs"]
mod scanner;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use scanner::{Modules, module_of, paths, resolve};

/// The rooms, each of which may use only earlier ones.
const ROOMS: [&str; 25] = [
    "sync",
    "thread",
    "panics",
    "waits",
    "hash",
    "list",
    "statistics",
    "holders",
    "ptr",
    "queue",
    "reference",
    "leaks",
    "table",
    "cycles",
    "collections",
    "reference_queue",
    "keep",
    "raw",
    "flight",
    "concurrent",
    "attribute",
    "memo",
    "serde_impls",
    "guide",
    "lib",
];

/// Files that are one idea, and may name each other: an entry, its table and the bound of the table.
const ONE_IDEA: [&str; 3] = [
    "concurrent/bound.rs",
    "concurrent/node.rs",
    "concurrent/table.rs",
];

/// How many lines a file may have. Past 500 it asks to be split, unless that would cut an idea.
const LONG: usize = 700;

/// The files below a folder, by their paths from there, with their texts.
type Files = BTreeMap<String, String>;

fn read(folder: &Path, prefix: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            read(&path, &format!("{name}/"), files);
        } else if name.ends_with(".rs") {
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

fn files_of(folder: &str) -> Files {
    let mut files = Files::new();
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        "",
        &mut files,
    );
    files
}

/// The sources without the code that is compiled only for tests.
fn sources() -> Files {
    let mut files = files_of("src");
    let for_tests = ["models", "scripts", "tests", "compile_fail"];
    files.retain(|file, _| {
        !module_of(file)
            .iter()
            .any(|name| for_tests.contains(&&**name))
    });
    files
}

fn room_of(file: &str) -> &str {
    let first = file.split('/').next().unwrap();
    first.strip_suffix(".rs").unwrap_or(first)
}

/// Whether a file is a part of another one: it may name what that defines. (A `mod.rs` only lists its files.)
fn is_part(file: &str, whole: &str) -> bool {
    let folder = whole.strip_suffix(".rs").filter(|it| !it.ends_with("mod"));
    folder.is_some_and(|folder| {
        file.strip_prefix(folder)
            .is_some_and(|it| it.starts_with('/'))
    })
}

/// A reference from one file to another, and its place.
#[derive(Clone)]
struct Edge {
    from: String,
    to: String,
    /// For messages: file, line, and the path as written.
    site: String,
}

fn edges(files: &Files) -> Vec<Edge> {
    let modules: Modules = files
        .keys()
        .map(|file| (module_of(file), file.clone()))
        .collect();
    let mut edges = Vec::new();
    for (file, text) in files {
        for named in paths(text) {
            let to = resolve(&modules, file, &named);
            let Some(to) = to.filter(|to| to != file && !is_part(file, to)) else {
                continue;
            };
            let (line, path) = (named.line, named.path.join("::"));
            let word = if named.is_use { "use " } else { "" };
            edges.push(Edge {
                from: file.clone(),
                to: to.to_owned(),
                site: format!("src/{file}:{line}: {word}{path}"),
            });
        }
    }
    edges
}

/// The uses of later rooms.
fn forward(edges: &[Edge]) -> Vec<String> {
    let place = |file: &str| {
        let room = ROOMS.iter().position(|room| *room == room_of(file));
        room.unwrap_or_else(|| panic!("`src/{file}` is in no room of the plan: {ROOMS:?}"))
    };
    let is_forward = |edge: &&Edge| place(&edge.from) < place(&edge.to);
    let format = |edge: &Edge| format!("{} (leads to the later src/{})", edge.site, edge.to);
    edges.iter().filter(is_forward).map(format).collect()
}

/// The files that can be reached from each.
fn reach(edges: &[Edge]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges
        .iter()
        .filter(|edge| room_of(&edge.from) == room_of(&edge.to))
    {
        next.entry(&edge.from).or_default().insert(&edge.to);
    }
    let all = |from: &str| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(file) = waiting.pop() {
            for to in next.get(file).into_iter().flatten() {
                if seen.insert(*to) {
                    waiting.push(to);
                }
            }
        }
        seen
    };
    next.keys().map(|from| (*from, all(from))).collect()
}

/// The cycles of files inside the rooms: the files of each.
fn cycles(edges: &[Edge]) -> BTreeSet<BTreeSet<&str>> {
    let reach = reach(edges);
    let leads = |from: &str, to: &str| reach.get(from).is_some_and(|files| files.contains(to));
    let cycle_of = |file: &&'_ str| -> BTreeSet<&str> {
        let others = reach[file].iter().copied();
        others.filter(|other| leads(other, file)).collect()
    };
    let cycles = reach.keys().map(cycle_of);
    cycles.filter(|cycle| !cycle.is_empty()).collect()
}

/// The references between the files of a cycle.
fn sites(edges: &[Edge], cycle: &BTreeSet<&str>) -> String {
    let inside = |edge: &&Edge| cycle.contains(&*edge.from) && cycle.contains(&*edge.to);
    let sites: BTreeSet<_> = edges
        .iter()
        .filter(inside)
        .map(|edge| &*edge.site)
        .collect();
    sites.into_iter().collect::<Vec<_>>().join("\n  ")
}

#[test]
fn no_room_uses_a_later_one() {
    let wrong = forward(&edges(&sources()));
    assert!(
        wrong.is_empty(),
        "the order is {ROOMS:?}:\n  {}",
        wrong.join("\n  ")
    );
}

#[test]
fn the_files_of_a_room_form_no_cycle() {
    let files = sources();
    let edges = edges(&files);
    let mut found = cycles(&edges);
    found.retain(|cycle| !cycle.iter().all(|file| ONE_IDEA.contains(file)));
    let report = found
        .iter()
        .map(|cycle| format!("{cycle:?}\n  {}\n", sites(&edges, cycle)));
    assert!(
        found.is_empty(),
        "cycles of files:\n{}",
        report.collect::<String>()
    );
}

#[test]
fn no_file_is_long() {
    let of = |folder: &str| {
        let files = files_of(folder).into_iter();
        files
            .map(|(file, text)| (format!("{folder}/{file}"), text.lines().count()))
            .collect::<Vec<_>>()
    };
    let long: Vec<_> = of("src")
        .into_iter()
        .chain(of("tests"))
        .filter(|(_, lines)| *lines > LONG)
        .collect();
    assert!(long.is_empty(), "longer than {LONG} lines: {long:?}");
}

/// The numbers with which a comment begins, with or without the letter of their section: `/// C39, 160: A thread …`.
fn behaviours(line: &str) -> Vec<(&str, u16)> {
    let line = line.trim_start();
    let Some(comment) = line.strip_prefix("/// ").or(line.strip_prefix("//! ")) else {
        return Vec::new();
    };
    let (codes, _) = comment.split_once(':').unwrap_or((comment, ""));
    let code = |code| {
        let at = usize::from(str::starts_with(code, |c: char| c.is_ascii_uppercase()));
        Some((&code[..at], code[at..].parse().ok()?))
    };
    codes
        .split(", ")
        .map(code)
        .collect::<Option<_>>()
        .unwrap_or_default()
}

#[test]
fn each_behaviour_is_listed_and_tested() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/BEHAVIOURS.md");
    let list = fs::read_to_string(list).unwrap();
    let mut listed = BTreeMap::new();
    let mut section = "";
    for line in list.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = &title[..1];
        } else if let Some(item) = line.strip_prefix("* ") {
            listed.insert(item.split(' ').next().unwrap().parse().unwrap(), section);
        }
    }
    let mut untested: BTreeSet<u16> = listed.keys().copied().collect();
    for (file, text) in ["tests", "tests-async"].into_iter().flat_map(files_of) {
        for line in text.lines() {
            for (letter, number) in behaviours(line) {
                let section = listed.get(&number);
                let right = section.is_some_and(|section| section.starts_with(letter));
                assert!(right, "not in tests/BEHAVIOURS.md: {file}: {line}");
                untested.remove(&number);
            }
        }
    }
    assert!(
        untested.is_empty(),
        "no test names {untested:?} of tests/BEHAVIOURS.md"
    );
}

/// The paths in a cell of a table.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// What is wrong in the table of protocols: a file with invariants, or one with models, that is in none or several rows, or a row
/// that names a file without.
fn unmodelled(rows: &str, sources: &Files) -> Vec<String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name[1..].parse::<u8>().is_ok()
    };
    let states = |text: &str| {
        text.lines().any(|line| {
            let comment = line.trim_start().trim_start_matches(['/', '!']);
            let item = comment.strip_prefix(" * **");
            item.is_some_and(|item| item.split("**").next().is_some_and(is_name))
        })
    };
    let is_model = |file: &str, text: &str| {
        module_of(file).iter().any(|name| name == "models") && text.contains("#[test]")
    };
    let (mut left, mut wrong) = (BTreeSet::new(), Vec::new());
    for (file, text) in sources {
        let kinds = [
            (states(text), "invariants"),
            (is_model(file, text), "models"),
        ];
        left.extend(
            kinds
                .iter()
                .filter(|kind| kind.0)
                .map(|kind| (&**file, kind.1)),
        );
    }
    for row in rows
        .lines()
        .filter(|row| row.starts_with("| ") && row.contains('`'))
    {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, _, invariants, models, _] = cells[..] else {
            wrong.push(format!("not three cells: {row}"));
            continue;
        };
        let mut named: Vec<_> = quoted(invariants)
            .map(|file| (file, "invariants"))
            .collect();
        if !models.starts_with("none: ") {
            named.extend(quoted(models).map(|file| (file, "models")));
            if !models.contains('`') {
                wrong.push(format!("no models, and no reason: {row}"));
            }
        }
        let twice_or_not = named.iter().filter(|name| !left.remove(*name));
        wrong.extend(twice_or_not.map(|name| format!("elsewhere, or without: {name:?}")));
    }
    wrong.extend(left.iter().map(|name| format!("in no row: {name:?}")));
    wrong
}

#[test]
fn each_protocol_has_its_models_or_says_why_not() {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/PROTOCOLS.md");
    let text = fs::read_to_string(text).unwrap();
    let section = text
        .split("\n# ")
        .find(|part| part.starts_with("Protocols and their models"));
    let wrong = unmodelled(section.unwrap(), &files_of("src"));
    assert!(
        wrong.is_empty(),
        "docs/PROTOCOLS.md, protocols and their models: {wrong:#?}"
    );
}

/// The invariants (`T5`) that a line of comment defines or names: each with its place in the line.
fn invariants(line: &str) -> Vec<(usize, &str)> {
    let Some(comment) = line.find("//") else {
        return Vec::new();
    };
    let is_part = |c: char| c.is_alphanumeric() || "_`.-^".contains(c);
    let is_name = |at: usize| {
        let [letter, digit] = line.as_bytes()[at..at + 2] else {
            unreachable!("two bytes")
        };
        letter.is_ascii_uppercase()
            && digit.is_ascii_digit()
            && !line[..at].ends_with(is_part)
            && !line[at + 2..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    let places = (comment..line.len().saturating_sub(1)).filter(|at| is_name(*at));
    places.map(|at| (at, &line[at..at + 2])).collect()
}

/// What is wrong with the names of invariants in comments: each is defined (`* **T5** …`) in the
/// head of a file, and where several files define the name, in the room that names it, or the
/// comment says of which file it is.
fn undefined(files: &Files) -> Vec<String> {
    let is_definition = |line: &str| line.trim_start_matches(['/', '!', ' ']).starts_with("* **");
    let mut heads = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (file, text) in files {
        for line in text.lines().filter(|line| is_definition(line)) {
            for (at, name) in invariants(line) {
                if line[..at].ends_with("* **") && line[at + 2..].starts_with("**") {
                    heads.entry(name).or_default().insert(file);
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for (file, text) in files {
        for (number, line) in (1..).zip(text.lines()) {
            for (at, name) in invariants(line) {
                let all = heads.get(name).into_iter().flatten();
                let here = all.clone().filter(|it| room_of(it) == room_of(file));
                let is_clear = all.clone().count() == 1
                    || all.clone().any(|it| it == file)
                    || here.count() == 1
                    || all.clone().count() > 1 && line[at + 2..].starts_with(" of ");
                if !is_clear {
                    wrong.push(format!("src/{file}:{number}: {name}"));
                }
            }
        }
    }
    wrong
}

#[test]
fn each_invariant_that_a_comment_names_is_defined() {
    let wrong = undefined(&files_of("src"));
    assert!(wrong.is_empty(), "no head of a file has it: {wrong:#?}");
}

#[test]
fn an_invariant_without_a_definition_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let wrong = |use_of_it: &str| {
        let one = file("raw/a.rs", "//! * **T5** Destructors run.\n//! * **B1** A.");
        let other = file("ptr/b.rs", "//! * **B1** B.\nlet x = U8; // not a C11 name");
        undefined(&Files::from([one, other, file("memo/c.rs", use_of_it)]))
    };
    for text in ["// T5: see", "f(); // (T5)", "// B1 of `ptr/b.rs`", "T6"] {
        assert_eq!(wrong(text), [""; 0], "{text}");
    }
    for text in ["// T6", "/// as B1 says", "//! (T5, T7)"] {
        assert_eq!(wrong(text).len(), 1, "{text}");
    }
}

#[test]
fn each_model_has_a_limit() {
    // loom's own limits end a model as if it had passed, and by default it has none.
    let names_it = |line: &str| {
        line.contains("loom::model") || line.contains("loom::{") && line.contains("model")
    };
    let runs_by_itself =
        |(file, text): &(String, String)| file != "sync/models.rs" && text.lines().any(names_it);
    let wrong: Vec<_> = files_of("src").into_iter().filter(runs_by_itself).collect();
    let files: Vec<_> = wrong.iter().map(|(file, _)| file).collect();
    assert!(files.is_empty(), "not run by `sync::models`: {files:?}");
}

/// Each public type with parameters is in the list of what is covariant, or in that of what must
/// not be.
#[test]
fn each_type_with_parameters_has_its_variance_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let lists = text("tests/auto_traits/variance.rs") + &text("src/compile_fail/variance.rs");
    let api = text("docs/public-api.txt");
    let types = api.lines().filter_map(|line| {
        let is_type = |word: &&str| line.contains(*word);
        let word = ["pub struct weakly::", "pub enum weakly::"]
            .iter()
            .copied()
            .find(is_type)?;
        let (name, parameters) = line.split_once(word)?.1.split_once('<')?;
        // No lifetime is in a flavour.
        (!parameters.starts_with("F: weakly::ptr::Flavour>")).then(|| format!("{name}<"))
    });
    let missing: BTreeSet<_> = types.filter(|name| !lists.contains(&**name)).collect();
    assert!(missing.is_empty(), "is it covariant? {missing:?}");
}

// === Tests of the scanner ===

fn files(files: &[(&str, &str)]) -> Files {
    let owned = |(file, text): &(&str, &str)| ((*file).to_owned(), (*text).to_owned());
    [("lib.rs", "")].iter().chain(files).map(owned).collect()
}

fn wrong_in(text: &str) -> Vec<String> {
    let house = [
        ("ptr/mod.rs", "pub use strong::Strong;"),
        ("ptr/strong.rs", text),
        ("queue/mod.rs", "mod shared;"),
        ("queue/shared.rs", ""),
    ];
    forward(&edges(&files(&house)))
}

#[test]
fn a_later_room_is_found_wherever_it_is_named() {
    for text in [
        "use crate::queue::Queue;",
        "pub(crate) use crate::{hash::Hash, queue::{shared, Queue as Q}};",
        "use super::super::queue::*;",
        "fn f() -> crate::queue::Queue<'static> { loop {} }",
        "fn f() { let a = ['a', '\\'', '\"']; super::super::queue::shared::f() }",
        "macro_rules! m { () => { $crate::queue::Queue::new() }; }",
        "mod names { use super::super::super::queue::Queue; }",
        "#[cfg(not(test))] use crate::queue::Queue;",
        "use crate::Strong;",
    ] {
        assert_eq!(wrong_in(text).len().min(1), 1, "{text}");
    }
    let wrong = wrong_in("\n\n  use crate::queue::Queue;");
    let message =
        "src/ptr/strong.rs:3: use crate::queue::Queue (leads to the later src/queue/mod.rs)";
    assert_eq!(wrong, [message]);
}

#[test]
fn code_that_is_not_compiled_is_ignored() {
    for text in [
        "// use crate::queue::Queue;",
        "/// [`Queue`](crate::queue::Queue)",
        "/* use crate::queue::Queue; */",
        "const TEXT: &str = \"a\\\" crate::queue::Queue\";",
        "const TEXT: &str = r#\"\" crate::queue::Queue\"#;",
        "#[cfg(test)] mod tests { use crate::queue::Queue; }",
        "#[cfg(all(test, not(weakly_loom)))] use crate::queue::Queue;",
        "pub(in crate::queue) fn f() {}",
        "mod names { use super::super::strong::Strong; }",
        "use core::queue::Queue; use hashbrown::queue;",
        "#[macro_export] macro_rules! m { () => { $crate::queue::Queue::new() }; }",
    ] {
        assert_eq!(wrong_in(text), [""; 0], "{text}");
    }
}

#[test]
fn a_cycle_is_seen_and_a_face_is_one_of_its_files() {
    let house = [
        ("ptr/mod.rs", "pub use strong::Strong; pub use weak::Weak;"),
        ("ptr/strong.rs", "use super::weak::Weak;"),
        ("ptr/weak.rs", "use super::state; use self::part::Part;"),
        ("ptr/weak/part.rs", "use super::Weak;"),
        ("ptr/state.rs", ""),
    ];
    let round = |changed: (&str, &str)| {
        let mut files = files(&house);
        files.insert(changed.0.to_owned(), changed.1.to_owned());
        let edges = edges(&files);
        let cycles = cycles(&edges);
        let names =
            |cycle: &BTreeSet<&str>| Vec::from_iter(cycle.iter().map(|file| (*file).to_owned()));
        cycles.iter().map(names).collect::<Vec<_>>()
    };
    assert_eq!(round(("ptr/state.rs", "")), [[""; 0]; 0]);
    let of_files = round(("ptr/state.rs", "fn f() { super::strong::f() }"));
    assert_eq!(of_files, [["ptr/state.rs", "ptr/strong.rs", "ptr/weak.rs"]]);
    let by_part = round(("ptr/weak/part.rs", "use crate::ptr::strong::Strong;"));
    assert_eq!(
        by_part,
        [["ptr/strong.rs", "ptr/weak.rs", "ptr/weak/part.rs"]]
    );
    let by_face = round(("ptr/weak.rs", "use super::Strong;"));
    assert_eq!(by_face, [["ptr/mod.rs", "ptr/strong.rs", "ptr/weak.rs"]]);
}

#[test]
fn a_protocol_without_models_is_found() {
    let house = [
        ("ptr/count.rs", "//! * **B1** One."),
        ("ptr/plain.rs", "//! * **Note** Not an invariant."),
        ("ptr/count/models.rs", "#[test]"),
        ("ptr/ring.rs", "fn f() {}\n    // * **Q10** Two."),
    ];
    let files = files(&house);
    let count = "| a | `ptr/count.rs` | `ptr/count/models.rs` |\n";
    let ring = "| b | `ptr/ring.rs` | none: one thread |\n";
    let wrong = |rows: &[&str]| unmodelled(&rows.concat(), &files).len();
    assert_eq!(wrong(&[count, ring]), 0);
    assert_eq!(wrong(&[count]), 1, "the ring is missing");
    assert_eq!(wrong(&[ring]), 2, "the count and its models are missing");
    assert_eq!(wrong(&[count, ring, ring]), 1, "it is there twice");
    assert_eq!(
        wrong(&[count, "| b | `ptr/ring.rs` | |\n"]),
        1,
        "nothing is said of models"
    );
    assert_eq!(
        wrong(&[count, ring, "| c | `ptr/plain.rs` | none: so |\n"]),
        1
    );
    assert_eq!(
        wrong(&[
            count,
            ring,
            "| c | `ptr/gone.rs` | `ptr/gone/models.rs` |\n"
        ]),
        2
    );
}
