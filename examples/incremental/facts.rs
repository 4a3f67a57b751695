//! Facts about functions, for as long as they are valid.
//!
//! What depends on what: a function's figures depend on its own body and on the figures of the functions it
//! calls, and so on down. Naming all functions below in [`depends_on`](weakly::memo::Computation::depends_on)
//! would be correct, but would cost, for each function, as much as all that it can reach. Instead each result is
//! itself an object, which only its memo keeps alive, and a computation depends on the results it has used. When
//! a function dies, its result goes, then the results that used it, and so on up: [`Facts::purge`] follows that
//! to the end. Until then a caller of a caller of the dead function would still find its result; so call `purge`
//! before the next question.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use weakly::Strong;
use weakly::memo::{Computation, Memo, MemoKey, Statistics};

use crate::code::{Code, Function, Name};
use crate::common::alive::{Alive, Counter};

/// The figures of one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Figures {
    /// The longest chain of calls; calls inside a cycle count once.
    pub(crate) chain: u32,
    /// Its size with all callees inlined, once for each caller; saturates.
    pub(crate) inlined: u64,
    /// Whether it, or a function that it calls, may panic.
    pub(crate) panics: bool,
}

/// A result. It keeps none of its inputs alive: these would then keep each other alive.
pub(crate) struct Fact<T> {
    pub(crate) value: T,
    /// For the count of live results.
    _alive: Alive,
}

/// A memo with its accounts.
pub(crate) struct Book<K: MemoKey, T> {
    memo: Memo<K, Strong<Fact<T>>>,
    /// The live results.
    alive: &'static Counter,
    /// How many questions it was asked.
    asked: AtomicUsize,
}

static FIGURES: Counter = Counter::new();
static REACHES: Counter = Counter::new();

pub(crate) struct Facts {
    pub(crate) figures: Book<Strong<Function>, Figures>,
    /// Whether the first calls the second, directly or not.
    pub(crate) reaches: Book<(Strong<Function>, Strong<Function>), bool>,
}

impl Facts {
    pub(crate) fn new() -> Self {
        Facts {
            figures: Book::new(&FIGURES),
            reaches: Book::new(&REACHES),
        }
    }

    pub(crate) fn figures(&self, code: &Code, name: Name) -> Figures {
        self.figures_of(code, name).value
    }

    fn figures_of(&self, code: &Code, name: Name) -> Strong<Fact<Figures>> {
        self.figures.ask(code.function(name), |cx| {
            let cycle = code.cycle(name);
            let use_of = |other: Name| {
                let used = self.figures_of(code, other);
                cx.depends_on(&used);
                used.value
            };
            if cycle[0] != name {
                return use_of(cycle[0]);
            }
            let mut all = Figures {
                chain: 0,
                inlined: 0,
                panics: false,
            };
            for &member in cycle {
                let member = code.function(member);
                cx.depends_on(member);
                all.inlined = all.inlined.saturating_add(u64::from(member.body.size));
                all.panics |= member.body.panics;
                for &callee in &member.body.calls {
                    if cycle.binary_search(&callee).is_err() {
                        let callee = use_of(callee);
                        all.chain = all.chain.max(callee.chain);
                        all.inlined = all.inlined.saturating_add(callee.inlined);
                        all.panics |= callee.panics;
                    }
                }
            }
            all.chain += 1;
            all
        })
    }

    pub(crate) fn reaches(&self, code: &Code, from: Name, to: Name) -> bool {
        let key = (code.function(from), code.function(to));
        let answer = self.reaches.ask(key, |cx| {
            // The figures die with any function that can be reached from there, and the search visits only
            // those: one dependency for the whole path.
            cx.depends_on(&self.figures_of(code, from));
            is_reached(code, from, to)
        });
        answer.value
    }

    /// After deaths, while no thread asks: drops all results that depended on the dead.
    pub(crate) fn purge(&self) {
        // In this order: answers depend on figures.
        self.figures.memo.purge();
        self.reaches.memo.purge();
    }

    /// How many figures and answers were dropped because an input had died.
    pub(crate) fn invalidated(&self) -> [usize; 2] {
        let (figures, reaches) = (self.figures.statistics(), self.reaches.statistics());
        [figures.invalidated, reaches.invalidated]
    }

    /// How many figures and answers were computed.
    pub(crate) fn computed(&self) -> [usize; 2] {
        let (figures, reaches) = (self.figures.statistics(), self.reaches.statistics());
        [figures.misses, reaches.misses]
    }

    /// Checks the memos' own accounts, after [`purge`](Self::purge), while no thread asks.
    pub(crate) fn audit(&self) -> Result<(), String> {
        self.figures.audit("figures")?;
        self.reaches.audit("pairs")
    }

    /// Checks the number of figures and answers.
    pub(crate) fn audit_len(&self, expected: [usize; 2]) -> Result<(), String> {
        let len = [self.figures.len(), self.reaches.len()];
        if len == expected {
            return Ok(());
        }
        Err(format!("{len:?} results, but expected {expected:?}"))
    }
}

fn is_reached(code: &Code, from: Name, to: Name) -> bool {
    let mut ahead = vec![from];
    let mut seen = HashSet::new();
    while let Some(name) = ahead.pop() {
        for &callee in &code.body(name).calls {
            if callee == to {
                return true;
            }
            if seen.insert(callee) {
                ahead.push(callee);
            }
        }
    }
    false
}

impl<K: MemoKey, T> Book<K, T> {
    fn new(alive: &'static Counter) -> Self {
        Book {
            memo: Memo::new(),
            alive,
            asked: AtomicUsize::new(0),
        }
    }

    fn ask(&self, key: K::Ref<'_>, compute: impl FnOnce(&Computation<'_>) -> T) -> Strong<Fact<T>> {
        self.asked.fetch_add(1, Relaxed);
        self.memo.get_or_compute(key, |cx| {
            let value = compute(cx);
            let _alive = self.alive.guard();
            Strong::new(Fact { value, _alive })
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.memo.len()
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Relaxed)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.memo.statistics()
    }

    /// Each question was a hit or a miss; each result is present or was invalidated; and as many results as are
    /// present are alive.
    fn audit(&self, what: &str) -> Result<(), String> {
        let statistics = self.statistics();
        let Statistics {
            hits,
            misses,
            invalidated,
            discarded,
        } = statistics;
        let (len, alive) = (self.len(), self.alive.get());
        let asked = self.asked();
        let pending = self.memo.pending_dead();
        let right = hits + misses == asked
            && misses == len + invalidated + discarded
            && (discarded, pending, alive) == (0, 0, len);
        if right {
            return Ok(());
        }
        Err(format!(
            "{what}: asked {asked} times, {len} results, {alive} alive, {pending} pending, but {statistics:?}"
        ))
    }
}
