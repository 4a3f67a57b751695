//! A small tracing compiler, and its cache. A function is ordinary Rust code over tensors. Traced once, with the shape and
//! the dtype of its argument and no values, it becomes a graph of steps; what depends on parameters alone is computed then,
//! and is a constant. So a graph is right for one function object, one shape and dtype, and the parameters that were read:
//! the key of a [`Memo`], and what the computation depends on. When an optimiser replaces a parameter, or a function dies,
//! graphs go, and what is asked for again is compiled again.
//!
//! Caches like this have leaked. Below `torch.compile`, the death of a parameter once made the guards of a graph fail for
//! ever, and the graph stayed, with all that it held, until a reset (pytorch #93728). JAX has had results that owned the
//! weak key they were kept for (jax #29803). Here, in 100,000 steps, each answer is compared with that of the function
//! itself, the counts with a formula, and the memory stays flat: `cargo run --release --example compile_cache`

#[path = "common/mod.rs"]
mod common;

use std::cell::RefCell;
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use common::{report::Report, same};
use weakly::{Memo, Strong, Weak, memo::Value};

/// What the values of a tensor are: `f32` without these bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Dtype {
    Bf16 = 0xffff,
    F32 = 0,
}
use Dtype::*;

/// What is known of a tensor without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    shape: [usize; 2],
    dtype: Dtype,
}

#[derive(Debug, PartialEq)]
struct Tensor {
    kind: Kind,
    values: Vec<f32>,
}

impl Tensor {
    fn new(kind: Kind, value: impl Fn(usize, usize) -> f32) -> Strong<Self> {
        let [rows, columns] = kind.shape;
        let value = |at| value(at / columns, at % columns);
        let round = |value: f32| f32::from_bits(value.to_bits() & !(kind.dtype as u32));
        let values = (0..rows * columns).map(value).map(round).collect();
        Strong::new(Tensor { kind, values })
    }

    /// Stands for random values.
    fn random(seed: usize, shape: [usize; 2], dtype: Dtype) -> Strong<Self> {
        let value = |row, column| (seed * 71 + row * 31 + column) as f32 % 2.3 - 1.1;
        Self::new(Kind { shape, dtype }, value)
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.values[row * self.kind.shape[1] + column]
    }
}

/// Of two tensors. The maximum takes a single row for each row.
#[derive(Clone, Copy)]
enum Operation {
    Times,
    Max,
}

impl Operation {
    fn run(self, kind: Kind, a: &Tensor, b: &Tensor) -> Strong<Tensor> {
        let [rows, inner] = [b.kind.shape[0], a.kind.shape[1]];
        Tensor::new(kind, |row, column| match self {
            Self::Times => (0..inner).map(|at| a.at(row, at) * b.at(at, column)).sum(),
            Self::Max => a.at(row, column).max(b.at(row % rows, column)),
        })
    }
}

#[derive(Clone)]
enum Operand {
    /// The argument, and then the result of each step.
    Result(usize),
    /// Computed when the function was traced.
    Constant(Strong<Tensor>),
    /// A strong handle would keep the parameter alive, and so the graph, for ever.
    Parameter(Weak<Tensor>),
}

impl Operand {
    fn tensor(&self, results: &[Strong<Tensor>]) -> Option<Strong<Tensor>> {
        match self {
            Operand::Result(at) => results.get(*at).cloned(),
            Operand::Constant(tensor) => Some(tensor.clone()),
            Operand::Parameter(tensor) => Some(tensor.expect("a graph goes with its parameters")),
        }
    }
}

/// What is done, what kind of tensor results, and from which operands.
type Step = (Operation, Kind, [Operand; 2]);

/// What a function becomes: some steps, and its result.
struct Graph(Vec<Step>, Operand);

