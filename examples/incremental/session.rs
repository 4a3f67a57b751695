//! The run: compute all facts, edit and ask again, and check the memos' accounts at each step.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::code::{FUNCTIONS, Name};
use crate::common::program::{Outcome, Output, report_error};
use crate::common::progress::Progress;
use crate::common::report::{bytes, number, table};
use crate::common::{memory, sources};
use crate::project::Project;
use crate::read::{self, Found};
use crate::report::{self, Counts, Row, Totals};
use crate::resolve::resolve;
use crate::syntax;
use crate::workers::Workers;

/// The variable with the number of edits, and the default.
const EDITS: &str = "INCREMENTAL_EDITS";
const DEFAULT: usize = 1_000;

const ROUNDS: [&str; 4] = ["edits 1/4", "edits 2/4", "edits 3/4", "edits 4/4"];

/// After this share of the edits all facts are compared with a recomputation.
const CHECKS: usize = 20;

/// How much memory may grow: by this fraction, by this many bytes besides (tables grow and shrink in steps), and
/// by this many for each added call: its name, and the watch of the caller's figures on the callee's.
const SLACK: isize = 16;
const LITTLE: isize = 16 << 10;
const PER_CALL: isize = 256;

/// Why a run ends early.
pub(crate) enum Stop {
    /// The system refuses a resource.
    Cannot(io::Error),
    /// A count or a fact is wrong.
    Fault(String),
}

impl From<io::Error> for Stop {
    fn from(why: io::Error) -> Self {
        Stop::Cannot(why)
    }
}

impl From<String> for Stop {
    fn from(fault: String) -> Self {
        Stop::Fault(fault)
    }
}

struct Session {
    workers: Workers,
    rows: Vec<Row>,
    totals: Totals,
    /// The bytes that were allocated at the start.
    base: usize,
}

/// Does all the work, and reports on standard output.
///
/// # Errors
/// If the number of edits is invalid, or no thread can be started.
pub(crate) fn run(files: &[PathBuf]) -> io::Result<Outcome> {
    let edits = edits()?;
    // The runtime allocates its output buffer once and for ever: have it do so before memory is counted.
    drop(io::stdout());
    let workers = Workers::new()?;
    let mut session = Session {
        rows: Vec::with_capacity(16),
        totals: Totals {
            threads: workers.threads,
            ..Totals::default()
        },
        workers,
        base: 0,
    };
    session.base = memory::allocated();
    let mut out = Output(Ok(()));
    let fault = match session.run(files, edits) {
        Ok(()) => None,
        Err(Stop::Fault(fault)) => Some(fault),
        Err(Stop::Cannot(why)) => return Err(why),
    };
    if fault.is_some() {
        table(&mut out, &session.rows);
    } else if session.totals.files == 0 {
        report_error("nothing to read");
    } else {
        table(&mut out, &session.rows);
        report::totals(&session.totals, &mut out);
        let end = "at the end: 0 functions, 0 results, 0 pending, 0 bytes (checked)";
        out.print(format_args!("\n{end}\n"));
    }
    Ok(Outcome {
        skipped: files.len() - session.totals.files,
        faults: fault.into_iter().collect(),
        written: out.0,
    })
}

