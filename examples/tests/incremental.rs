//! Runs the example `incremental` as its users do, and reads what it prints.

#![cfg(not(miri))] // it starts processes

mod program;

use std::fmt::Write;

use program::{Program, Run, Scratch, assert_error_and_the_rest_done, shared_tests};

const INCREMENTAL: Program = Program {
    name: "incremental",
    files: "*.rs",
    done: |functions| format!("\nfunctions       {functions}\n"),
    long: 100,
    assert_ended_at_zero,
};

shared_tests!(INCREMENTAL);

/// The numbers of a row: functions, edits, asked, computed, invalidated, results.
type Row = [Option<usize>; 6];

const QUARTERS: [&str; 4] = ["edits 1/4", "edits 2/4", "edits 3/4", "edits 4/4"];

/// Checks that all was computed, and that all counts were zero at the end.
#[track_caller]
fn assert_ended_at_zero(run: &Run) {
    let end = "at the end: 0 functions, 0 results, 0 pending, 0 bytes (checked)";
    assert!(run.out.ends_with(&format!("\n{end}\n")), "{}", run.out);
    let zero = Some(0);
    let [.., results]: Row = run.row("undo all edits");
    assert_eq!(
        run.row("drop the functions"),
        [zero, None, zero, zero, results, zero]
    );
    let last: Row = run.row("drop the memos");
    assert_eq!(last, [zero, None, None, None, None, None]);
}

#[track_caller]
fn run(scratch: &Scratch, edits: &str) -> Run {
    let run = Run::of(scratch.command().arg(".").env("INCREMENTAL_EDITS", edits));
    run.assert_succeeded();
    assert_ended_at_zero(&run);
    run
}

/// All edits that were followed by questions, and the sums over them.
#[track_caller]
fn edits(run: &Run) -> [usize; 4] {
    let mut sums = [0; 4];
    for quarter in QUARTERS {
        let row: Row = run.row(quarter);
        for (sum, cell) in sums.iter_mut().zip(&row[1..]) {
            *sum += cell.expect("a number");
        }
    }
    sums
}

#[test]
fn the_crates_own_source_from_anywhere() {
    let run = Scratch::new(&INCREMENTAL, "own").run(&[]);
    run.assert_succeeded();
    assert_ended_at_zero(&run);

    let [Some(functions), None, asked, computed, Some(0), results]: Row = run.row("all facts")
    else {
        panic!("no facts: {}", run.out);
    };
    assert!(functions > 500);
    assert_eq!(computed, results);
    assert!(results > Some(functions), "there are pairs");
    assert!(asked > results, "facts are asked for by others");

    // All facts were asked for after each edit, few were computed, and each that was invalidated was computed
    // again.
    let results = results.unwrap_or(0);
    let [edits, asked, computed, invalidated] = edits(&run);
    assert_eq!(edits, 1_000);
    assert!(asked >= edits * results);
    assert_eq!(computed, invalidated);
    assert!(computed >= edits, "an edit costs something");
    assert!(computed < edits * results / 20, "{computed} is not little");
    let meanwhile: Row = run.row("concurrent edits");
    assert_eq!(meanwhile[..2], [Some(functions), Some(250)]);
    assert_eq!(meanwhile[3], meanwhile[4]);
    assert_eq!(meanwhile[5], Some(results));
}

#[test]
fn calls_are_followed_to_where_they_lead() {
    let scratch = Scratch::new(&INCREMENTAL, "figures");
    // From `a` three calls deep into the other file; two cycles, one of which calls on; two functions named
    // `new`, only one of which can be meant here; a call inside a macro.
    scratch.file(
        "a.rs",
        "fn a() { b(1) }
        fn b(x: u8) { S::new().c() }
        struct S;
        impl S {
            fn new() -> Self { S }
            fn c(&self) { elsewhere::d(); Vec::new(); }
        }
        fn even(n: u8) { odd(n - 1) }
        fn odd(n: u8) { if n > 0 { even(n - 1) } else { vec![e()]; } }
        fn again() { again() }",
    );
    scratch.file(
        "b.rs",
        "fn d() { None::<u8>.unwrap(); }
        struct T;
        impl T { fn new() -> Self { fn e() {} Self::more(); T } fn more() { assert!(true) } }
        fn e() {} // there are two
        fn left() { right() }
        fn right() { left(); self::e() }",
    );
    let run = run(&scratch, "0");
    run.assert_prints("\nfunctions       14\n");
    run.assert_prints("\nin cycles       4\n");
    // unwrap: d, c, b, a; assert: more, T::new.
    run.assert_prints("\nmay panic       6\n");
    run.assert_prints("\ndeepest chain   4\n");
    // a-b, b-new, b-c, c-d, even-odd, odd-even, again-again, new-more, left-right, right-left; not those of
    // Vec, Option, and e.
    run.assert_prints("\ncalls           10 resolved, 4 external or ambiguous\n");
    assert_eq!(edits(&run)[..2], [0, 0]);
}

