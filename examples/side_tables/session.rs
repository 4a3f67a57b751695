//! The run: build, analyse, drop, and check that nothing is left.

use std::io;
use std::mem;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use weakly::Strong;

use crate::common::alive::Counter;
use crate::common::program::{Outcome, Output, report_error};
use crate::common::progress::Progress;
use crate::common::report::{self, number};
use crate::common::{memory, sources};
use crate::parse;
use crate::passes::Pass;
use crate::passes::complexity::{self, Complexity};
use crate::passes::documentation::{self, Documentation};
use crate::passes::spans::{self, Spans};
use crate::row::Row;
use crate::syntax;
use crate::tree::{NODES, Node, Source, Tree};

/// The live attribute values of all passes.
static VALUES: [&Counter; 3] = [&spans::ALIVE, &complexity::ALIVE, &documentation::ALIVE];

/// The trees, and the results of the passes while their maps exist.
#[derive(Default)]
struct Session {
    trees: Vec<Tree>,
    spans: Option<Spans>,
    complexity: Option<Complexity>,
    documentation: Option<Documentation>,
    rows: Vec<Row>,
    /// The bytes that were allocated at the start.
    base: usize,
}

/// Does all the work, and reports on standard output.
///
/// # Errors
/// If no thread can be started with a stack large enough for the parser.
pub(crate) fn run(files: &[PathBuf]) -> io::Result<Outcome> {
    // The runtime allocates its output buffer once and for ever: have it do so before memory is counted.
    drop(io::stdout());
    drop(thread::spawn(|| ()).join());
    let mut session = Session {
        rows: Vec::with_capacity(16),
        base: memory::allocated(),
        ..Session::default()
    };
    let mut out = Output(Ok(()));
    let work = || session.run(files, &mut out);
    let skipped = thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(syntax::STACK);
        let no_thread = |why| io::Error::other(format!("cannot start a thread: {why}"));
        let worker = worker.spawn_scoped(scope, work).map_err(no_thread)?;
        io::Result::Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    // The parser has tables for its thread; now they are gone too.
    session.row("end the thread", Instant::now(), None);
    let mut faults = Vec::new();
    if skipped < files.len() {
        faults = session.faults();
        session.summary(&faults, &mut out);
    }
    Ok(Outcome {
        skipped,
        faults,
        written: out.0,
    })
}

impl Session {
    fn run(&mut self, files: &[PathBuf], out: &mut Output) -> usize {
        let skipped = self.parse(files);
        if self.trees.is_empty() {
            report_error("nothing to read");
        } else {
            self.look();
            self.findings(out);
            self.drop_all();
        }
        skipped
    }

    /// Builds a tree for each file; returns how many could not be parsed.
    fn parse(&mut self, files: &[PathBuf]) -> usize {
        let began = Instant::now();
        let mut progress = Progress::new("reading and parsing", files.len());
        for file in files {
            match tree(file) {
                Ok(tree) => self.trees.push(tree),
                Err(why) => {
                    progress.suspend(|| report_error(&why));
                }
            }
            progress.advance(1);
        }
        drop(progress);
        self.row("read and parse", began, None);
        files.len() - self.trees.len()
    }

    /// Lets each pass attach its attributes.
    fn look(&mut self) {
        self.spans = Some(Spans::new());
        self.complexity = Some(Complexity::new());
        self.documentation = Some(Documentation::new());
        let phases = [
            "attach spans",
            "attach branch counts",
            "attach doc verdicts",
        ];
        for (i, phase) in phases.into_iter().enumerate() {
            let began = Instant::now();
            let mut progress = Progress::new(phase, self.trees.len());
            let trees = mem::take(&mut self.trees);
            for tree in &trees {
                if let Some(pass) = &mut self.passes()[i] {
                    pass.look_at(tree);
                }
                progress.advance(1);
            }
            self.trees = trees;
            self.row(phase, began, None);
        }
    }

