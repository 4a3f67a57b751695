//! Runs the example `side_tables` as its users do, and reads what it prints.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Program, Run, Scratch, assert_error_and_the_rest_done, shared_tests};

const SIDE_TABLES: Program = Program {
    name: "side_tables",
    files: "*.rs",
    done: |files| format!("of {files} functions\n"),
    long: 500,
    assert_ended_at_zero,
};

shared_tests!(SIDE_TABLES);

/// The numbers of a row: nodes, spans, branches, docs, values, pending, drained.
type Row = [Option<usize>; 7];

/// Checks that all trees were built, and that all counts were zero at the end.
#[track_caller]
fn assert_ended_at_zero(run: &Run) {
    let end = "at the end: 0 nodes, 0 attributes, 0 pending, 0 bytes (checked)";
    assert!(run.out.ends_with(&format!("\n{end}\n")), "{}", run.out);
    let last: Row = run.row("end the thread");
    assert_eq!(last, [Some(0), None, None, None, Some(0), Some(0), None]);
}

#[test]
fn the_crates_own_source_from_anywhere() {
    let run = Scratch::new(&SIDE_TABLES, "own").run(&[]);
    run.assert_succeeded();
    assert_ended_at_zero(&run);

    // All nodes have spans and counts; each dead one's are gone or pending; a purge drains those.
    let attached: Row = run.row("attach doc verdicts");
    let [Some(nodes), spans, branches, docs, ..] = attached else {
        panic!("no nodes: {}", run.out);
    };
    assert!(nodes > 10_000);
    assert_eq!((spans, branches), (Some(nodes), Some(nodes)));
    let all = 2 * nodes + docs.unwrap_or(0);

    let half: Row = run.row("drop half of the trees");
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

    let purges: Vec<Row> = run.rows("purge");
    assert_eq!(purges[0][4..], [Some(entries), Some(0), Some(pending)]);

    let no_spans: Row = run.row("drop the map of spans");
    assert_eq!(no_spans[..3], [Some(left), None, Some(left)]);
    assert_eq!(no_spans[4], Some(entries - left));

    let others: Row = run.row("drop the other trees");
    assert_eq!(others[0], Some(0));
    assert_eq!(others[4], others[5], "all that is left is pending");
    assert_eq!(purges[1][4..], [Some(0), Some(0), others[5]]);
}

#[test]
fn figures_and_positions() {
    let scratch = Scratch::new(&SIDE_TABLES, "figures");
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
    run.assert_succeeded();
    assert_ended_at_zero(&run);
    // Two lazy operators, `while`, `?`, `for`, `let else`, two arms, a guard; and one.
    let worst = "     10  inner::super::Shape<T>::ways\n        figures.rs:4:9 (to 10:10)\n";
    run.assert_prints(&worst[1..]);
    let line = "documented: 3 of 5 public items";
    run.assert_prints(line);
    let line = "asked again for each function: 2 hits, 0 computed";
    run.assert_prints(line);
}

#[test]
fn files_that_do_not_parse() {
    let scratch = Scratch::new(&SIDE_TABLES, "parse");
    let assert_error = |bad: &str, message: &str| {
        assert_error_and_the_rest_done(&SIDE_TABLES, &scratch, bad, message);
    };
    scratch.file("syntax.rs", "#!/bin/sh\nfn a() {}\nfn 3() {}\n");
    let message = "syntax.rs:3:4: expected identifier";
    assert_error("syntax.rs", message);
    scratch.file("bracket.rs", "\u{feff}fn a() { (] }\n");
    let message = "bracket.rs:1:11: not a Rust token, or an unbalanced bracket";
    assert_error("bracket.rs", message);
    scratch.file("end.rs", "fn a() {}\nfn b()");
    let message = "end.rs:2:7: unexpected end of input, expected curly braces";
    assert_error("end.rs", message);
    let deep = format!("fn a() {{\n{}{} }}", "(".repeat(5_000), ")".repeat(5_000));
    scratch.file("deep.rs", deep);
    let message = "deep.rs:2:1000: nested too deeply";
    assert_error("deep.rs", message);
}
