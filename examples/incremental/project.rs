//! The functions, the facts about them, and the edits.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::code::{Body, Code, FUNCTIONS, Name};
use crate::edit::{self, Random};
use crate::facts::Facts;
use crate::plain::Plain;
use crate::session::Stop;
use crate::workers::Workers;

/// How many facts one worker asks for at a time.
const PIECE: usize = 16;
/// How many pieces it asks for between two edits, if it makes them itself.
const BETWEEN: usize = 8;
/// The most pairs of functions that are asked about.
const PAIRS: usize = 1_000;

pub(crate) struct Project {
    /// A thread that asks keeps the read lock from the question to the answer, so that an answer is about one
    /// version of the code; a thread that edits keeps the write lock until the results of the dead are purged.
    code: RwLock<Code>,
    pub(crate) facts: Facts,
    /// Sorted.
    pub(crate) pairs: Vec<(Name, Name)>,
    originals: Vec<Body>,
    titles: Vec<String>,
    random: Mutex<Random>,
}

impl Project {
    pub(crate) fn new(originals: Vec<Body>, titles: Vec<String>) -> Self {
        let code = Code::new(originals.iter().cloned());
        let mut random = Random::new();
        Project {
            pairs: edit::pairs(&code, PAIRS, &mut random),
            code: RwLock::new(code),
            facts: Facts::new(),
            originals,
            titles,
            random: Mutex::new(random),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.originals.is_empty()
    }

    pub(crate) fn code(&self) -> RwLockReadGuard<'_, Code> {
        self.code.read().expect("no panic")
    }

    fn questions(&self) -> usize {
        self.originals.len() + self.pairs.len()
    }

    /// Asks one question.
    fn ask(&self, code: &Code, question: usize) {
        match question.checked_sub(self.originals.len()) {
            // Callees first: then most dependencies of a fact are present, and the recursion stays shallow.
            None => drop(self.facts.figures(code, code.order[question])),
            Some(pair) => {
                let (from, to) = self.pairs[pair];
                self.facts.reaches(code, from, to);
            }
        }
    }

    /// Asks for all facts, and audits the memos: there must be one result for each.
    pub(crate) fn ask_for_all(&self, workers: &Workers) -> Result<(), Stop> {
        workers.share(self.questions(), PIECE, |piece| {
            let code = self.code();
            piece.for_each(|question| self.ask(&code, question));
        })?;
        self.audit()?;
        let (all, pairs) = (self.originals.len(), self.pairs.len());
        self.facts.audit_len([all, pairs])?;
        Ok(())
    }

    /// Checks that only the current functions, and the results for them, are alive.
    fn audit(&self) -> Result<(), String> {
        let (all, alive) = (self.originals.len(), FUNCTIONS.get());
        if alive != all {
            return Err(format!("{alive} functions alive, but expected {all}"));
        }
        self.facts.audit()
    }

    /// Edits a random function; calls `look` with it before.
    fn edit(&self, look: impl FnOnce(&Code, Name)) {
        let mut code = self.code.write().expect("no panic");
        let random = &mut self.random.lock().expect("no panic");
        let name = Name::nth(random.below(self.originals.len()));
        look(&code, name);
        let body = edit::edited(&code, name, random);
        code.replace(name, body);
        self.purge(code);
    }

    /// Drops the results that depended on the dead, before the next question.
    fn purge(&self, _exclusive: RwLockWriteGuard<'_, Code>) {
        self.facts.purge();
    }

    /// Edits some function and asks for all facts again; returns how many were computed. These must be as many
    /// as were invalidated and, if `checked`, exactly those that depend on the function.
    pub(crate) fn edit_one(&self, workers: &Workers, checked: bool) -> Result<usize, Stop> {
        let (invalidated, computed) = (self.facts.invalidated(), self.facts.computed());
        let mut depend = None;
        let mut edited = Name(0);
        self.edit(|code, name| {
            depend = checked.then(|| self.dependents(code, name));
            edited = name;
        });
        self.audit()?;
        let invalidated = since(self.facts.invalidated(), invalidated);
        self.ask_for_all(workers)?;
        let computed = since(self.facts.computed(), computed);
        let expected = depend.unwrap_or(invalidated);
        if computed != invalidated || invalidated != expected {
            let title = &self.titles[edited.index()];
            return Err(Stop::Fault(format!(
                "{title} was edited: {invalidated:?} figures and pairs were invalidated, {computed:?} were computed, \
                 but {expected:?} depend on it"
            )));
        }
        Ok(computed.iter().sum())
    }

    /// How many figures, and answers about pairs, depend on a function.
    fn dependents(&self, code: &Code, name: Name) -> [usize; 2] {
        let depends = Plain::of(code).dependents(name);
        let figures = depends.iter().filter(|&&depends| depends).count();
        let answers = self
            .pairs
            .iter()
            .filter(|(from, to)| depends[from.index()] || *to == name)
            .count();
        [figures, answers]
    }

    /// All workers ask for all facts, repeatedly, and edit a function now and then, until no `edits` are left.
    pub(crate) fn ask_and_edit(
        &self,
        workers: &Workers,
        edits: usize,
        edited: impl Fn() + Sync,
    ) -> io::Result<()> {
        let left = AtomicUsize::new(edits);
        let next = AtomicUsize::new(0);
        workers.each(|| {
            while left
                .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                .is_ok()
            {
                for _ in 0..BETWEEN {
                    let first = next.fetch_add(PIECE, Relaxed);
                    let code = self.code();
                    for question in first..first + PIECE {
                        self.ask(&code, question % self.questions());
                    }
                }
                self.edit(|_, _| ());
                edited();
            }
        })
    }

    /// Undoes all edits; returns how many functions changed.
    pub(crate) fn undo(&self) -> usize {
        let mut code = self.code.write().expect("no panic");
        let mut undone = 0;
        for (index, original) in self.originals.iter().enumerate() {
            let name = Name::nth(index);
            if code.body(name) != original {
                code.replace(name, original.clone());
                undone += 1;
            }
        }
        self.purge(code);
        undone
    }

    /// How many more calls there are than at the start.
    pub(crate) fn more_calls(&self) -> isize {
        let calls = |body: &Body| body.calls.len() as isize;
        let before: isize = self.originals.iter().map(calls).sum();
        let code = self.code();
        let now: isize = code.functions().iter().map(|it| calls(&it.body)).sum();
        (now - before).max(0)
    }

    /// The code and the facts; the rest is dropped.
    pub(crate) fn into_parts(self) -> (RwLock<Code>, Facts) {
        (self.code, self.facts)
    }

    /// Compares all facts with a recomputation.
    pub(crate) fn compare(&self) -> Result<(), String> {
        let code = self.code();
        let title = |name: Name| self.titles[name.index()].clone();
        Plain::of(&code).check(&code, &self.facts, &self.pairs, title)
    }
}

fn since(now: [usize; 2], before: [usize; 2]) -> [usize; 2] {
    [now[0] - before[0], now[1] - before[1]]
}
