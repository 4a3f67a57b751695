//! How many paths lead through a function: McCabe's cyclomatic complexity, branches plus one.
//!
//! Branches are `if`, `while`, `for`, `let else`, `?`, `&&`, `||`, guards, and each arm of a `match` after the
//! first. A closure's branches count for the enclosing function; a nested function counts for itself. Branches
//! inside a macro invocation are not counted.

use weakly::Strong;

use super::{Attribute, Pass};
use crate::common::alive::Counter;
use crate::tree::{Kind, Node, Tree};

/// The live memoised counts.
pub(crate) static ALIVE: Counter = Counter::new();

/// Every node gets the number of branches in its subtree. It is computed once, and dies with the node: a memo
/// that keeps nothing alive.
pub(crate) struct Complexity {
    branches: Attribute<u32>,
    /// How often the memo had the count.
    pub(crate) hits: usize,
    /// How often the count was computed.
    pub(crate) computed: usize,
}

impl Complexity {
    pub(crate) fn new() -> Self {
        Complexity {
            branches: Attribute::new(&ALIVE),
            hits: 0,
            computed: 0,
        }
    }

    /// The complexity of a function that has a body; `None` for anything else.
    pub(crate) fn of(&mut self, node: &Strong<Node>) -> Option<u32> {
        let is_function = node.kind == Kind::Fn && node.has(Kind::Block);
        is_function.then(|| self.branches(node) + 1)
    }

    fn branches(&mut self, node: &Strong<Node>) -> u32 {
        if let Some(&known) = self.branches.get(node) {
            self.hits += 1;
            return known;
        }
        let mut branches = own_branches(node);
        for child in &node.children {
            let inside = self.branches(child);
            if child.kind != Kind::Fn {
                branches += inside;
            }
        }
        self.computed += 1;
        self.branches.set(node, branches);
        branches
    }
}

fn own_branches(node: &Node) -> u32 {
    match node.kind {
        Kind::If | Kind::While | Kind::For | Kind::LetElse => 1,
        Kind::Try | Kind::Lazy | Kind::Guard => 1,
        Kind::Match => {
            let arms = node.children.iter().filter(|it| it.kind == Kind::Arm);
            (arms.count() as u32).saturating_sub(1)
        }
        _ => 0,
    }
}

impl Pass for Complexity {
    fn look_at(&mut self, tree: &Tree) {
        self.branches(&tree.root);
    }

    fn purge(&mut self) {
        self.branches.map.purge();
    }

    fn len(&self) -> usize {
        self.branches.map.len()
    }

    fn pending(&self) -> usize {
        self.branches.map.pending_dead()
    }
}
