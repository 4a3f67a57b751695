//! The run: load, drop, and check at each step that the library agrees with the recomputation.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weakly::Strong;

use crate::common::program::{Outcome, Output, report_error};
use crate::common::progress::Progress;
use crate::common::report::{bytes, number, table};
use crate::common::{memory, sources};
use crate::library::{Library, TABLES, Table};
use crate::plain::{Plain, same};
use crate::report::{self, Row, Totals};

const LOADS: [&str; 4] = ["load 1/4", "load 2/4", "load 3/4", "load 4/4"];
const DROPS: [&str; 4] = ["drop 1/4", "drop 2/4", "drop 3/4", "drop 4/4"];

/// The owners of the library's tables, and the observers.
struct Session<'f> {
    /// The owners of the tables.
    tables: Vec<(&'f Path, Strong<Table>)>,
    plain: Plain,
    rows: Vec<Row>,
    totals: Totals,
    /// The bytes that were allocated at the start.
    base: usize,
}

/// Does all the work, and reports on standard output.
pub(crate) fn run(files: &[PathBuf]) -> io::Result<Outcome> {
    // The runtime allocates its output buffer once and for ever: have it do so before memory is counted.
    drop(io::stdout());
    let mut session = Session {
        tables: Vec::new(),
        plain: Plain::default(),
        rows: Vec::with_capacity(16),
        totals: Totals::default(),
        base: 0,
    };
    session.base = memory::allocated();
    let mut out = Output(Ok(()));
    let outcome = session.run(files, &mut out);
    let skipped = files.len() - session.totals.files;
    if outcome.is_err() {
        table(&mut out, &session.rows);
    } else if session.totals.files == 0 {
        report_error("nothing to read");
    } else {
        table(&mut out, &session.rows);
        report::totals(&session.totals, &mut out);
        let end = "at the end: 0 files, 0 words, 0 entries, 0 pending, 0 bytes (checked)";
        out.print(format_args!("\n{end}\n"));
    }
    Ok(Outcome {
        skipped,
        faults: outcome.err().into_iter().collect(),
        written: out.0,
    })
}

/// Divides a number into steps, some of which may be empty.
fn steps<const N: usize>(n: usize, names: [&'static str; N]) -> [(&'static str, usize); N] {
    let until = |i: usize| i * n / N;
    std::array::from_fn(|i| (names[i], until(i + 1) - until(i)))
}

/// Adds the time of some work.
fn timed<R>(sum: &mut Duration, work: impl FnOnce() -> R) -> R {
    let began = Instant::now();
    let result = work();
    *sum += began.elapsed();
    result
}

impl<'f> Session<'f> {
    /// # Errors
    /// At the first wrong number.
    fn run(&mut self, files: &'f [PathBuf], out: &mut Output) -> Result<(), String> {
        let mut library = Library::default();
        self.load(&mut library, files)?;
        if self.totals.files > 0 {
            report::most_used(&library, out);
            self.drop_files(&mut library)?;
        }
        self.plain = Plain::default();
        let mut took = Duration::ZERO;
        timed(&mut took, || drop(library));
        self.totals.dropping += took;
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
                        progress.suspend(|| report_error(&why));
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
        self.tables.push((file, table));
        self.totals.files += 1;
        self.totals.bytes_read += text.len();
        Ok(())
    }

    /// Drops all files, one by one.
    fn drop_files(&mut self, library: &mut Library) -> Result<(), String> {
        self.tables.shrink_to_fit();
        let mut progress = Progress::new("dropping", self.tables.len());
        let mut ahead = mem::take(&mut self.tables).into_iter();
        for (phase, files) in steps(ahead.len(), DROPS) {
            let mut took = Duration::ZERO;
            for (file, table) in ahead.by_ref().take(files) {
                timed(&mut took, || drop(table));
                timed(&mut self.totals.checking, || {
                    self.plain.drop_file(file);
                    self.plain.check_totals(library)
                })?;
                progress.advance_with(1, || self.note(library));
            }
            self.totals.dropping += took;
            self.row(phase, took, Some(library), None);
            timed(&mut self.totals.checking, || self.plain.check_dead(library))?;
            self.drain(library)?;
        }
        Ok(())
    }

    /// Drains the notices: those of the tables return the names of their files.
    fn drain(&mut self, library: &mut Library) -> Result<(), String> {
        let mut took = Duration::ZERO;
        let pending = library.pending();
        let mut names: Vec<PathBuf> = timed(&mut took, || {
            library.words.purge();
            library.tables.drain_dead().collect()
        });
        self.totals.dropping += took;
        // They come in no particular order.
        names.sort_unstable();
        let mut expected: Vec<_> = self.plain.dropped.iter().collect();
        expected.sort_unstable();
        if !names.iter().eq(expected) {
            return Err("the names that were returned are not those of the dropped files".into());
        }
        drop(names);
        let drained = pending - library.pending();
        timed(&mut self.totals.checking, || {
            let expected = self.plain.dead_words.len() + self.plain.dropped.len();
            same(format_args!("notices drained"), drained, expected)?;
            self.plain.check_dead(library)?;
            self.plain.clear_dead();
            self.plain.check_all(library)
        })?;
        self.row("purge", took, Some(library), Some(drained));
        Ok(())
    }

    /// The bytes of the library and of the owners of its tables.
    fn bytes(&self) -> isize {
        let all = memory::allocated().wrapping_sub(self.base);
        all.wrapping_sub(self.plain.bytes) as isize
    }

    /// The message beside the progress bar.
    fn note(&self, library: &Library) -> String {
        format!(
            "{} words, {}",
            number(library.words.len()),
            bytes(self.bytes())
        )
    }

    /// Records the state after a phase.
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

    /// Checks that nothing is left.
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
