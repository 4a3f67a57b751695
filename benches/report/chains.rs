//! Functions that are computed from each other, whose texts are edited: in this crate, and in salsa.

use salsa::Setter;
use weakly::{Memo, Strong};

/// A program: its functions, by their numbers.
pub(crate) trait Program {
    /// Functions that each call those with these numbers, which are lower.
    fn new(calls: Vec<Vec<usize>>) -> Self;
    /// Changes the text of a function.
    fn edit(&mut self, function: usize, text: u64);
    /// Computed from the function's text, and from the sizes of the functions that it calls.
    fn size(&self, function: usize) -> u64;
}

struct Function {
    text: u64,
    calls: Vec<usize>,
}

/// An edit replaces the object of the function.
pub(crate) struct Ours {
    functions: Vec<Strong<Function>>,
    sizes: Memo<Strong<Function>, u64>,
}

impl Program for Ours {
    fn new(calls: Vec<Vec<usize>>) -> Self {
        let function = |calls| Strong::new(Function { text: 1, calls });
        Ours {
            functions: calls.into_iter().map(function).collect(),
            sizes: Memo::new(),
        }
    }

    fn edit(&mut self, function: usize, text: u64) {
        let calls = self.functions[function].calls.clone();
        self.functions[function] = Strong::new(Function { text, calls });
    }

    fn size(&self, function: usize) -> u64 {
        let function = &self.functions[function];
        self.sizes.get_or_compute(function, |_| {
            let below = function.calls.iter().map(|callee| self.size(*callee));
            below.fold(function.text, u64::wrapping_add)
        })
    }
}

/// An edit sets a field of the function.
pub(crate) struct Salsa {
    database: salsa::DatabaseImpl,
    functions: Vec<OfSalsa>,
}

#[salsa::input]
struct OfSalsa {
    #[returns(copy)]
    text: u64,
    #[returns(ref)]
    calls: Vec<OfSalsa>,
}

#[salsa::tracked(returns(copy))]
fn size(database: &dyn salsa::Database, function: OfSalsa) -> u64 {
    let calls = function.calls(database).iter();
    let below = calls.map(|callee| size(database, *callee));
    below.fold(function.text(database), u64::wrapping_add)
}

impl Program for Salsa {
    fn new(calls: Vec<Vec<usize>>) -> Self {
        let database = salsa::DatabaseImpl::new();
        let mut functions = Vec::new();
        for calls in calls {
            let callees = calls.into_iter().map(|callee| functions[callee]).collect();
            functions.push(OfSalsa::new(&database, 1, callees));
        }
        Salsa {
            database,
            functions,
        }
    }

    fn edit(&mut self, function: usize, text: u64) {
        self.functions[function]
            .set_text(&mut self.database)
            .to(text);
    }

    fn size(&self, function: usize) -> u64 {
        size(&self.database, self.functions[function])
    }
}
