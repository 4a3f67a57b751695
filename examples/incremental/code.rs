//! What is analysed: functions, the names that they call each other by, and who has the name now.

use std::slice;

use weakly::Strong;

use crate::circles::Circles;
use crate::common::alive::{Alive, Counter};

/// The functions alive.
pub(crate) static FUNCTIONS: Counter = Counter::new();

/// A name, as the number of its function in the order of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) u32);

impl Name {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// # Panics
    /// If there are more than four thousand million functions.
    pub(crate) fn nth(index: usize) -> Self {
        Name(u32::try_from(index).expect("fewer functions"))
    }
}

/// What stands in a function, as far as anybody asks.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// In expressions.
    pub(crate) size: u32,
    /// Whether it may panic by itself.
    pub(crate) panics: bool,
    /// Whom it calls, each once, in order. By name: a caller keeps nobody alive, so that a function that
    /// is replaced dies, and with it what was known of it.
    pub(crate) calls: Box<[Name]>,
}

/// One version of a function: an edit makes another.
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

/// All functions as they are now: the only one who keeps them.
pub(crate) struct Code {
    functions: Vec<Strong<Function>>,
    circles: Circles,
    /// All names, callees first, as it was in the beginning.
    pub(crate) order: Box<[Name]>,
}

impl Code {
    pub(crate) fn new(bodies: impl Iterator<Item = Body>) -> Self {
        let functions: Vec<_> = bodies
            .enumerate()
            .map(|(index, body)| Function::new(Name::nth(index), body))
            .collect();
        let mut circles = Circles::new(functions.len());
        let names: Vec<_> = functions.iter().map(|function| function.name).collect();
        let order = circles.mend(&names, |name| &functions[name.index()].body.calls);
        Code {
            functions,
            circles,
            order: order.into(),
        }
    }

    pub(crate) fn functions(&self) -> &[Strong<Function>] {
        &self.functions
    }

    /// Who has the name now.
    pub(crate) fn function(&self, name: Name) -> &Strong<Function> {
        &self.functions[name.index()]
    }

    pub(crate) fn body(&self, name: Name) -> &Body {
        &self.function(name).body
    }

    /// Those who call each other in a circle with this one, in order; if there are none, itself.
    pub(crate) fn circle(&self, name: Name) -> &[Name] {
        let alone = slice::from_ref(&self.function(name).name);
        self.circles.of(name).unwrap_or(alone)
    }

    /// Gives the name to another function. The old one dies here, if nobody is just looking at it.
    pub(crate) fn replace(&mut self, name: Name, body: Body) {
        let same_calls = self.body(name).calls == body.calls;
        self.functions[name.index()] = Function::new(name, body);
        if !same_calls {
            let roots = self.circle(name).to_vec();
            let Code {
                functions, circles, ..
            } = self;
            circles.mend(&roots, |name| &functions[name.index()].body.calls);
        }
    }
}
