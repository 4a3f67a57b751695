//! An arena with side tables. The nodes of an expression are in a plain `Vec`, and refer to each other by index. An
//! optimiser folds constants and compacts the arena, so that nodes die, and those that live get other indices. Two
//! passes keep data about nodes in tables of their own, keyed by the anchor of the node: nothing has to be renumbered,
//! and nothing of the dead remains. It checks itself: `cargo run --release --example arena`

use std::io::Write;
use std::process::ExitCode;

use weakly::{Anchor, AnchorRef, Attribute, WeakMap};

const TERMS: i64 = 10_000;

/// The line of the source that a node comes from: an attribute that belongs to the parser, say.
static LINE: Attribute<Anchor, u32> = Attribute::new();

#[derive(Clone, Copy)]
enum Operation {
    Constant(i64),
    Parameter,
    Add(usize, usize),
    Multiply(usize, usize),
}
use Operation::*;

struct Node {
    operation: Operation,
    /// The last field: what is dropped before it still has its attributes.
    anchor: Anchor,
}

/// Operands come before the nodes that use them; the last node is the result.
#[derive(Default)]
struct Expression {
    nodes: Vec<Node>,
}

impl Expression {
    fn push(&mut self, operation: Operation, line: u32) -> usize {
        let anchor = Anchor::new();
        LINE.insert(&anchor, line);
        self.nodes.push(Node { operation, anchor });
        self.nodes.len() - 1
    }

    /// The sum of `(n % 3) * 2 * x` for all terms.
    fn sum(terms: i64) -> Self {
        let mut this = Self::default();
        let x = this.push(Parameter, 0);
        let mut sum = this.push(Constant(0), 0);
        for n in 0..terms {
            let line = n as u32 + 1;
            let [factor, two] = [n % 3, 2].map(|value| this.push(Constant(value), line));
            let factor = this.push(Multiply(factor, two), line);
            let term = this.push(Multiply(factor, x), line);
            sum = this.push(Add(sum, term), line);
        }
        this
    }

    fn evaluate(&self, x: i64) -> i64 {
        let mut values: Vec<i64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match node.operation {
                Constant(value) => value,
                Parameter => x,
                Add(a, b) => values[a].wrapping_add(values[b]),
                Multiply(a, b) => values[a].wrapping_mul(values[b]),
            });
        }
        values[values.len() - 1]
    }

    /// Simplifies each node in its place, or finds another that stands for it. What is known of a node goes into the
    /// table.
    fn fold(&mut self, known: &mut WeakMap<Anchor, i64>) {
        let mut stands_for: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            let value = |at: usize| known.get(&self.nodes[at].anchor).copied();
            let sides = |a: usize, b: usize| (stands_for[a], stands_for[b]);
            let (operation, stand_in) = match node.operation {
                Add(a, b) => match sides(a, b) {
                    (a, b) if value(a) == Some(0) => (Add(a, b), b),
                    (a, b) if value(b) == Some(0) => (Add(a, b), a),
                    (a, b) => match (value(a), value(b)) {
                        (Some(a), Some(b)) => (Constant(a.wrapping_add(b)), at),
                        _ => (Add(a, b), at),
                    },
                },
                Multiply(a, b) => match sides(a, b) {
                    (a, b) if value(a) == Some(0) || value(b) == Some(0) => (Constant(0), at),
                    (a, b) => match (value(a), value(b)) {
                        (Some(a), Some(b)) => (Constant(a.wrapping_mul(b)), at),
                        _ => (Multiply(a, b), at),
                    },
                },
                leaf => (leaf, at),
            };
            if let Constant(value) = operation {
                known.insert(&node.anchor, value);
            }
            self.nodes[at].operation = operation;
            stands_for.push(stand_in);
        }
        // The result may be what stands for the last node.
        if let Some(&result) = stands_for.last() {
            self.nodes.truncate(result + 1);
        }
    }

    /// Drops the nodes that the result does not need. The others move.
    fn compact(&mut self) {
        let mut needed = vec![false; self.nodes.len()];
        needed[self.nodes.len() - 1] = true;
        for at in (0..self.nodes.len()).rev() {
            if let (true, Add(a, b) | Multiply(a, b)) = (needed[at], self.nodes[at].operation) {
                (needed[a], needed[b]) = (true, true);
            }
        }
        let mut indices = vec![0; self.nodes.len()];
        let mut kept = Vec::new();
        for (at, mut node) in self.nodes.drain(..).enumerate() {
            if needed[at] {
                node.operation = match node.operation {
                    Add(a, b) => Add(indices[a], indices[b]),
                    Multiply(a, b) => Multiply(indices[a], indices[b]),
                    leaf => leaf,
                };
                indices[at] = kept.len();
                kept.push(node);
            } // else its attributes go with it
        }
        self.nodes = kept;
    }
}

/// Returns the numbers of nodes before and after, if all is as it should be.
fn run() -> Option<(usize, usize)> {
    let mut expression = Expression::sum(TERMS);
    let mut known = WeakMap::new();
    let (before, value) = (expression.nodes.len(), expression.evaluate(7));
    // To check later: who had which line.
    let lines: Vec<(AnchorRef, Option<u32>)> = (expression.nodes.iter())
        .map(|node| (node.anchor.downgrade(), LINE.get(&node.anchor)))
        .collect();
    expression.fold(&mut known);
    expression.compact();

    let nodes = &expression.nodes;
    let constants = nodes
        .iter()
        .filter(|node| matches!(node.operation, Constant(_)));
    let same_value = expression.evaluate(7) == value;
    let exact = LINE.len() == nodes.len() && known.len() == constants.count();
    let kept_lines = lines.iter().all(|(node, line)| {
        let expected = if node.is_expired() { None } else { *line };
        LINE.get(node) == expected
    });
    let after = nodes.len();
    drop(expression);
    (same_value && exact && kept_lines && LINE.is_empty() && known.is_empty())
        .then_some((before, after))
}

fn main() -> ExitCode {
    let Some((before, after)) = run() else {
        eprintln!("a table does not agree with the arena");
        return ExitCode::FAILURE;
    };
    let text = format!(
        "{before} nodes, {after} after folding and compaction, each with its own attributes and no other (checked)\n"
    );
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
