//! Where each node is, as line and column.

use std::fmt;
use std::sync::Arc;

use weakly::Strong;

use super::{Attribute, Pass};
use crate::common::alive::Counter;
use crate::tree::{Node, Source, Tree};

/// The live spans.
pub(crate) static ALIVE: Counter = Counter::new();

/// A place in a file: from here to there, exclusive.
pub(crate) struct Place {
    file: Arc<str>,
    from: Position,
    to: Position,
}

/// Line and column, from one; columns count characters.
struct Position {
    line: u32,
    column: u32,
}

/// Every node gets its place.
pub(crate) struct Spans {
    places: Attribute<Place>,
}

impl Spans {
    pub(crate) fn new() -> Self {
        let places = Attribute::new(&ALIVE);
        Spans { places }
    }

    pub(crate) fn of(&self, node: &Strong<Node>) -> Option<&Place> {
        self.places.get(node)
    }
}

impl Pass for Spans {
    fn look_at(&mut self, tree: &Tree) {
        let file: Arc<str> = tree.source.name.as_str().into();
        for node in tree.nodes() {
            let place = Place {
                file: Arc::clone(&file),
                from: position(&tree.source, node.range.start),
                to: position(&tree.source, node.range.end),
            };
            self.places.set(node, place);
        }
    }

    fn purge(&mut self) {
        self.places.map.purge();
    }

    fn len(&self) -> usize {
        self.places.map.len()
    }

    fn pending(&self) -> usize {
        self.places.map.pending_dead()
    }
}

fn position(source: &Source, offset: u32) -> Position {
    let line = source.lines.partition_point(|&start| start <= offset);
    let start = source.lines[line - 1];
    let before = &source.text[start as usize..offset as usize];
    Position {
        line: line as u32,
        column: before.chars().count() as u32 + 1,
    }
}

impl fmt::Display for Place {
    /// The format of editors, with the end behind it: `src/lib.rs:12:5 (to 40:6)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, from, to } = self;
        let Position { line, column } = from;
        write!(f, "{file}:{line}:{column} (to {}:{})", to.line, to.column)
    }
}
