//! Runs each example as its users do, and looks at its exit status and at the last line that it prints.

#![cfg(not(miri))] // it starts processes

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The last line of the programs that read files.
const CHECKED: &str = "All numbers are as expected, and not a byte is left (checked)";

/// What a program has printed.
struct Run {
    succeeded: bool,
    out: String,
    err: String,
}

/// `cargo test` builds the examples, next to the directory of the tests. (`cargo test --test` does not, and would run an
/// old one: run `cargo build --examples` first.)
fn run(name: &str, folder: &Path) -> Run {
    let mut program = std::env::current_exe().expect("the path of this test");
    program.pop(); // its name
    program.pop(); // deps
    program.extend(["examples", name]);
    program.set_extension(std::env::consts::EXE_EXTENSION);
    let mut command = Command::new(program);
    if folder != Path::new("") {
        command.current_dir(folder).arg(".");
    }
    let output = command.output().expect("cargo build --examples");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run {
        succeeded: output.status.success(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Runs a program, on the files of a folder or on none, and checks how it ends; returns what it has printed.
#[track_caller]
fn assert_ends_with(name: &str, folder: &Path, line: &str) -> String {
    let Run {
        succeeded,
        out,
        err,
    } = run(name, folder);
    assert_eq!((succeeded, err.as_str()), (true, ""), "{out}");
    assert_eq!(out.lines().last(), Some(line), "{out}");
    out
}

/// A folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder); // of the last run
    fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in files {
        fs::write(folder.join(file), text).expect("a file");
    }
    folder
}

/// The counts in the rows with this title.
fn rows<const N: usize>(out: &str, title: &str) -> Vec<[usize; N]> {
    let rows = out.lines().filter_map(|line| line.strip_prefix(title));
    let counts = |row: &str| {
        let mut cells = row.split_whitespace().skip(1); // the time
        let mut cell = || cells.next()?.replace(',', "").parse().ok();
        [(); N].map(|()| cell().expect("a count"))
    };
    rows.map(counts).collect()
}

#[test]
fn arena() {
    let line = "50002 nodes, 19998 after folding and compaction, each with its own attributes and no other (checked)";
    assert_ends_with("arena", Path::new(""), line);
}

#[test]
fn compile_cache() {
    let out = assert_ends_with("compile_cache", Path::new(""), CHECKED);
    assert_eq!(rows(&out, "1000 steps"), [[40, 922, 78, 38]]);
    // Nine changes: a function dies, with ten graphs; twice a parameter that eight graphs have read, six times one of ten.
    let misses = 40 + 10 + 2 * 8 + 6 * 10;
    if cfg!(debug_assertions) {
        assert_eq!(rows(&out, "2000 steps"), [[40, 2000 - misses, misses, 76]]);
    }
}

#[test]
fn hash_cons() {
    let line = "the same with zeros: simplified once, memoised, dropped (checked)";
    assert_ends_with("hash_cons", Path::new(""), line);
}

#[test]
fn server_cache() {
    let out = assert_ends_with("server_cache", Path::new(""), CHECKED);
    assert_eq!(rows(&out, "weak: ten tenants, twice"), [[20, 0, 20, 0, 0]]);
    let [ten @ .., bytes] = rows::<5>(&out, "kept: ten tenants, twice")[0];
    assert_eq!((ten, bytes > 10_000), ([10, 10, 0, 10], true));
    for (name, most) in [("weak", 1.0), ("kept", 0.4)] {
        let [loads, hits, closed, kept, bytes] = rows(&out, &format!("{name}: at rest"))[0];
        assert_eq!((closed, kept, bytes), (loads, 0, 0));
        let requests = loads + hits;
        assert!(
            requests >= 30_000 && (loads as f64) < most * requests as f64,
            "{out}"
        );
    }
}

#[test]
fn textures() {
    let line = "10000 textures drawn by 4 workers, each released once, by the thread that created it (checked)";
    assert_ends_with("textures", Path::new(""), line);
}

/// The three leaks of the example, each found by at most five lines. With the feature `holders`, the answers also name the
/// lines of the mistakes; without, they say how to see these lines.
#[test]
fn leak() {
    let line = "Each leak was found, and then nothing was left (checked)";
    let out = assert_ends_with("leak", Path::new(""), line);
    let source = include_str!("../leak.rs");
    let functions = source
        .split("\nfn ")
        .filter(|function| function.contains("; // find"));
    let marks: Vec<_> = functions
        .map(|function| function.matches("; // find").count())
        .collect();
    assert_eq!(marks, [3, 3, 3]);
    let place = |mark: &str, call: &str| {
        let (line, number) = source
            .lines()
            .zip(1..)
            .find(|(line, _)| line.contains(mark))
            .expect(mark);
        let column = line.find(call).expect(call) + 1;
        format!("examples/leak.rs:{number}:{column}, thread 'main'")
    };
    let with = |text: String| {
        if cfg!(feature = "holders") {
            text
        } else {
            String::new()
        }
    };
    let made = |mark, call| with(format!(", made at {}", place(mark, call)));
    let held = |what: &str, mark, call| with(format!("\n{what} since {}", place(mark, call)));
    let unseen = "\n(the lines that made the handles are not known: build with the feature `holders` of `weakly`)";
    let unseen = if cfg!(feature = "holders") {
        ""
    } else {
        unseen
    };
    let (window, session) = ("let window = Strong::new", "let session = Strong::new");
    // A collection has made this handle: its line is in a backtrace, which needs line tables.
    let elsewhere = match out.contains("(no line tables") {
        true => with(
            "\n  held elsewhere since leak::a_value_that_owns_its_key (no line tables: set `debug = \
             \"line-tables-only\"` in the profile), thread 'main'"
                .to_owned(),
        ),
        false => held("  held elsewhere", "let left = ", "next"),
    };
    let expected = [
        format!(
            "A handle in a closure: 1 of 1 watched objects (N bytes)\n\
             the closed window: `leak::Window`, 1 strong handle{}{}{unseen}\n",
            made(window, "Strong"),
            held("  held", "// the first leak", "clone"),
        ),
        format!(
            "A value that owns its key: Button: 2 strong handles, 1 found (maps searched: 1)\n  \
             held by entry of WeakMap<Strong<Button, Local>, Action> (its own key) .closes -> Dialog .buttons -> Button\
             {}{}{}\n\
             (handles elsewhere: 1, such as the argument of the search, variables, fields that no `Trace` shows \
             (`impl_trace!`, `#[derive(Trace)]`), maps that were not searched (`Cycles::with`)){unseen}\n",
            held("   ", "let buttons = vec!", "clone"),
            with(format!(
                "\n    in an object made at {}",
                place("let closes = Strong::new", "Strong")
            )),
            elsewhere,
        ),
        format!(
            "A forgotten entry: 1000 of 5000 watched objects (4000 bytes)\n\
             session 2: `leak::Session`, 1 strong handle{}{}\n  \
             and 999 more like it, 4000 bytes in all{unseen}\n",
            made(session, "Strong"),
            held("  held", "registry.insert(", "clone"),
        ),
    ];
    let bytes = out
        .split("objects (")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .expect("a size");
    let expected = expected
        .join("\n")
        .replace("(N bytes", &format!("({bytes} bytes"));
    assert_eq!(out, format!("{expected}\n{line}\n"));
}

/// Files to read: the library has ten times as many, and reading them takes seconds, unoptimised.
const ROOM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/raw");

#[test]
fn side_tables() {
    assert_ends_with("side_tables", Path::new(ROOM), CHECKED);
}

#[test]
fn side_tables_knows_branches_names_and_places() {
    let text = "\u{feff}#!/usr/bin/env run
mod inner {
    impl<T> super::Shape<T> where Vec<T>: Sized {
        /* ä */ fn ways(x: Option<u8>) -> Option<u8> {
            fn apart() { loop { if true { break } } }
            while (|y: u8| y > 1)(x?) { for _ in 0..3 {} }
            match x { None => x, _ => Some(1) }
        }
    }
}
";
    let folder = folder("branches", &[("a.rs", text), ("b.rs", "fn b() {}")]);
    let out = assert_ends_with("side_tables", &folder, CHECKED);
    // `while`, `?`, `for` and two arms; not the `if`.
    let most = "Most branches in 3 functions:\n   5 inner::super::Shape<T>::ways\n     ./a.rs:4:17\n   \
                1 inner::super::Shape<T>::ways::apart\n";
    assert!(out.starts_with(most), "{out}");
    let [nodes, entries @ ..] = rows::<5>(&out, "count branches")[0];
    assert_eq!(entries, [nodes, nodes - 2, nodes, 0]);
    // Not one is lost.
    assert_eq!(
        rows::<5>(&out, "rewrite the nodes")[0],
        rows(&out, "count branches")[0]
    );
}

#[test]
fn intern_words() {
    assert_ends_with("intern_words", Path::new(""), CHECKED);
}

/// Numbers are no words; letters are those of all alphabets, and case matters.
#[test]
fn intern_words_die_with_the_last_file_that_contains_them() {
    let files = [
        (
            "a.txt",
            "one two; two\tthree_3 3three \u{c4}hre \u{e4}hre\nx1 _ 0x1f 12",
        ),
        ("b.txt", "two one"),
        ("c.txt", ""),
        ("d.txt", "\u{feff}four-two four's"),
    ];
    let out = assert_ends_with("intern_words", &folder("words", &files), CHECKED);
    assert!(out.starts_with("14 words, 9 of them distinct"), "{out}");
    assert_eq!(rows(&out, "intern"), [[4, 9, 12, 0]]);
    // Files, words, entries, and as pending the file and its words.
    let quarters = [[3, 7, 9, 3], [2, 7, 9, 1], [1, 7, 7, 1], [0, 0, 0, 8]];
    for (quarter, counts) in quarters.into_iter().enumerate() {
        assert_eq!(rows(&out, &format!("drop {}/4", quarter + 1)), [counts]);
        let [files, words, entries, _] = counts;
        assert_eq!(rows(&out, "purge")[quarter], [files, words, entries, 0]);
    }
}

#[test]
fn incremental() {
    assert_ends_with("incremental", Path::new(ROOM), CHECKED);
}

#[test]
fn incremental_follows_the_calls() {
    // In macros too, and in cycles. `new` may be either of two; `trait_only` has no body.
    let text = "fn a() { b(); vec![c()]; S::new() } fn b() { a() } fn c() { self.c() } trait T { fn trait_only(); }";
    let other =
        "fn alone(f: fn(u8)) -> impl Fn() { let s = S(1); } fn new() {} mod m { fn new() {} }";
    let files = [("a.rs", text), ("b.rs", other)];
    let out = assert_ends_with("incremental", &folder("calls", &files), CHECKED);
    assert!(out.starts_with("An edit costs 12.5 of 16 sizes"), "{out}");
    assert_eq!(rows(&out, "all sizes"), [[4, 16, 16, 0]]);
    let [_, _, computed, invalidated] = rows(&out, "edits")[0];
    assert_eq!(computed - invalidated, 16);
    assert!(
        invalidated >= 200 * 4,
        "an edit costs at least the sizes of its function: {out}"
    );
}

#[test]
fn what_does_not_parse_is_left_out_and_named() {
    let files = [("a.rs", "fn a() {}"), ("bad.rs", "#!/bin/sh\nfn 3() {}\n")];
    let folder = folder("bad", &files);
    fs::write(folder.join("not_utf8.rs"), b"\xff").expect("a file");
    let Run {
        succeeded,
        out,
        err,
    } = run("side_tables", &folder);
    assert!(!succeeded && out.lines().last() == Some(CHECKED), "{out}");
    let errors: Vec<_> = err.lines().collect();
    assert!(
        errors[0].starts_with("./bad.rs:2:4: expected identifier"),
        "{err}"
    );
    assert!(
        errors[1].starts_with("./not_utf8.rs: ") && errors.len() == 2,
        "{err}"
    );
}