    /// What the attributes are for: here the owner of all three maps looks them up together. The functions'
    /// figures come from the memo, which is asked a second time.
    fn findings(&mut self, out: &mut Output) {
        let (Some(spans), Some(complexity), Some(documentation)) =
            (&self.spans, &mut self.complexity, &self.documentation)
        else {
            return;
        };
        let began = Instant::now();
        let first_time = mem::take(&mut complexity.computed);
        complexity.hits = 0;
        let mut functions = 0;
        let mut worst: Vec<(u32, &Tree, &Strong<Node>)> = Vec::new();
        for tree in &self.trees {
            for node in tree.nodes() {
                let Some(figure) = complexity.of(node) else {
                    continue;
                };
                functions += 1;
                let rank = worst.partition_point(|&(other, ..)| other >= figure);
                if rank < 3 {
                    worst.insert(rank, (figure, tree, node));
                    worst.truncate(3);
                }
            }
        }
        let took = began.elapsed();

        out.print(format_args!(
            "most complex of {} functions\n",
            number(functions)
        ));
        for (figure, tree, node) in &worst {
            let path = tree.path_of(node);
            let place = spans.of(node).map(ToString::to_string);
            let place = place.unwrap_or_default();
            out.print(format_args!("  {figure:>4}  {path}\n        {place}\n"));
        }
        let (documented, public) = (documentation.documented(), documentation.len());
        let percent = documented as f64 * 100.0 / public.max(1) as f64;
        out.print(format_args!(
            "documented: {} of {} public items ({percent:.1} %)\n\
             memo: {} counts computed; asked again for each function: {} hits, {} computed, {took:.2?}\n\n",
            number(documented),
            number(public),
            number(first_time),
            number(complexity.hits),
            number(complexity.computed),
        ));
    }

    /// Drops everything, step by step.
    fn drop_all(&mut self) {
        let began = Instant::now();
        let mut progress = Progress::new("dropping half of the trees", self.trees.len());
        let mut keep = true;
        self.trees.retain(|_| {
            progress.advance(1);
            keep = !keep;
            keep
        });
        drop(progress);
        self.row("drop half of the trees", began, None);
        self.purge();

        let began = Instant::now();
        self.spans = None;
        self.row("drop the map of spans", began, None);

        let began = Instant::now();
        let trees = mem::take(&mut self.trees);
        let mut progress = Progress::new("dropping the other trees", trees.len());
        for tree in trees {
            drop(tree);
            progress.advance(1);
        }
        drop(progress);
        self.row("drop the other trees", began, None);
        self.purge();

        let began = Instant::now();
        self.complexity = None;
        self.documentation = None;
        self.row("drop the other maps", began, None);
    }

    fn purge(&mut self) {
        let began = Instant::now();
        let before = values();
        for pass in self.passes().into_iter().flatten() {
            pass.purge();
        }
        self.row("purge", began, Some(before - values()));
    }

    fn passes(&mut self) -> [Option<&mut dyn Pass>; 3] {
        fn seen_as_pass<P: Pass>(pass: &mut Option<P>) -> Option<&mut dyn Pass> {
            pass.as_mut().map(|pass| pass as &mut dyn Pass)
        }
        [
            seen_as_pass(&mut self.spans),
            seen_as_pass(&mut self.complexity),
            seen_as_pass(&mut self.documentation),
        ]
    }

    /// Records the state after a phase.
    fn row(&mut self, phase: &'static str, began: Instant, drained: Option<usize>) {
        let took = began.elapsed();
        let mut pending = 0;
        let entries = self.passes().map(|pass| {
            let pass = pass?;
            pending += pass.pending();
            Some(pass.len())
        });
        self.rows.push(Row {
            phase,
            took,
            nodes: NODES.get(),
            entries,
            values: values(),
            pending,
            drained,
            bytes: memory::allocated().wrapping_sub(self.base) as isize,
        });
    }

    /// Compares the maps' counts with those of constructors and destructors.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for row in &self.rows {
            let entries: usize = row.entries.iter().flatten().sum();
            if row.values != entries + row.pending {
                let Row {
                    phase,
                    values,
                    pending,
                    ..
                } = row;
                faults.push(format!(
                    "after \"{phase}\": {values} values for {entries} entries and {pending} pending"
                ));
            }
            let all = row.entries.iter().flatten().copied().max().unwrap_or(0);
            if all > row.nodes {
                let Row { phase, nodes, .. } = row;
                faults.push(format!(
                    "after \"{phase}\": {all} entries for {nodes} nodes"
                ));
            }
            if row.drained.is_some() && row.pending != 0 {
                faults.push(format!("purged, but {} pending", row.pending));
            }
        }
        if let Some(Row {
            nodes,
            values,
            pending,
            bytes,
            ..
        }) = self.rows.last()
        {
            if (*nodes, *values, *pending, *bytes) != (0, 0, 0, 0) {
                faults.push(format!(
                    "not zero at the end: {nodes} nodes, {values} values, {pending} pending, {bytes} bytes"
                ));
            }
        }
        faults
    }

    fn summary(&self, faults: &[String], out: &mut Output) {
        report::table(out, &self.rows);
        if faults.is_empty() {
            let end = "at the end: 0 nodes, 0 attributes, 0 pending, 0 bytes (checked)";
            out.print(format_args!("\n{end}\n"));
        }
    }
}

fn tree(file: &std::path::Path) -> Result<Tree, String> {
    let text = sources::read(file)?;
    let name = sources::name_of(file);
    parse::parse(Source::new(name, text))
}

fn values() -> usize {
    VALUES.iter().map(|counter| counter.get()).sum()
}
