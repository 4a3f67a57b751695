//! Runs an example as its users do, with the tests that are the same for all examples that read files. A test
//! program includes this with `#[path]`, describes its example as a [`Program`], and calls [`shared_tests!`].

// Each test program uses a part of it.
#![allow(dead_code, unreachable_pub, unused_imports, unused_macros)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What the tests know about an example.
pub struct Program {
    pub name: &'static str,
    /// The files that it reads from a directory.
    pub files: &'static str,
    /// What it prints after reading that many copies of [`TWO_WAYS`].
    pub done: fn(usize) -> String,
    /// How many copies, in each of four files, keep it busy for longer than the bar's delay.
    pub long: usize,
    /// Asserts that all counts came to zero in the end.
    pub assert_ended_at_zero: fn(&Run),
}

/// A file that every example accepts.
pub const TWO_WAYS: &str = "pub fn two_ways(way: bool) -> u8 { if way { 1 } else { 2 } }\n";

/// `cargo test` builds the examples, next to the directory of the tests. (`cargo test --test` does not, and
/// would run an old one: run `cargo build --examples` first.)
pub fn example(name: &str) -> Command {
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop(); // the name
    path.pop(); // deps
    path.extend(["examples", name]);
    path.set_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "no {}: cargo build --examples",
        path.display()
    );
    Command::new(path)
}

/// A directory for one test, and the example that runs in it.
pub struct Scratch {
    program: &'static str,
    path: PathBuf,
}