fn edits() -> io::Result<usize> {
    let Some(value) = std::env::var_os(EDITS) else {
        return Ok(DEFAULT);
    };
    let number = value.to_str().and_then(|value| value.parse().ok());
    number.ok_or_else(|| {
        let why = format!("{EDITS}: {value:?} is not a number of edits");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

fn functions(file: &Path) -> Result<Vec<Found>, String> {
    let text = sources::read(file)?;
    syntax::parse(&sources::name_of(file), &text, read::functions)
}

impl Session {
    /// # Errors
    /// At the first wrong number.
    fn run(&mut self, files: &[PathBuf], edits: usize) -> Result<(), Stop> {
        let began = Instant::now();
        let Some(project) = self.read(files)? else {
            return Ok(());
        };
        self.row("read and parse", began, None, None);
        self.first(&project)?;
        let edits = if project.is_empty() { 0 } else { edits };
        let first = self.bytes();
        self.edit(&project, edits, first)?;
        self.edit_concurrently(&project, edits.div_ceil(4))?;
        self.undo(&project, first)?;
        self.end(project)
    }

    /// Finds the functions; `None` if no file can be read.
    fn read(&mut self, files: &[PathBuf]) -> Result<Option<Project>, Stop> {
        let progress = Mutex::new(Progress::new("reading and parsing", files.len()));
        let found: Vec<_> = files.iter().map(|_| OnceLock::new()).collect();
        self.workers.share(files.len(), 1, |piece| {
            for i in piece {
                let _ = found[i].set(functions(&files[i]));
                progress.lock().expect("no panic").advance(1);
            }
        })?;
        drop(progress);
        let mut all = Vec::new();
        for (file, found) in files.iter().zip(found) {
            match found.into_inner().expect("each file's") {
                Ok(found) => all.push((sources::name_of(file), found)),
                Err(why) => report_error(&why),
            }
        }
        self.totals.files = all.len();
        if all.is_empty() {
            return Ok(None);
        }
        let titles = all
            .iter()
            .flat_map(|(file, found)| found.iter().map(move |found| found.title(file)))
            .collect();
        let found: Vec<_> = all.into_iter().map(|(_, found)| found).collect();
        let (bodies, calls) = resolve(&found);
        (self.totals.calls, self.totals.skipped) = (calls.resolved, calls.skipped);
        self.totals.functions = bodies.len();
        Ok(Some(Project::new(bodies, titles)))
    }

    /// Computes everything for the first time.
    fn first(&mut self, project: &Project) -> Result<(), Stop> {
        let began = Instant::now();
        project.ask_for_all(&self.workers)?;
        self.row("all facts", began, None, Some(Counts::of(&project.facts)));
        self.compare(project)?;
        let totals = &mut self.totals;
        let code = &project.code();
        totals.pairs = project.pairs.len();
        for function in code.functions() {
            let figures = project.facts.figures(code, function.name);
            totals.in_cycles += usize::from(code.cycle(function.name).len() > 1);
            totals.may_panic += usize::from(figures.panics);
            totals.deepest = totals.deepest.max(figures.chain);
        }
        let reaching = |&&(from, to): &&(Name, Name)| project.facts.reaches(code, from, to);
        totals.reaching = project.pairs.iter().filter(reaching).count();
        Ok(())
    }

    /// Edits one function after another, and asks for all facts after each.
    fn edit(&mut self, project: &Project, edits: usize, first: isize) -> Result<(), Stop> {
        let mut progress = Progress::new("editing", edits);
        let every = edits.div_ceil(CHECKS).max(1);
        let mut done = 0;
        for (round, phase) in ROUNDS.into_iter().enumerate() {
            let until = (round + 1) * edits / ROUNDS.len();
            let before = Counts::of(&project.facts);
            let mut took = Duration::ZERO;
            let edited_before = done;
            while done < until {
                done += 1;
                let checked = done % every == 0;
                let began = Instant::now();
                let cost = project.edit_one(&self.workers, checked)?;
                let spent = began.elapsed();
                if checked {
                    self.totals.checking += spent;
                    self.compare(project)?;
                    self.check_flat(project, first)?;
                } else {
                    took += spent;
                }
                let totals = &mut self.totals;
                totals.edits += 1;
                totals.computed += cost;
                totals.most = totals.most.max(cost);
                let bytes = memory::allocated().wrapping_sub(self.base) as isize;
                totals.peak = totals.peak.max(bytes);
                progress.advance_with(1, || format!("{} facts computed", number(cost)));
            }
            let counts = Counts::of(&project.facts).since(before);
            let began = Instant::now() - took;
            self.row(phase, began, Some(done - edited_before), Some(counts));
        }
        Ok(())
    }

    /// Edits while other threads ask.
    fn edit_concurrently(&mut self, project: &Project, edits: usize) -> Result<(), Stop> {
        let began = Instant::now();
        let before = Counts::of(&project.facts);
        let progress = Mutex::new(Progress::new("editing concurrently", edits));
        project.ask_and_edit(&self.workers, edits, || {
            progress.lock().expect("no panic").advance(1);
        })?;
        drop(progress);
        project.ask_for_all(&self.workers)?;
        let counts = Counts::of(&project.facts).since(before);
        self.row("concurrent edits", began, Some(edits), Some(counts));
        self.compare(project)
    }

    /// Undoes all edits: then everything is as before, and so is memory.
    fn undo(&mut self, project: &Project, first: isize) -> Result<(), Stop> {
        let began = Instant::now();
        let before = Counts::of(&project.facts);
        let edits = project.undo();
        project.ask_for_all(&self.workers)?;
        let counts = Counts::of(&project.facts).since(before);
        self.row("undo all edits", began, Some(edits), Some(counts));
        self.compare(project)?;
        self.check_flat(project, first)
    }

    /// Drops all functions, and then the memos.
    fn end(&mut self, project: Project) -> Result<(), Stop> {
        let began = Instant::now();
        let (code, facts) = project.into_parts();
        let before = Counts::of(&facts);
        drop(code);
        facts.purge();
        let counts = Counts::of(&facts).since(before);
        facts.audit()?;
        facts.audit_len([0, 0])?;
        self.row("drop the functions", began, None, Some(counts));
        let began = Instant::now();
        drop(facts);
        self.row("drop the memos", began, None, None);
        match self.bytes() {
            0 => Ok(()),
            more => Err(Stop::Fault(format!("{more} bytes at the end"))),
        }
    }

    /// Compares all facts with a recomputation.
    fn compare(&mut self, project: &Project) -> Result<(), Stop> {
        let began = Instant::now();
        project.compare()?;
        self.totals.compared += 1;
        self.totals.checking += began.elapsed();
        Ok(())
    }

    /// Edits leave nothing behind: memory is not larger than at `first`, except for the calls that were added.
    fn check_flat(&self, project: &Project, first: isize) -> Result<(), Stop> {
        let now = self.bytes();
        let most = first + first / SLACK + LITTLE + project.more_calls() * PER_CALL;
        if now <= most {
            return Ok(());
        }
        let (now, first, most) = (bytes(now), bytes(first), bytes(most));
        let fault = format!("memory grew from {first} to {now}, at most {most} is allowed");
        Err(Stop::Fault(fault))
    }

    fn bytes(&self) -> isize {
        memory::allocated().wrapping_sub(self.base) as isize
    }

    /// Records the state after a phase.
    fn row(
        &mut self,
        phase: &'static str,
        began: Instant,
        edits: Option<usize>,
        counts: Option<Counts>,
    ) {
        let took = began.elapsed();
        self.rows.push(Row {
            phase,
            took,
            functions: FUNCTIONS.get(),
            edits,
            counts,
            bytes: self.bytes(),
        });
    }
}