#[test]
fn one_function_has_two_facts() {
    let scratch = Scratch::new(&INCREMENTAL, "one");
    scratch.file("a.rs", program::TWO_WAYS);
    let run = run(&scratch, "7");
    for (quarter, edits) in QUARTERS.into_iter().zip([1, 2, 2, 2]) {
        let [functions, edited, _, computed, invalidated, results]: Row = run.row(quarter);
        assert_eq!([functions, edited], [1, edits].map(Some));
        assert_eq!([computed, invalidated], [2 * edits; 2].map(Some));
        assert_eq!(results, Some(2));
    }
    run.assert_prints("\nan edit costs   2.0 of 2 facts (100.00 %), at most 2\n");
}

#[test]
fn the_result_does_not_depend_on_the_computing_thread() {
    let scratch = Scratch::new(&INCREMENTAL, "same");
    let mut text = String::new();
    for i in 0..200 {
        let (half, third) = (i / 2, i / 3);
        writeln!(text, "fn f{i}() {{ f{half}(); f{third}() }}").expect("room");
    }
    scratch.file("a.rs", &text);
    let [one, other] = [(), ()].map(|()| {
        let run = run(&scratch, "100");
        (edits(&run), QUARTERS.map(|quarter| run.row::<6>(quarter)))
    });
    assert_eq!(one, other);
    let [100, asked, computed, invalidated] = one.0 else {
        panic!("{one:?}");
    };
    assert_eq!(computed, invalidated);
    assert!(100 < computed && computed < asked / 2);
}

#[test]
fn a_long_chain() {
    const LENGTH: usize = 5_000;
    let scratch = Scratch::new(&INCREMENTAL, "chain");
    let mut text = format!("fn f{LENGTH}() {{ panic!() }}\n");
    for i in 0..LENGTH {
        writeln!(text, "fn f{i}() {{ f{}() }}", i + 1).expect("room");
    }
    scratch.file("a.rs", &text);
    let run = run(&scratch, "8");
    run.assert_prints("\nmay panic       5,001\n");
    run.assert_prints("\ndeepest chain   5,001\n");
    // Each edit invalidates all callers, up to the top.
    let [8, _, computed, invalidated] = edits(&run) else {
        panic!("{}", run.out);
    };
    assert_eq!(computed, invalidated);
    assert!(computed > LENGTH);
}

#[test]
fn a_large_cycle() {
    const LENGTH: usize = 500;
    let scratch = Scratch::new(&INCREMENTAL, "cycle");
    let mut text = String::new();
    for i in 0..LENGTH {
        writeln!(text, "fn f{i}() {{ f{}() }}", (i + 1) % LENGTH).expect("room");
    }
    scratch.file("a.rs", &text);
    // Enough to break the cycle, and to form others.
    let run = run(&scratch, "40");
    run.assert_prints("\nin cycles       500\n");
    run.assert_prints("\nmay panic       0\n");
    run.assert_prints("\ndeepest chain   1\n");
    let undone: Row = run.row("undo all edits");
    assert_eq!(undone[5], Some(2 * LENGTH));
}

#[test]
fn a_file_without_functions() {
    let scratch = Scratch::new(&INCREMENTAL, "none");
    scratch.file("a.rs", "struct S; trait T { fn without_body(); }");
    let run = run(&scratch, "10");
    run.assert_prints("\nfiles           1\nfunctions       0\n");
    assert_eq!(edits(&run), [0; 4]);
}

#[test]
fn an_invalid_number_of_edits() {
    let scratch = Scratch::new(&INCREMENTAL, "number");
    scratch.file("a.rs", program::TWO_WAYS);
    for wrong in ["", "many", "-1", "1e3"] {
        let mut command = scratch.command();
        let run = Run::of(command.arg("a.rs").env("INCREMENTAL_EDITS", wrong));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
        let message =
            format!("incremental: INCREMENTAL_EDITS: {wrong:?} is not a number of edits\n");
        assert_eq!(run.err, message);
    }
}

#[test]
fn files_that_do_not_parse() {
    let scratch = Scratch::new(&INCREMENTAL, "parse");
    let assert_error = |bad: &str, message: &str| {
        assert_error_and_the_rest_done(&INCREMENTAL, &scratch, bad, message);
    };
    scratch.file("syntax.rs", "#!/bin/sh\nfn a() {}\nfn 3() {}\n");
    assert_error("syntax.rs", "syntax.rs:3:4: expected identifier");
    scratch.file("end.rs", "fn a() {}\nfn b()");
    let message = "end.rs:2:7: unexpected end of input, expected curly braces";
    assert_error("end.rs", message);
}
