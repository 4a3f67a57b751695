//! Runs the example `intern_words` as its users do, and reads what it prints.

#![cfg(not(miri))] // it starts processes

mod program;

use program::{Program, Run, Scratch, shared_tests};

const INTERN_WORDS: Program = Program {
    name: "intern_words",
    files: "*.c, *.cpp, *.go, *.h, *.hpp, *.java, *.js, *.md, *.py, *.rs, *.toml, *.ts, *.txt",
    done: |files| format!("\nfiles           {files}\n"),
    long: 4000,
    assert_ended_at_zero,
};

shared_tests!(INTERN_WORDS);

/// The numbers of a row: files, words, entries of tables, pending and drained notices.
type Row = [Option<usize>; 5];

/// Checks that all was loaded at first, and that all counts were zero at the end.
#[track_caller]
fn assert_ended_at_zero(run: &Run) {
    let end = "at the end: 0 files, 0 words, 0 entries, 0 pending, 0 bytes (checked)";
    assert!(run.out.ends_with(&format!("\n{end}\n")), "{}", run.out);
    let zero = Some(0);
    assert_eq!(run.row("drop both"), [None, None, zero, zero, None]);
    let [.., last]: [Row; 4] = purges(run);
    assert_eq!(last[..4], [zero; 4]);
}

#[track_caller]
fn purges(run: &Run) -> [Row; 4] {
    run.rows("purge")
        .try_into()
        .expect("a purge for each quarter")
}

#[test]
fn the_crates_own_source_from_anywhere() {
    let run = Scratch::new(&INTERN_WORDS, "own").run(&[]);
    run.assert_succeeded();
    assert_ended_at_zero(&run);

    let loaded: Row = run.row("load 4/4");
    let [files, words, entries, Some(0), None] = loaded else {
        panic!("no load: {}", run.out);
    };
    assert!(files > Some(30) && words > Some(1_000) && entries > Some(5_000));

    // Each quarter drops some of everything, and each death is notified, and drained, once.
    let mut before = [files, words, entries];
    let mut all = 0;
    for (i, purge) in purges(&run).into_iter().enumerate() {
        let quarter: Row = run.row(&format!("drop {}/4", i + 1));
        assert!((0..3).all(|column| quarter[column] < before[column]));
        let died = |column: usize| Some(before[column]? - quarter[column]?);
        let notified = died(0).zip(died(1)).map(|(files, words)| files + words);
        assert_eq!(quarter[3..], [notified, None]);
        assert_eq!(
            purge[..3],
            quarter[..3],
            "a purge removes nothing that is alive"
        );
        assert_eq!(purge[3..], [Some(0), notified]);
        before = [quarter[0], quarter[1], quarter[2]];
        all += notified.unwrap_or(0);
    }
    assert_eq!(
        Some(all),
        files.zip(words).map(|(files, words)| files + words)
    );
}

#[test]
fn words_die_with_the_last_file_that_contains_them() {
    let scratch = Scratch::new(&INTERN_WORDS, "shared");
    // Numbers are not words; letters are those of all alphabets, and case matters.
    scratch.file(
        "a.txt",
        "one two; two\tthree_3 3three Ähre ähre\nx1 _ 0x1f 12",
    );
    scratch.file("b.txt", "two one");
    scratch.file("c.txt", "");
    scratch.file("d.txt", "\u{feff}four-two four's");
    let run = scratch.run(&["."]);
    run.assert_succeeded();
    assert_ended_at_zero(&run);

    let loaded = |files, words, entries| [Some(files), Some(words), Some(entries), Some(0), None];
    assert_eq!(run.row("load 1/4"), loaded(1, 7, 7));
    assert_eq!(run.row("load 2/4"), loaded(2, 7, 9));
    assert_eq!(run.row("load 3/4"), loaded(3, 7, 9));
    assert_eq!(run.row("load 4/4"), loaded(4, 9, 12));

    let left = [[3, 4, 5], [2, 3, 3], [1, 3, 3], [0, 0, 0]];
    let died = [1 + 5, 1 + 1, 1, 1 + 3]; // the file, and words
    let purges = purges(&run);
    for i in 0..4 {
        let [files, words, entries] = left[i].map(Some);
        let quarter = run.row(&format!("drop {}/4", i + 1));
        assert_eq!(quarter, [files, words, entries, Some(died[i]), None]);
        assert_eq!(purges[i], [files, words, entries, Some(0), Some(died[i])]);
    }

    run.assert_prints("the most used of 9 words\n             4  two (in 3 files)\n");
    run.assert_prints("\nwords read      14\n");
    run.assert_prints("\ndistinct words  9\n");
    run.assert_prints("\nhit rate        35.7 % ");
}

#[test]
fn a_quarter_may_be_empty() {
    let scratch = Scratch::new(&INTERN_WORDS, "few");
    scratch.file("a.md", "# One word, or more");
    let run = scratch.run(&["."]);
    run.assert_succeeded();
    assert_ended_at_zero(&run);
    assert_eq!(run.row::<2>("drop 3/4"), [Some(1), Some(4)]);
    assert_eq!(run.row::<2>("drop 4/4"), [Some(0), Some(0)]);
}