impl Graph {
    fn run(&self, argument: &Strong<Tensor>) -> Strong<Tensor> {
        let mut results = vec![argument.clone()];
        let tensor = |it: &Operand, results: &[_]| it.tensor(results).expect("an earlier step");
        for (operation, kind, [a, b]) in &self.0 {
            results.push(operation.run(*kind, &tensor(a, &results), &tensor(b, &results)));
        }
        tensor(&self.1, &results)
    }
}

/// Records what the code of a function does.
struct Tracer<'t> {
    parameters: &'t [Strong<Tensor>],
    /// Called for each parameter that is read.
    guard: &'t dyn Fn(&Strong<Tensor>),
    steps: RefCell<Vec<Step>>,
}

/// What the code has in place of a tensor.
struct Traced<'t>(&'t Tracer<'t>, Operand, Kind);

impl Traced<'_> {
    /// A parameter of the same function.
    fn parameter(&self, at: usize) -> Self {
        let Traced(tracer, ..) = self;
        let parameter = &tracer.parameters[at];
        (tracer.guard)(parameter);
        let operand = Operand::Parameter(Strong::downgrade(parameter));
        Traced(tracer, operand, parameter.kind)
    }

    /// Computes what can be computed now, and records the rest.
    fn apply(&self, operation: Operation, other: &Self) -> Self {
        let (Traced(tracer, a, left), Traced(_, b, right)) = (self, other);
        let shape = [left.shape[0], right.shape[1]];
        let kind = Kind { shape, ..*left };
        let operand = if let (Some(a), Some(b)) = (a.tensor(&[]), b.tensor(&[])) {
            Operand::Constant(operation.run(kind, &a, &b))
        } else {
            let mut steps = tracer.steps.borrow_mut();
            steps.push((operation, kind, [a.clone(), b.clone()]));
            Operand::Result(steps.len())
        };
        Traced(tracer, operand, kind)
    }

    fn times(&self, other: &Self) -> Self {
        self.apply(Operation::Times, other)
    }

    fn max(&self, other: &Self) -> Self {
        self.apply(Operation::Max, other)
    }
}

/// What is compiled: some code, with parameters that an optimiser replaces.
struct Function {
    code: for<'t> fn(&Traced<'t>) -> Traced<'t>,
    parameters: Mutex<Vec<Strong<Tensor>>>,
    /// For which arguments it ever was.
    compiled: Mutex<HashSet<Kind>>,
}

impl Function {
    fn trace(&self, argument: Operand, kind: Kind, guard: &dyn Fn(&Strong<Tensor>)) -> Graph {
        let tracer = Tracer {
            parameters: &self.parameters.lock().expect("no panic"),
            guard,
            steps: RefCell::default(),
        };
        let Traced(_, result, _) = (self.code)(&Traced(&tracer, argument, kind));
        Graph(tracer.steps.take(), result)
    }

    /// The answer without a cache: where the argument is known, all is computed at once.
    fn run(&self, argument: &Strong<Tensor>) -> Strong<Tensor> {
        let known = Operand::Constant(argument.clone());
        self.trace(known, argument.kind, &|_| ()).run(argument)
    }
}

/// Runs functions by their graphs.
#[derive(Default)]
struct Compiler {
    graphs: Memo<(Strong<Function>, Value<Kind>), Arc<Graph>>,
    recompilations: usize,
}

impl Compiler {
    fn run(&mut self, function: &Strong<Function>, argument: &Strong<Tensor>) -> Strong<Tensor> {
        let kind = argument.kind;
        let graph = self.graphs.get_or_compute((function, &kind), |cx| {
            let is_new = function.compiled.lock().expect("no panic").insert(kind);
            self.recompilations += usize::from(!is_new);
            let graph = function.trace(Operand::Result(0), kind, &|it| cx.depends_on(it));
            Arc::new(graph)
        });
        graph.run(argument)
    }

    fn counts(&self) -> [usize; 4] {
        let (graphs, counts) = (self.graphs.len(), self.graphs.statistics());
        let (hits, misses) = (counts.hits as usize, counts.misses as usize);
        [graphs, hits, misses, self.recompilations]
    }
}

