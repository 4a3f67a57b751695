//! The run: load, forget, and check at each step that the library says what the recomputation does.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weakly::Strong;

use crate::common::program::{Outcome, Output, complain};
use crate::common::progress::Progress;
use crate::common::report::{bytes, number, table};
use crate::common::{memory, sources};
use crate::library::{Library, TABLES, Table};
use crate::plain::{Plain, same};
use crate::report::{self, Row, Totals};

const LOADS: [&str; 4] = ["load 1/4", "load 2/4", "load 3/4", "load 4/4"];
const FORGETS: [&str; 4] = ["forget 1/4", "forget 2/4", "forget 3/4", "forget 4/4"];

/// The library's only user, and those who look on.
struct Session<'f> {
    /// What keeps the tables.
    held: Vec<(&'f Path, Strong<Table>)>,
    plain: Plain,
    rows: Vec<Row>,
    totals: Totals,
    /// The bytes that were held before there was anything.
    base: usize,
}

/// Does it all, and tells standard output about it.
pub(crate) fn run(files: &[PathBuf]) -> io::Result<Outcome> {
    // What the runtime allocates once for ever is not ours to account for: let it.
    drop(io::stdout());
    let mut session = Session {
        held: Vec::new(),
        plain: Plain::default(),
        rows: Vec::with_capacity(16),
        totals: Totals::default(),
        base: 0,
    };
    session.base = memory::held();
    let mut out = Output(Ok(()));
    let outcome = session.run(files, &mut out);
    let left_out = files.len() - session.totals.files;
    if outcome.is_err() {
        table(&mut out, &session.rows);
    } else if session.totals.files == 0 {
        complain("nothing to look at");
    } else {
        table(&mut out, &session.rows);
        report::totals(&session.totals, &mut out);
        let end = "at the end: 0 files, 0 words, 0 entries, 0 pending, 0 bytes (checked)";
        out.say(format_args!("\n{end}\n"));
    }
    Ok(Outcome {
        left_out,
        faults: outcome.err().into_iter().collect(),
        written: out.0,
    })
}

/// Cuts so many into steps, some of which may be empty.
fn steps<const N: usize>(n: usize, names: [&'static str; N]) -> [(&'static str, usize); N] {
    let until = |i: usize| i * n / N;
    std::array::from_fn(|i| (names[i], until(i + 1) - until(i)))
}

/// The time that something takes is added here.
fn timed<R>(sum: &mut Duration, work: impl FnOnce() -> R) -> R {
    let began = Instant::now();
    let result = work();
    *sum += began.elapsed();
    result
}

impl<'f> Session<'f> {
    /// # Errors
    /// At the first number that is not what it should be.
    fn run(&mut self, files: &'f [PathBuf], out: &mut Output) -> Result<(), String> {
        let mut library = Library::default();
        self.load(&mut library, files)?;
        if self.totals.files > 0 {
            report::most_used(&library, out);
            self.forget(&mut library)?;
        }
        self.plain = Plain::default();
        let mut took = Duration::ZERO;
        timed(&mut took, || drop(library));
        self.totals.forgetting += took;
        self.row("drop both", took, None, None);
        self.check_end()
    }

    /// Makes a table for each file.
    fn load(&mut self, library: &mut Library, files: &'f [PathBuf]) -> Result<(), String> {
        let mut progress = Progress::new("reading and interning", files.len());
        let mut ahead = files.iter();
        for (phase, files) in steps(files.len(), LOADS) {
            let before = self.totals.reading + self.totals.interning;
            for file in ahead.by_ref().take(files) {
                match timed(&mut self.totals.reading, || sources::read(file)) {
                    Ok(text) => self.load_one(library, file, &text)?,
                    Err(why) => {
                        progress.suspend(|| complain(&why));
                    }
                }
                self.totals.peak = self.totals.peak.max(self.bytes());
                progress.advance(1);
            }
            let took = self.totals.reading + self.totals.interning - before;
            self.row(phase, took, Some(library), None);
            timed(&mut self.totals.checking, || self.plain.check_all(library))?;
        }
        let Totals {
            words_read,
            distinct,
            plain,
            ..
        } = &mut self.totals;
        (*words_read, *distinct) = (library.read, library.made);
        *plain = self.plain.table_bytes as isize;
        same(format_args!("words made"), *distinct, library.words.len())
    }