impl Scratch {
    pub fn new(program: &Program, test: &str) -> Self {
        let program = program.name;
        let name = format!("{program}-{test}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a scratch directory");
        Scratch { program, path }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, content).expect("a file");
        path
    }

    /// Runs the example in this directory, so that it prints relative names.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command().args(arguments))
    }

    pub fn command(&self) -> Command {
        let mut command = example(self.program);
        command.current_dir(&self.path);
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The result of a run.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(command: &mut Command) -> Self {
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

    /// The numbers of the first row of this phase, without its time. `None` where there is no number.
    #[track_caller]
    pub fn row<const N: usize>(&self, phase: &str) -> [Option<usize>; N] {
        self.rows(phase)[0]
    }

    #[track_caller]
    pub fn rows<const N: usize>(&self, phase: &str) -> Vec<[Option<usize>; N]> {
        let rows = self.out.lines().filter_map(|line| line.strip_prefix(phase));
        let rows: Vec<_> = rows
            .map(|cells| {
                let mut cells = cells.split_whitespace().skip(2); // the time, and its unit
                [(); N].map(|()| cells.next()?.replace(',', "").parse().ok())
            })
            .collect();
        assert!(!rows.is_empty(), "no row {phase:?} in\n{}", self.out);
        rows
    }

    /// Asserts that it succeeded without any error message.
    #[track_caller]
    pub fn assert_succeeded(&self) {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
    }

    #[track_caller]
    pub fn assert_prints(&self, what: &str) {
        assert!(self.out.contains(what), "no {what:?} in\n{}", self.out);
    }
}

/// Runs on one bad input between two good ones.
#[track_caller]
pub fn assert_error_and_the_rest_done(
    program: &Program,
    scratch: &Scratch,
    bad: &str,
    message: &str,
) {
    scratch.file("a.rs", TWO_WAYS);
    scratch.file("z.rs", TWO_WAYS);
    let run = scratch.run(&["a.rs", bad, "z.rs"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert_eq!(run.err, format!("{}: {message}\n", program.name));
    run.assert_prints(&(program.done)(2));
    (program.assert_ended_at_zero)(&run);
}

/// Makes a `#[test]` of each of the shared tests below.
macro_rules! shared_tests {
    ($program:expr) => {
        shared_tests! {
            $program;
            a_path_that_does_not_exist
            a_directory_without_such_files
            a_file_that_is_not_utf8
            directories_are_searched_and_named_files_read_whatever_their_names
            nothing_to_read
            options
            no_bar_without_a_terminal
            a_closed_pipe
        }
        #[cfg(unix)]
        shared_tests! { $program; a_link_to_nowhere an_endless_device }
        #[cfg(target_os = "linux")] // elsewhere the file may take its size on disk, and there may be no such device
        shared_tests! { $program; a_huge_file a_full_disk }
    };
    ($program:expr; $($test:ident)*) => {$(
        #[test]
        fn $test() {
            $crate::program::$test(&$program);
        }
    )*};
}
pub(crate) use shared_tests;

pub fn a_path_that_does_not_exist(program: &Program) {
    let scratch = Scratch::new(program, "missing");
    let why = fs::metadata(scratch.path("none.rs")).expect_err("there is none");
    assert_error_and_the_rest_done(program, &scratch, "none.rs", &format!("none.rs: {why}"));
}

pub fn a_directory_without_such_files(program: &Program) {
    let scratch = Scratch::new(program, "empty");
    scratch.file("empty/sub/text.dat", "not Rust");
    let message = format!("empty: no file named {} in this directory", program.files);
    assert_error_and_the_rest_done(program, &scratch, "empty", &message);
}

pub fn a_file_that_is_not_utf8(program: &Program) {
    let scratch = Scratch::new(program, "utf8");
    scratch.file("bad.rs", b"fn a() {}\n// \xc3\xa4\xff\nfn b() {}\n");
    let message = "bad.rs:2:5: not UTF-8 (byte 0xff)";
    assert_error_and_the_rest_done(program, &scratch, "bad.rs", message);
}

pub fn a_huge_file(program: &Program) {
    let scratch = Scratch::new(program, "huge");
    let huge = fs::File::create(scratch.path("huge.rs")).expect("a file");
    huge.set_len(1 << 32).expect("a file with a hole");
    assert_error_and_the_rest_done(program, &scratch, "huge.rs", "huge.rs: more than 4 GiB");
}

#[cfg(unix)]
pub fn a_link_to_nowhere(program: &Program) {
    let scratch = Scratch::new(program, "nowhere");
    scratch.file("tree/a.rs", TWO_WAYS);
    std::os::unix::fs::symlink("none.rs", scratch.path("tree/link.rs")).expect("a link");
    let why = fs::metadata(scratch.path("tree/link.rs")).expect_err("it leads nowhere");
    let run = scratch.run(&["tree"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    let message = format!("{}: tree/link.rs: {why}\n", program.name);
    assert_eq!(run.err, message);
    run.assert_prints(&(program.done)(1));
    (program.assert_ended_at_zero)(&run);
}

#[cfg(unix)]
pub fn an_endless_device(program: &Program) {
    let scratch = Scratch::new(program, "device");
    let message = "/dev/zero: neither a file nor a directory";
    assert_error_and_the_rest_done(program, &scratch, "/dev/zero", message);
}

pub fn directories_are_searched_and_named_files_read_whatever_their_names(program: &Program) {
    let scratch = Scratch::new(program, "walk");
    scratch.file("tree/b/c.rs", TWO_WAYS);
    scratch.file("tree/a.rs", TWO_WAYS);
    scratch.file("tree/not.dat", "not Rust");
    scratch.file("named.dat", TWO_WAYS);
    scratch.file("-dash", TWO_WAYS);
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", scratch.path("tree/b/loop")).expect("a link");
    // The second mention of a file is not a second file.
    let run = scratch.run(&["tree", "named.dat", "tree/a.rs", "--", "-dash"]);
    run.assert_succeeded();
    run.assert_prints(&(program.done)(4));
    (program.assert_ended_at_zero)(&run);
}

pub fn nothing_to_read(program: &Program) {
    let scratch = Scratch::new(program, "nothing");
    fs::create_dir(scratch.path("empty")).expect("a directory");
    let run = scratch.run(&["empty"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    let Program { name, files, .. } = program;
    let message = format!(
        "{name}: empty: no file named {files} in this directory\n{name}: nothing to read\n"
    );
    assert_eq!(run.err, message);
}

pub fn options(program: &Program) {
    let name = program.name;
    let scratch = Scratch::new(program, "options");
    scratch.file("a.rs", TWO_WAYS);
    for unknown in ["--wat", "-v", "-"] {
        let run = scratch.run(&["a.rs", unknown]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
        let message = format!("{name}: unknown option {unknown}\nusage: ");
        assert!(run.err.starts_with(&message), "{}", run.err);
    }
    let run = scratch.run(&["--help"]);
    run.assert_succeeded();
    let usage = format!("usage: {name} ");
    assert!(run.out.starts_with(&usage), "{}", run.out);
    run.assert_prints(program.files);
}

pub fn no_bar_without_a_terminal(program: &Program) {
    // Long enough for a bar, if this were a terminal.
    let scratch = Scratch::new(program, "bar");
    let long = TWO_WAYS.repeat(program.long);
    for i in 0..4 {
        scratch.file(&format!("{i}.rs"), &long);
    }
    let run = scratch.run(&["."]);
    run.assert_succeeded();
    assert!(!run.out.contains('\r'));
}

pub fn a_closed_pipe(program: &Program) {
    let mut command = example(program.name);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the example runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

pub fn a_full_disk(program: &Program) {
    let scratch = Scratch::new(program, "full");
    scratch.file("a.rs", TWO_WAYS);
    let full = fs::File::options().write(true).open("/dev/full");
    let mut command = scratch.command();
    let command = command.arg("a.rs").stdout(full.expect("the full device"));
    let output = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example runs");
    let output = output.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(1));
    let message = format!("{}: cannot write the output: ", program.name);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.starts_with(&message), "{err}");
}