fn perceptron<'t>(x: &Traced<'t>) -> Traced<'t> {
    let mut x = x.times(&x.parameter(1).times(&x.parameter(2)));
    // Shapes are known, so ordinary code decides. For a single row this parameter is not read.
    if x.2.shape[0] > 1 {
        x = x.max(&x.parameter(0));
    }
    x.times(&x.parameter(3))
}

fn maxout<'t>(x: &Traced<'t>) -> Traced<'t> {
    perceptron(x).max(x)
}

fn parameter(at: usize, seed: usize) -> Strong<Tensor> {
    Tensor::random(seed, [if at == 0 { 1 } else { WIDTH }, WIDTH], F32)
}

fn function(at: usize, seed: usize) -> Strong<Function> {
    Strong::new(Function {
        code: [perceptron, maxout][at % 2],
        parameters: Mutex::new((0..4).map(|at| parameter(at, seed + at)).collect()),
        compiled: Mutex::default(),
    })
}

const STEPS: usize = [100_000, 2_000][cfg!(debug_assertions) as usize];
const FUNCTIONS: usize = 4;
const WIDTH: usize = 16;
const ROWS: [usize; 5] = [1, 2, 3, 5, 8];
const KINDS: usize = 2 * ROWS.len();
/// A round calls each function five times with each kind of argument.
const ROUND: usize = 5 * KINDS * FUNCTIONS;

/// Begins a round. Of five, one replaces a function, and four a parameter each.
fn change(functions: &mut [Strong<Function>], round: usize) {
    let at = round % FUNCTIONS;
    if let Some(which) = (round % 5).checked_sub(1) {
        functions[at].parameters.lock().expect("no panic")[which] = parameter(which, round);
    } else {
        functions[at] = function(at, round);
    }
}

/// The counts after some rounds. (What the first one replaces has not been compiled.)
fn formula(rounds: usize) -> [usize; 4] {
    let changes = rounds - 1;
    let (functions, first) = (changes / 5, changes.div_ceil(5));
    let recompilations = first * (KINDS - 2) + (changes - functions - first) * KINDS;
    let misses = (FUNCTIONS + functions) * KINDS + recompilations;
    let (graphs, hits) = (FUNCTIONS * KINDS, rounds * ROUND - misses);
    [graphs, hits, misses, recompilations]
}

fn run(report: &mut Report) -> Result<(), String> {
    let mut compiler = Compiler::default();
    let mut functions: Vec<_> = (0..FUNCTIONS).map(|at| function(at, at)).collect();
    let mut level = 0;
    for round in 0..STEPS / ROUND {
        change(&mut functions, round);
        for call in 0..ROUND / FUNCTIONS {
            let (rows, dtype) = (ROWS[call / 2 % ROWS.len()], [Bf16, F32][call % 2]);
            let argument = Tensor::random(round + call, [rows, WIDTH], dtype);
            for function in &functions {
                let answer = compiler.run(function, &argument);
                same("an answer", answer, function.run(&argument))?;
            }
        }
        compiler.graphs.purge();
        same("counts", compiler.counts(), formula(round + 1))?;
        let (steps, bytes) = ((round + 1) * ROUND, report.bytes());
        level = if steps <= 1_000 { bytes } else { level };
        // Not exact: buckets that collisions have made longer stay so. Two graphs would be more.
        same("memory is flat", bytes < level + level / 50, true)?;
        if [1_000, 10_000, STEPS].contains(&steps) {
            report.row(&format!("{steps} steps"), || compiler.counts());
        }
    }
    functions.clear();
    compiler.graphs.purge();
    report.row("drop the functions", || compiler.counts());
    same("graphs of the dead", compiler.counts()[0], 0)
}

fn main() -> ExitCode {
    common::checked(&["graphs", "hits", "misses", "recompiled"], run)
}
