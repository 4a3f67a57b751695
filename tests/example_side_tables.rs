//! Runs the example `side_tables` as its users do, and reads what it prints.

#![cfg(not(miri))] // it starts processes

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `cargo test` builds the examples, next to the directory of the tests. (`cargo test --test` does not,
/// and would run an old one: `cargo build --examples` first.)
fn example() -> Command {
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop(); // the name
    path.pop(); // deps
    path.extend(["examples", "side_tables"]);
    path.set_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "no {}: cargo build --examples",
        path.display()
    );
    Command::new(path)
}

/// A directory of one test's own.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let name = format!("side_tables-{test}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a scratch directory");
        Scratch(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, content).expect("a file");
        path
    }

    /// Runs the example in this directory, so that it names files as here.
    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(example().current_dir(&self.0).args(arguments))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("the example runs");
        Run {
            code: status.code(),
            out: String::from_utf8(stdout).expect("text"),
            err: String::from_utf8(stderr).expect("text"),
        }
    }

    /// The numbers of the first row of this phase: nodes, spans, branches, docs, values, pending,
    /// drained. `None` for what there is not.
    #[track_caller]
    fn row(&self, phase: &str) -> [Option<usize>; 7] {
        self.rows(phase)[0]
    }

    #[track_caller]
    fn rows(&self, phase: &str) -> Vec<[Option<usize>; 7]> {
        let rows = self.out.lines().filter_map(|line| line.strip_prefix(phase));
        let rows: Vec<_> = rows
            .map(|cells| {
                let mut cells = cells.split_whitespace().skip(2); // the time, and its unit
                [(); 7].map(|()| cells.next()?.replace(',', "").parse().ok())
            })
            .collect();
        assert!(!rows.is_empty(), "no row {phase:?} in\n{}", self.out);
        rows
    }

    /// Whether all trees were built, and all counts came to zero in the end.
    #[track_caller]
    fn assert_ended_at_zero(&self) {
        let end = "at the end: 0 nodes, 0 attributes, 0 pending, 0 bytes (checked)";
        assert!(self.out.ends_with(&format!("\n{end}\n")), "{}", self.out);
        let last = self.row("end the thread");
        assert_eq!(last, [Some(0), None, None, None, Some(0), Some(0), None]);
    }
}

const TWO_WAYS: &str = "pub fn two_ways(way: bool) -> u8 { if way { 1 } else { 2 } }\n";