    fn load_one(
        &mut self,
        library: &mut Library,
        file: &'f Path,
        text: &str,
    ) -> Result<(), String> {
        let load = || library.load(file.to_path_buf(), text);
        let table = timed(&mut self.totals.interning, load);
        timed(&mut self.totals.checking, || {
            self.plain.load(file, text);
            self.plain.check_table(file, &table)?;
            self.plain.check_totals(library)
        })?;
        self.held.push((file, table));
        self.totals.files += 1;
        self.totals.bytes_read += text.len();
        Ok(())
    }

    /// Takes all files away again, one after the other.
    fn forget(&mut self, library: &mut Library) -> Result<(), String> {
        self.held.shrink_to_fit();
        let mut progress = Progress::new("forgetting", self.held.len());
        let mut ahead = mem::take(&mut self.held).into_iter();
        for (phase, files) in steps(ahead.len(), FORGETS) {
            let mut took = Duration::ZERO;
            for (file, table) in ahead.by_ref().take(files) {
                timed(&mut took, || drop(table));
                timed(&mut self.totals.checking, || {
                    self.plain.forget(file);
                    self.plain.check_totals(library)
                })?;
                progress.advance_with(1, || self.note(library));
            }
            self.totals.forgetting += took;
            self.row(phase, took, Some(library), None);
            timed(&mut self.totals.checking, || self.plain.check_dead(library))?;
            self.bury(library)?;
        }
        Ok(())
    }

    /// Works off the notices: those of the tables hand the names of their files back.
    fn bury(&mut self, library: &mut Library) -> Result<(), String> {
        let mut took = Duration::ZERO;
        let pending = library.pending();
        let mut names: Vec<PathBuf> = timed(&mut took, || {
            library.words.purge();
            library.tables.drain_dead().collect()
        });
        self.totals.forgetting += took;
        // They come in no order.
        names.sort_unstable();
        let mut expected: Vec<_> = self.plain.forgotten.iter().collect();
        expected.sort_unstable();
        if !names.iter().eq(expected) {
            return Err("the names that came back are not those of the forgotten files".into());
        }
        drop(names);
        let drained = pending - library.pending();
        timed(&mut self.totals.checking, || {
            let announced = self.plain.dead_words.len() + self.plain.forgotten.len();
            same(format_args!("notices drained"), drained, announced)?;
            self.plain.check_dead(library)?;
            self.plain.bury();
            self.plain.check_all(library)
        })?;
        self.row("purge", took, Some(library), Some(drained));
        Ok(())
    }

    /// The bytes that are there because of the library and of those who hold its tables.
    fn bytes(&self) -> isize {
        let all = memory::held().wrapping_sub(self.base);
        all.wrapping_sub(self.plain.bytes) as isize
    }

    /// For those who watch the bar.
    fn note(&self, library: &Library) -> String {
        format!(
            "{} words, {}",
            number(library.words.len()),
            bytes(self.bytes())
        )
    }

    /// Writes down how things stand after a phase.
    fn row(
        &mut self,
        phase: &'static str,
        took: Duration,
        library: Option<&Library>,
        drained: Option<usize>,
    ) {
        let bytes = self.bytes();
        self.rows.push(Row {
            phase,
            took,
            files: library.map(|library| library.tables.len()),
            words: library.map(|library| library.words.len()),
            entries: library.map_or(0, Library::entries),
            pending: library.map_or(0, Library::pending),
            drained,
            bytes,
        });
    }

    /// That nothing has stayed behind.
    fn check_end(&self) -> Result<(), String> {
        for row in &self.rows {
            if row.phase == "purge" {
                same(format_args!("pending after a purge"), row.pending, 0)?;
            }
        }
        same(format_args!("tables at the end"), TABLES.get(), 0)?;
        match self.bytes() {
            0 => Ok(()),
            more => Err(format!("{more} bytes at the end")),
        }
    }
}
