//! Each line of `.ci/mutants.list` and `.ci/breaks.list` finds its code: the long run that needs the lists comes too late
//! for a change that moves the code. And the chapter about costs has the bounds of `.ci/counts`.

use std::fs;

use super::sources;

/// The code of a line before its change: of each `⟦A → B⟧`, A.
fn before(code: &str) -> Option<String> {
    let code = code.replace("\\n", "\n");
    let mut parts = code.split('⟦');
    let mut before = parts.next()?.to_owned();
    let mut changes = 0;
    for part in parts {
        let (change, rest) = part.split_once('⟧')?;
        before += change.split_once(" → ")?.0;
        before += rest;
        changes += 1;
    }
    (changes > 0).then_some(before)
}

/// The names of the lines whose code is not in the file of the line exactly once, and the number of lines.
fn lost(list: &str, text: impl Fn(&str) -> Option<String>) -> (Vec<String>, usize) {
    let lines = list.lines().filter(|line| line.matches(" ‖ ").count() == 3);
    let (mut lost, mut count) = (Vec::new(), 0);
    for line in lines {
        count += 1;
        let parts: Vec<&str> = line.split(" ‖ ").map(str::trim).collect();
        let found = before(parts[2])
            .zip(text(parts[1]))
            .map(|(code, text)| text.matches(&code).count());
        if found != Some(1) {
            lost.push(parts[0].to_owned());
        }
    }
    (lost, count)
}

#[test]
fn each_line_of_the_lists_finds_its_code() {
    let sources = sources();
    for list in [".ci/mutants.list", ".ci/breaks.list"] {
        let text = |file: &str| sources.get(file).cloned();
        let (lost, count) = lost(&fs::read_to_string(list).unwrap(), text);
        assert!(
            lost.is_empty(),
            "{list}: this code is not in its file once: {lost:#?}"
        );
        assert!(count > 30, "{list} has only {count} lines");
    }
}

#[test]
fn a_line_whose_code_has_moved_is_found() {
    let text = |_: &str| Some("a.load(Acquire); b.load(Acquire);".to_owned());
    let line = |code: &str| format!("name ‖ a.rs ‖ {code} ‖ test");
    assert_eq!(lost(&line("a.load(⟦Acquire → Relaxed⟧)"), text).0.len(), 0);
    for code in [
        "c.load(⟦Acquire → Relaxed⟧)",
        ".load(⟦Acquire → Relaxed⟧)",
        "a.load(Acquire)",
    ] {
        assert_eq!(lost(&line(code), text).0, ["name"]);
    }
}

#[test]
fn the_chapter_about_costs_has_the_bounds_that_are_counted() {
    let chapter = fs::read_to_string("src/guide/costs.md").unwrap();
    let counts = fs::read_to_string(".ci/counts").unwrap();
    let (_, bounds) = counts.split_once("BOUNDS = {").unwrap();
    let (bounds, _) = bounds.split_once("\n}").unwrap();
    let rows = bounds.lines().filter(|line| !line.is_empty());
    for row in rows.clone() {
        let parts: Vec<&str> = row
            .split(['"', ':', '(', ',', ')'])
            .map(str::trim)
            .collect();
        let [_, name, _, _, alone, beside, ..] = parts[..] else {
            panic!("{row}")
        };
        let cells = [alone, beside].map(|bound| bound.replace('_', ","));
        let end = format!("| `{name}` | {} | {} |", cells[0], cells[1]);
        assert!(
            chapter.lines().any(|line| line.ends_with(&end)),
            "no row has {end}"
        );
    }
    assert!(rows.count() > 10);
}