#[test]
fn the_crates_own_source_from_anywhere() {
    let run = Scratch::new("own").run(&[]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.assert_ended_at_zero();

    // All nodes have spans and counts; each dead one's are gone or pending; a purge drains those.
    let [Some(nodes), spans, branches, docs, ..] = run.row("attach doc verdicts") else {
        panic!("no nodes: {}", run.out);
    };
    assert!(nodes > 10_000);
    assert_eq!((spans, branches), (Some(nodes), Some(nodes)));
    let all = 2 * nodes + docs.unwrap_or(0);

    let half = run.row("drop half of the trees");
    let [
        Some(left),
        spans,
        branches,
        docs,
        values,
        Some(pending),
        None,
    ] = half
    else {
        panic!("{half:?}");
    };
    assert!(0 < left && left < nodes);
    assert_eq!((spans, branches), (Some(left), Some(left)));
    let entries = 2 * left + docs.unwrap_or(0);
    assert_eq!((values, pending), (Some(all), all - entries));

    let purges = run.rows("purge");
    assert_eq!(purges[0][4..], [Some(entries), Some(0), Some(pending)]);

    let no_spans = run.row("drop the map of spans");
    assert_eq!(no_spans[..3], [Some(left), None, Some(left)]);
    assert_eq!(no_spans[4], Some(entries - left));

    let others = run.row("drop the other trees");
    assert_eq!(others[0], Some(0));
    assert_eq!(others[4], others[5], "all that is left is pending");
    assert_eq!(purges[1][4..], [Some(0), Some(0), others[5]]);
}

#[test]
fn figures_and_places() {
    let scratch = Scratch::new("figures");
    let file = "
mod inner {
    impl<T> super::Shape<T> where Vec<T>: Sized {
        fn ways(x: Option<u8>) -> Option<u8> { // ä
            let closure = |y: u8| y > 1 && y < 9 || y == 20;
            fn apart() { loop { if true { break } } }
            while closure(x?) { for _ in 0..3 {} }
            let Some(z) = x else { return None };
            match z { 0 => None, n if n > 5 => x, _ => Some(1) }
        }
    }
}
/// Documented.
pub struct Shape<T> { pub field: T, /** Documented. */ pub other: u8, private: u8 }
pub enum Choice { /// Documented.
    First, #[doc(hidden)] Second }
";
    scratch.file("figures.rs", file);
    let run = scratch.run(&["figures.rs"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.assert_ended_at_zero();
    // Two lazy operators, `while`, `?`, `for`, `let else`, two arms, a guard; and one.
    let worst = "     10  inner::super::Shape<T>::ways\n        figures.rs:4:9 (to 10:10)\n";
    assert!(run.out.contains(&worst[1..]), "{}", run.out);
    let line = "documented: 3 of 5 public items";
    assert!(run.out.contains(line), "{}", run.out);
    let line = "asked again for each function: 2 hits, 0 computed";
    assert!(run.out.contains(line), "{}", run.out);
}

/// Runs on one bad input between two good ones.
#[track_caller]
fn assert_told_and_the_rest_done(scratch: &Scratch, bad: &str, message: &str) {
    scratch.file("a.rs", TWO_WAYS);
    scratch.file("z.rs", TWO_WAYS);
    let run = scratch.run(&["a.rs", bad, "z.rs"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert_eq!(run.err, format!("side_tables: {message}\n"));
    assert!(run.out.contains("of 2 functions\n"), "{}", run.out);
    run.assert_ended_at_zero();
}

#[test]
fn a_path_that_does_not_exist() {
    let scratch = Scratch::new("missing");
    let why = fs::metadata(scratch.0.join("none.rs")).expect_err("there is none");
    assert_told_and_the_rest_done(&scratch, "none.rs", &format!("none.rs: {why}"));
}

#[test]
fn a_directory_without_rust() {
    let scratch = Scratch::new("empty");
    scratch.file("empty/sub/text.txt", "not Rust");
    let message = "empty: no file named *.rs in this directory";
    assert_told_and_the_rest_done(&scratch, "empty", message);
}

#[test]
fn a_file_that_is_not_utf8() {
    let scratch = Scratch::new("utf8");
    scratch.file("bad.rs", b"fn a() {}\n// \xc3\xa4\xff\nfn b() {}\n");
    let message = "bad.rs:2:5: not UTF-8 (byte 0xff)";
    assert_told_and_the_rest_done(&scratch, "bad.rs", message);
}

#[test]
fn files_that_do_not_parse() {
    let scratch = Scratch::new("parse");
    scratch.file("syntax.rs", "#!/bin/sh\nfn a() {}\nfn 3() {}\n");
    let message = "syntax.rs:3:4: expected identifier";
    assert_told_and_the_rest_done(&scratch, "syntax.rs", message);
    scratch.file("bracket.rs", "\u{feff}fn a() { (] }\n");
    let message = "bracket.rs:1:11: no token of Rust, or a bracket without its partner";
    assert_told_and_the_rest_done(&scratch, "bracket.rs", message);
    scratch.file("end.rs", "fn a() {}\nfn b()");
    let message = "end.rs:2:7: unexpected end of input, expected curly braces";
    assert_told_and_the_rest_done(&scratch, "end.rs", message);
    let deep = format!("fn a() {{\n{}{} }}", "(".repeat(5_000), ")".repeat(5_000));
    scratch.file("deep.rs", deep);
    let message = "deep.rs:2:1000: nested too deep";
    assert_told_and_the_rest_done(&scratch, "deep.rs", message);
}

#[test]
fn directories_are_searched_and_named_files_taken_as_they_are() {
    let scratch = Scratch::new("walk");
    scratch.file("tree/b/c.rs", TWO_WAYS);
    scratch.file("tree/a.rs", TWO_WAYS);
    scratch.file("tree/not.txt", "not Rust");
    scratch.file("named.txt", TWO_WAYS);
    scratch.file("-dash", TWO_WAYS);
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", scratch.0.join("tree/b/loop")).expect("a link");
    // The second mention of a file is not a second file.
    let run = scratch.run(&["tree", "named.txt", "tree/a.rs", "--", "-dash"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.contains("of 4 functions\n"), "{}", run.out);
    run.assert_ended_at_zero();
}

#[test]
fn options() {
    let scratch = Scratch::new("options");
    scratch.file("a.rs", TWO_WAYS);
    for unknown in ["--wat", "-v", "-"] {
        let run = scratch.run(&["a.rs", unknown]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
        let message = format!("side_tables: unknown option {unknown}\nusage: ");
        assert!(run.err.starts_with(&message), "{}", run.err);
    }
    let run = scratch.run(&["--help"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.starts_with("usage: side_tables "), "{}", run.out);
}

#[test]
fn no_bar_where_nobody_looks() {
    // Long enough for a bar, if this were a terminal.
    let scratch = Scratch::new("bar");
    let long = TWO_WAYS.repeat(500);
    for i in 0..4 {
        scratch.file(&format!("{i}.rs"), &long);
    }
    let run = scratch.run(&["."]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(!run.out.contains('\r'));
}

#[test]
fn a_reader_who_has_seen_enough() {
    let mut command = example();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the example runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
