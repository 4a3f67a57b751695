//! What is analysed: functions, the names by which they call each other, and the current function of each name.

use std::slice;

use weakly::Strong;

use crate::common::alive::{Alive, Counter};
use crate::cycles::Cycles;

/// The live functions.
pub(crate) static FUNCTIONS: Counter = Counter::new();

/// A name, as the number of its function in the order of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) u32);

impl Name {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// # Panics
    /// If there are more than 2^32 functions.
    pub(crate) fn nth(index: usize) -> Self {
        Name(u32::try_from(index).expect("fewer functions"))
    }
}

/// The facts about a function's body that the analysis needs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// In expressions.
    pub(crate) size: u32,
    /// Whether it may panic itself.
    pub(crate) panics: bool,
    /// The functions it calls, each once, sorted. By name: a caller does not keep its callees alive, so that a
    /// function that is replaced dies, and its results with it.
    pub(crate) calls: Box<[Name]>,
}

/// One version of a function: each edit makes another.
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) body: Body,
    /// For the count of live functions.
    _alive: Alive,
}

impl Function {
    fn new(name: Name, body: Body) -> Strong<Self> {
        let _alive = FUNCTIONS.guard();
        Strong::new(Function { name, body, _alive })
    }
}

/// All current functions, and their only owner.
pub(crate) struct Code {
    functions: Vec<Strong<Function>>,
    cycles: Cycles,
    /// All names, callees first, in the original order.
    pub(crate) order: Box<[Name]>,
}

impl Code {
    pub(crate) fn new(bodies: impl Iterator<Item = Body>) -> Self {
        let functions: Vec<_> = bodies
            .enumerate()
            .map(|(index, body)| Function::new(Name::nth(index), body))
            .collect();
        let mut cycles = Cycles::new(functions.len());
        let names: Vec<_> = functions.iter().map(|function| function.name).collect();
        let order = cycles.update(&names, |name| &functions[name.index()].body.calls);
        Code {
            functions,
            cycles,
            order: order.into(),
        }
    }

    pub(crate) fn functions(&self) -> &[Strong<Function>] {
        &self.functions
    }

    /// The current function of that name.
    pub(crate) fn function(&self, name: Name) -> &Strong<Function> {
        &self.functions[name.index()]
    }

    pub(crate) fn body(&self, name: Name) -> &Body {
        &self.function(name).body
    }

    /// The functions in one cycle with this one, sorted; the function alone if it is in none.
    pub(crate) fn cycle(&self, name: Name) -> &[Name] {
        let alone = slice::from_ref(&self.function(name).name);
        self.cycles.of(name).unwrap_or(alone)
    }

    /// Gives the name to another function. The old one dies here, unless another thread is just using it.
    pub(crate) fn replace(&mut self, name: Name, body: Body) {
        let same_calls = self.body(name).calls == body.calls;
        self.functions[name.index()] = Function::new(name, body);
        if !same_calls {
            let roots = self.cycle(name).to_vec();
            let Code {
                functions, cycles, ..
            } = self;
            cycles.update(&roots, |name| &functions[name.index()].body.calls);
        }
    }
}
